"""Files that are replaced as a whole: readers see the old content or the new, never a half."""

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
        When `name` is an address of another kind, such as ``s3://``, or has a zero byte.
    """
    path = os.fspath(name)
    if not isinstance(path, str):
        raise TypeError(f"a file name must be a str, not {type(name).__name__}")
    if "\0" in path:
        raise MXNetError(f"{path!r}: a file name cannot have a zero byte")
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
        When it is not text in this encoding.
    """
    with open(local_path(path), encoding=encoding) as file:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise MXNetError(f"{path}: expected text in {encoding}: {error}") from None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that takes the place of `path` when the block ends well.

    The data go to a new file in the same directory, are forced to the disk, and only then get the
    name. When the block raises, or the process dies, the old file is as it was. The permissions of
    an old file are kept, and a symbolic link stays a link. What is no regular file, such as a pipe,
    is written to directly.

    Parameters
    ----------
    path : str
        The file to make or to replace.

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
    # A file name has at most 255 bytes, so the new one must not grow with the old one.
    draft = os.path.join(folder, f".{base[:32]}.{os.urandom(8).hex()}.new")
    # 0o666 less the umask, as a plain open() would give; mkstemp's 0o600 would surprise.
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        error.filename = os.fspath(path)  # and not that of the draft
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
    """Unpack the files of a zip archive, each of which is replaced as a whole.

    Parameters
    ----------
    path : str
        The archive.
    folder : str
        Where the files go; made when it is missing.
    names : sequence of str, optional
        The members to unpack, all by default.

    Raises
    ------
    MXNetError
        When it is no zip archive, is damaged, lacks a member, or has one that would lie outside of
        the folder.
    OSError
        When a file cannot be read or written.
    """
    import shutil  # few programs unpack archives, and these import compression libraries
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            places = {}
            for name in archive.namelist() if names is None else names:
                if not name.endswith("/"):
                    place = _place_in(folder, name)
                    if place is None:
                        raise MXNetError(f"{path}: {name!r} would lie outside of {folder}")
                    places[name] = place
            for name, place in places.items():
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with archive.open(name) as source, replacing(place) as file:
                    shutil.copyfileobj(source, file)
    except MXNetError:
        raise
    except Exception as error:  # zipfile raises anything when offsets and sizes are wrong
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise MXNetError(f"{path} is not a zip archive with what was expected: {error}") from error


def _place_in(folder: str | os.PathLike[str], name: str) -> str | None:
    """The path of an archive's member in a folder; None when it would lead out of it."""
    root = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(root, name))
    return place if place != root and os.path.commonpath([root, place]) == root else None


def _sync_folder(folder: str) -> None:
    """Force a new directory entry to the disk, where the file system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
