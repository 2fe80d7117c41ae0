"""Helpers that programs import from `mx.base` to call C functions through ctypes."""

import ctypes
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy._library.c_functions import CFunctions
from mxcy._library.open import open_library

#: handle types of MXNet's C API
_HANDLES = (
    "CachedOpHandle",
    "CudaKernelHandle",
    "CudaModuleHandle",
    "DLPackHandle",
    "DataIterCreatorHandle",
    "DataIterHandle",
    "ExecutorHandle",
    "FunctionHandle",
    "KVStoreHandle",
    "NDArrayHandle",
    "OpHandle",
    "ProfileHandle",
    "RecordIOHandle",
    "RtcHandle",
    "SymbolHandle",
)

__all__ = [
    *_HANDLES,
    "MXCallbackList",
    "_LIB",
    "basestring",
    "c2pyerror",
    "c_array",
    "c_array_buf",
    "c_handle_array",
    "c_str",
    "c_str_array",
    "check_call",
    "ctypes2buffer",
    "ctypes2numpy_shared",
    "error_types",
    "get_last_ffi_error",
    "long",
    "mx_float",
    "mx_float_p",
    "mx_int",
    "mx_int64",
    "mx_uint",
    "py_str",
    "register_error",
]

mx_uint = ctypes.c_uint
mx_int = ctypes.c_int
mx_int64 = ctypes.c_int64
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(mx_float)

long = int
basestring = str
globals().update(dict.fromkeys(_HANDLES, ctypes.c_void_p))

#: error name -> exception type; `mx.error` exports them
error_types: dict[str, type[Exception]] = {}


def register_error(func_name: Any = None, cls: Any = None) -> Any:
    """Register an exception type; a class decorator, with or without a name.

    Parameters
    ----------
    func_name : str or type
        The error's name, or the class itself.
    cls : type, optional
        The exception class.

    Returns
    -------
    type, or a decorator when only a name is given
    """
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def enter(klass: type) -> type:
        error_types[func_name or klass.__name__] = klass
        return klass

    return enter if cls is None else enter(cls)


def c_str(string: str) -> ctypes.c_char_p:
    """Encode a str as a UTF-8 ``char *``."""
    return ctypes.c_char_p(string.encode("utf-8"))


def py_str(x: bytes) -> str:
    """Decode UTF-8 bytes."""
    return x.decode("utf-8")


class CallbackText(str):
    """A str for callbacks that expect MXNet's bytes, and call ``decode`` or `py_str`."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the plain str; parameters as for `bytes.decode`."""
        return str(self)


def c_str_array(strings: Sequence[str]) -> Any:
    """Convert a list of str to ``char **``."""
    return (ctypes.c_char_p * len(strings))(*(string.encode("utf-8") for string in strings))


def c_array(ctype: Any, values: Sequence[Any]) -> Any:
    """Make a C array with the values of a list."""
    return (ctype * len(values))(*values)


def c_array_buf(ctype: Any, buf: Any) -> Any:
    """Make a C array that shares the memory of an `array.array` or other writable buffer."""
    return (ctype * len(buf)).from_buffer(buf)


def ctypes2buffer(cptr: Any, length: int) -> bytearray:
    """Copy the bytes that a ``char *`` points to.

    Raises
    ------
    TypeError
        If `cptr` is no such pointer.
    """
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError("expected char pointer")
    return bytearray(ctypes.string_at(cptr, length))


def c_handle_array(objs: Sequence[Any]) -> Any:
    """Convert objects with a handle to ``void **``.

    The handle of an mxcy array or symbol is its ``PyObject *``.

    Parameters
    ----------
    objs : list
        Arrays, symbols, or objects whose ``handle`` is a ctypes pointer, an address or None.
    """

    def pointer(obj: Any) -> Any:
        handle = getattr(obj.handle, "value", obj.handle)
        return handle if handle is None or isinstance(handle, int) else id(obj)

    return (ctypes.c_void_p * len(objs))(*map(pointer, objs))


def ctypes2numpy_shared(cptr: Any, shape: Sequence[int]) -> Any:
    """Make a float32 NumPy array over the memory of a ``float *``, which must stay valid.

    Parameters
    ----------
    cptr : ctypes.POINTER(mx_float)
    shape : tuple of int

    Raises
    ------
    RuntimeError
        If `cptr` is no such pointer.
    """
    if not isinstance(cptr, mx_float_p):
        raise RuntimeError("expected float pointer")
    memory: Any = (mx_float * math.prod(shape)).from_address(ctypes.addressof(cptr.contents))
    return np.frombuffer(memory, dtype=np.float32).reshape(shape)


class MXCallbackList(ctypes.Structure):
    """The callbacks of a custom operator and their contexts, as MXNet passes them to C."""

    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


def c2pyerror(err_msg: str) -> tuple[str, str | None]:
    """Parse the error text of a C function.

    Parameters
    ----------
    err_msg : str
        ``"[time] file.cc:12: ValueError: text"`` or ``"ValueError: text"``, followed by the native
        stack trace.

    Returns
    -------
    new_msg : str
        The text without its source location, preceded by the stack trace.
    err_type : str or None
        The error type with which the text starts.
    """
    text, _, trace = err_msg.rstrip("\n").partition("\nStack trace:")
    text = re.sub(r"^(?:\[[\d:]+\] )?[^\s:]+\.(?:cc|h):\d+: ", "", text)
    named = re.match(r"([A-Za-z_][\w.]*): ", text)
    err_type = named.group(1) if named else None
    if trace.strip():
        text = f"Traceback (most recent call last):\n{trace.strip(chr(10))}\n{text}"
    return text, err_type


def get_last_ffi_error() -> Exception:
    """Make the exception for this thread's last error in the native library.

    Returns
    -------
    Exception
        An MXNetError, or the type registered with `register_error` under the name with which the
        text starts.
    """
    function = open_library().mx_last_error
    function.restype = ctypes.c_char_p
    text, name = c2pyerror(function().decode(errors="replace"))
    name = None if name is None else name.removeprefix("mxnet.error.")
    if name not in error_types:
        return MXNetError(text)
    return error_types[name](text.partition(": ")[2].strip() if text.startswith(name) else text)


def check_call(ret: int) -> None:
    """Check the return value of a C function of the library.

    Parameters
    ----------
    ret : int
        0 for success.

    Raises
    ------
    Exception
        The result of `get_last_ffi_error`, for any other value.
    """
    if ret != 0:
        raise get_last_ffi_error()


_LIB = CFunctions()
