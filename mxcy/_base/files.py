"""Atomic file replacement and other file helpers: readers see the old content or the new."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import IO

from mxcy._base.errors import MXNetError

__all__ = ["local_path", "replacing", "text_lines", "unpack_zip"]


def local_path(name: str | os.PathLike[str]) -> str:
    """The path of a local file from a path or a ``file://`` address.

    Raises
    ------
    TypeError
        When `name` is neither a str nor path-like.
    MXNetError
        When `name` is a remote address, such as ``s3://``, or contains a null byte.
    """
    path = os.fspath(name)
    if not isinstance(path, str):
        raise TypeError(f"a file name must be a str or path-like, not {type(name).__name__}")
    if "\0" in path:
        raise MXNetError(f"{path!r}: a file name cannot contain a null byte")
    if path.startswith("file://"):
        return path[len("file://") :]
    scheme, colon, _ = path.partition("://")
    if colon and scheme.isalnum():
        raise MXNetError(f"{path}: only local files are supported, not {scheme}://")
    return path


def text_lines(path: str | os.PathLike[str], encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a text file.

    Parameters
    ----------
    path : str
    encoding : str

    Raises
    ------
    OSError
        When the file cannot be read.
    MXNetError
        When it is not valid in this encoding.
    """
    with open(local_path(path), encoding=encoding) as file:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise MXNetError(f"{path}: expected text in {encoding}: {error}") from None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that atomically replaces `path` if the block succeeds.

    The data are written to a temporary file in the same directory, synced to disk and renamed. If
    the block raises or the process dies, the old file is unchanged. Permissions of an existing file
    are kept, and a symbolic link remains a link. Anything but a regular file, such as a pipe, is
    written to directly.

    Parameters
    ----------
    path : str
        The file to create or replace.

    Yields
    ------
    file : binary file object

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    target = os.path.realpath(path)
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as file:
            yield file
        return
    folder, base = os.path.split(target)
    # A name has at most 255 bytes, so the temporary one must not contain the old one.
    draft = os.path.join(folder, f".{base[:32]}.{os.urandom(8).hex()}.new")
    # 0o666 less the umask, as open() creates files, rather than mkstemp's 0o600.
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        error.filename = os.fspath(path)  # rather than the temporary file
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    _sync_folder(folder)


def unpack_zip(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], names: Iterable[str] | None = None
) -> None:
    """Unpack files of a zip archive, replacing each one atomically.

    Parameters
    ----------
    path : str
        The archive.
    folder : str
        The target directory, created if missing.
    names : sequence of str, optional
        The members to unpack, by default all.

    Raises
    ------
    MXNetError
        If it is not a zip archive, is damaged, lacks a member, or a member would be written outside
        the folder.
    OSError
        When a file cannot be read or written.
    """
    import shutil  # rarely needed, and slow to import
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            places = {}
            for name in archive.namelist() if names is None else names:
                if not name.endswith("/"):
                    place = _place_in(folder, name)
                    if place is None:
                        raise MXNetError(f"{path}: {name!r} would be written outside {folder}")
                    places[name] = place
            for name, place in places.items():
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with archive.open(name) as source, replacing(place) as file:
                    shutil.copyfileobj(source, file)
    except MXNetError:
        raise
    except Exception as error:  # zipfile raises anything for wrong offsets and sizes
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise MXNetError(f"{path} is not a valid zip archive: {error}") from error


def _place_in(folder: str | os.PathLike[str], name: str) -> str | None:
    """The path of an archive's member in a folder; None if that lies outside it."""
    root = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(root, name))
    return place if place != root and os.path.commonpath([root, place]) == root else None


def _sync_folder(folder: str) -> None:
    """Sync a new directory entry to disk, where the file system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
