"""The error type and small facts that every layer shares."""

import sys

import numpy as np

__all__ = ["MXNetError", "NotImplementedForSymbol", "data_dir", "data_dir_default", "kernel_error"]
__all__ += ["numeric_types", "integer_types", "string_types"]


class MXNetError(RuntimeError):
    """An operator, a file or the runtime refused its input.

    With DMLC_LOG_STACK_TRACE_DEPTH the text ends in lines about the native functions that led here.
    """

    def __init__(self, *args):
        if args and isinstance(args[0], str):
            args = (_told(args[0]), *args[1:])
        super().__init__(*args)


class NotImplementedForSymbol(MXNetError):
    """A method that arrays have and symbols have not.

    Parameters
    ----------
    function : callable
        The method.
    alias : str or None
        How programs spell it, such as ``+=``.
    *args
        What it was called with.
    """

    def __init__(self, function, alias=None, *args):
        self.function, self.alias = function.__name__, alias
        text = f"Function {self.function}"
        if alias:
            text += f' (namely operator "{alias}")'
        if args:
            text += f" with arguments ({', '.join(str(type(a)) for a in args)})"
        super().__init__(f"{text} is not implemented for Symbol and only available in NDArray.")


def kernel_error(where, text):
    """The exception for a kernel's error text, which may begin with the type IndexError.

    Parameters
    ----------
    where, text : str
        What goes before the text, and the text of ``mx_last_error``.
    """
    if text.startswith("IndexError: "):
        return IndexError(where + text.removeprefix("IndexError: "))
    return MXNetError(where + text)


def data_dir():
    """The folder for downloaded models, data sets and embeddings: MXNET_HOME, or the default."""
    from mxcy import env  # which needs the error type of this file

    return env.get("MXNET_HOME")


def data_dir_default():
    """The folder that `data_dir` gives when MXNET_HOME is not set, ``~/.mxnet``."""
    from mxcy import env

    return env.VARIABLES["MXNET_HOME"].default


def _told(text):
    """The text of an error, with native frames and on standard error as the environment says."""
    from mxcy import env, libinfo

    depth = env.get("DMLC_LOG_STACK_TRACE_DEPTH")
    if depth and "\n  [bt] (0)" not in text:  # a kernel, or the pickle of an error, has them
        text = f"{text}\nStack trace:\n{libinfo.native_frames(depth)}".rstrip()
    if env.get("DMLC_LOG_BEFORE_THROW"):
        print(text, file=sys.stderr, flush=True)
    return text


numeric_types = (float, int, np.generic)
integer_types = (int, np.integer)
string_types = (str,)


class _NullType:
    """The type of `_Null`, the "not given" marker of operator parameters."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()
