"""What programs import from `mx.base` to call C functions by ctypes: texts, arrays, statuses."""

import ctypes

from mxcy.base import MXNetError

__all__ = [
    "c_array", "c_array_buf", "c_str", "c_str_array", "check_call", "ctypes2buffer", "error_types",
    "mx_float", "mx_float_p", "mx_uint", "py_str", "register_error",
]  # fmt: skip

mx_uint = ctypes.c_uint
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(mx_float)

#: name -> type of errors; `mx.error` shows them
error_types = {}


def register_error(func_name=None, cls=None):
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

    def enter(klass):
        error_types[func_name or klass.__name__] = klass
        return klass

    return enter if cls is None else enter(cls)


def c_str(string):
    """A str as ``char *`` in UTF-8."""
    return ctypes.c_char_p(string.encode("utf-8"))


def py_str(x):
    """The str of bytes in UTF-8."""
    return x.decode("utf-8")


def c_str_array(strings):
    """A list of str as ``char **``."""
    return (ctypes.c_char_p * len(strings))(*(string.encode("utf-8") for string in strings))


def c_array(ctype, values):
    """A C array of some type with the values of a list."""
    return (ctype * len(values))(*values)


def c_array_buf(ctype, buf):
    """A C array of some type over the memory of an `array.array` or another writable buffer."""
    return (ctype * len(buf)).from_buffer(buf)


def ctypes2buffer(cptr, length):
    """The bytes behind a ``char *``.

    Raises
    ------
    TypeError
        When `cptr` is something else.
    """
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError("expected char pointer")
    return bytearray(ctypes.string_at(cptr, length))


def check_call(ret):
    """Look at what a C function of the library returned.

    Parameters
    ----------
    ret : int
        0 for success.

    Raises
    ------
    MXNetError
        For anything else, with the library's last error text; or the type registered by
        `register_error` whose name the text begins with.
    """
    if ret == 0:
        return
    from mxcy import libinfo

    function = libinfo.open_library().mx_last_error
    function.restype = ctypes.c_char_p
    text = function().decode(errors="replace")
    name, _, rest = text.partition(":")
    raise error_types[name](rest.strip()) if name in error_types else MXNetError(text)
