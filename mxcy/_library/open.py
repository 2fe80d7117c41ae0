"""Loading of mxcy's native library, and native stack frames in error messages."""

import ctypes
import sys

from mxcy import env, libinfo
from mxcy._base import errors

__all__ = ["native_frames", "open_library"]

_ABI_VERSION = 1  # MX_ABI_VERSION of kernels/include/mxcy.h
_kernels = {"add frames": False}  # what failing kernels were told to do by this module


def open_library() -> ctypes.CDLL:
    """Load the native library and check its version.

    Cython modules imported later link to this instance, whatever its path.

    Returns
    -------
    ctypes.CDLL

    Raises
    ------
    MXNetError
        If the library cannot be loaded or was built for another version of mxcy.
    """
    (path,) = libinfo.find_lib_path()
    try:
        library = ctypes.CDLL(path)
        version = library.mx_abi_version()
    except (OSError, AttributeError) as error:
        own = "" if env.is_set("MXNET_LIBRARY_PATH") else f": {libinfo.mend()}"
        raise env.EnvError(f"cannot load the native library {path}: {error}{own}") from error
    if version != _ABI_VERSION:
        raise env.EnvError(
            f"the native library {path} has interface version {version}, expected "
            f"{_ABI_VERSION}: {libinfo.mend()}"
        )
    return library


def native_frames(depth: int) -> str:
    """Format the native stack of this call.

    Parameters
    ----------
    depth : int
        The maximum number of lines.

    Returns
    -------
    str
        Lines such as ``  [bt] (0) library(function+0x1f) [address]``; empty if the library can't be
        loaded.
    """
    try:
        library = open_library()
    except (env.EnvError, RuntimeError):
        return ""
    text = ctypes.create_string_buffer(1 << 16)
    library.mx_backtrace_failures(depth)  # from now on failing kernels add their own frames
    _kernels["add frames"] = True
    library.mx_backtrace(text, ctypes.c_size_t(len(text)), depth)
    return text.value.decode(errors="replace")


def _complete(text: str) -> str:
    """Add native frames to an error's text, and log it, as the environment specifies."""
    depth = env.get("DMLC_LOG_STACK_TRACE_DEPTH")
    if not depth and _kernels["add frames"]:
        open_library().mx_backtrace_failures(0)
        _kernels["add frames"] = False
    if depth and "\n  [bt] (0)" not in text:  # a kernel's or an unpickled error has them already
        text = f"{text}\nStack trace:\n{native_frames(depth)}".rstrip()
    if env.get("DMLC_LOG_BEFORE_THROW"):
        print(text, file=sys.stderr, flush=True)
    return text


errors.complete_texts_with(_complete)
