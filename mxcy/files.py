"""Files that are replaced as a whole: readers see the old content or the new, never a half."""

import contextlib
import os
import secrets
import stat

from mxcy.base import MXNetError

__all__ = ["local_path", "replacing"]


def local_path(name):
    """The path of a local file from a path or a ``file://`` address.

    Raises
    ------
    TypeError
        When `name` is neither a str nor path-like.
    MXNetError
        When `name` is an address of another kind, such as ``s3://``.
    """
    path = os.fspath(name)
    if not isinstance(path, str):
        raise TypeError(f"a file name must be a str, not {type(name).__name__}")
    if path.startswith("file://"):
        return path[len("file://") :]
    scheme, colon, _ = path.partition("://")
    if colon and scheme.isalnum():
        raise MXNetError(f"{path}: only local files are supported, not {scheme}://")
    return path


@contextlib.contextmanager
def replacing(path):
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
    draft = os.path.join(folder, f".{base[:32]}.{secrets.token_hex(8)}.new")
    # 0o666 less the umask, as a plain open() would give; mkstemp's 0o600 would surprise.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
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


def _sync_folder(folder):
    """Force a new directory entry to the disk, where the file system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
