"""What programs import from `mx.base` to call C functions by ctypes: texts, arrays, statuses."""

import ctypes
import math
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy._library.open import open_library

#: how programs call pointers to objects of the C interface
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

#: name -> type of errors; `mx.error` shows them
error_types: dict[str, type[Exception]] = {}


def register_error(func_name: Any = None, cls: Any = None) -> Any:
    """Enter a type of errors; a class decorator, with or without a name.

    Parameters
    ----------
    func_name : str or type
        The name, or the class itself.
    cls : type, optional
        The class.

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
    """A str as ``char *`` in UTF-8."""
    return ctypes.c_char_p(string.encode("utf-8"))


def py_str(x: bytes) -> str:
    """The str of bytes in UTF-8."""
    return x.decode("utf-8")


class CallbackText(str):
    """A text that MXNet passes to callbacks as bytes: programs decode it, or call `py_str`."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text as a plain str; the parameters are those of `bytes.decode`."""
        return str(self)


def c_str_array(strings: Sequence[str]) -> Any:
    """A list of str as ``char **``."""
    return (ctypes.c_char_p * len(strings))(*(string.encode("utf-8") for string in strings))


def c_array(ctype: Any, values: Sequence[Any]) -> Any:
    """A C array of some type with the values of a list."""
    return (ctype * len(values))(*values)


def c_array_buf(ctype: Any, buf: Any) -> Any:
    """A C array of some type over the memory of an `array.array` or another writable buffer."""
    return (ctype * len(buf)).from_buffer(buf)


def ctypes2buffer(cptr: Any, length: int) -> bytearray:
    """The bytes behind a ``char *``.

    Raises
    ------
    TypeError
        When `cptr` is something else.
    """
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError("expected char pointer")
    return bytearray(ctypes.string_at(cptr, length))


def c_handle_array(objs: Sequence[Any]) -> Any:
    """Objects with a handle as ``void **``.

    Arrays and symbols of mxcy are Python objects; a pointer to one is its ``PyObject *``.

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
    """A NumPy array of float32 over the memory behind a ``float *``, which has to stay alive.

    Parameters
    ----------
    cptr : ctypes.POINTER(mx_float)
    shape : tuple of int

    Raises
    ------
    RuntimeError
        When `cptr` is something else.
    """
    if not isinstance(cptr, mx_float_p):
        raise RuntimeError("expected float pointer")
    memory: Any = (mx_float * math.prod(shape)).from_address(ctypes.addressof(cptr.contents))
    return np.frombuffer(memory, dtype=np.float32).reshape(shape)


class MXCallbackList(ctypes.Structure):
    """The functions that an operator in a foreign language gives to C, and their contexts."""

    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


def c2pyerror(err_msg: str) -> tuple[str, str | None]:
    """Take apart the error text of a C function.

    Parameters
    ----------
    err_msg : str
        ``"[time] file.cc:12: ValueError: text"`` or ``"ValueError: text"``, with the trace of the
        native stack below.

    Returns
    -------
    new_msg : str
        The text without where in the library it arose, and the trace above it.
    err_type : str or None
        The name of the type that the text begins with.
    """
    text, _, trace = err_msg.rstrip("\n").partition("\nStack trace:")
    text = re.sub(r"^(?:\[[\d:]+\] )?[^\s:]+\.(?:cc|h):\d+: ", "", text)
    named = re.match(r"([A-Za-z_][\w.]*): ", text)
    err_type = named.group(1) if named else None
    if trace.strip():
        text = f"Traceback (most recent call last):\n{trace.strip(chr(10))}\n{text}"
    return text, err_type


def get_last_ffi_error() -> Exception:
    """The exception for the error text that the native library has last set in this thread.

    Returns
    -------
    Exception
        An MXNetError, or of the type registered by `register_error` whose name the text begins
        with.
    """
    function = open_library().mx_last_error
    function.restype = ctypes.c_char_p
    text, name = c2pyerror(function().decode(errors="replace"))
    name = None if name is None else name.removeprefix("mxnet.error.")
    if name not in error_types:
        return MXNetError(text)
    return error_types[name](text.partition(": ")[2].strip() if text.startswith(name) else text)


def check_call(ret: int) -> None:
    """Look at what a C function of the library returned.

    Parameters
    ----------
    ret : int
        0 for success.

    Raises
    ------
    Exception
        For anything else: `get_last_ffi_error`.
    """
    if ret != 0:
        raise get_last_ffi_error()


class _MissingFunction(MXNetError, AttributeError):
    """A function of MXNet's C interface was requested; `hasattr` is False for it."""


#: the few functions that programs have no other way to than C's -> the module that has them
_OFFERED = {"MXListAllOpNames": "mxcy.operator.c_names"}


class _NoLibrary:
    """Stands where programs look for MXNet's C library."""

    def __getattr__(self, name: str) -> Any:
        if name in _OFFERED:
            return getattr(import_module(_OFFERED[name]), name)
        raise _MissingFunction(
            f"_LIB.{name}: mxcy has no C interface like that of MXNet; use the Python interface"
        )


_LIB = _NoLibrary()
