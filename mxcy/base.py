"""The error type and small facts that every layer shares."""

import os
import sys

import numpy as np

from mxcy import older_paths

__all__ = [
    "MXNetError", "NotImplementedForSymbol", "NotSupportedForSparseNDArray", "caller", "data_dir",
    "data_dir_default", "integer_types", "kernel_error", "mx_real_t", "numeric_types",
    "stored_text", "string_types",
]  # fmt: skip

__getattr__ = older_paths.offer(__name__, ("mxcy.c_interface", "mxcy.class_tools"))

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_OURS = (_PACKAGE, "<operator ", "<symbol ", "<mxcy.")  # files, and functions made while running
_EXAMPLES = _PACKAGE + "examples" + os.sep


class MXNetError(RuntimeError):
    """An operator, a file or the runtime refused its input.

    With DMLC_LOG_STACK_TRACE_DEPTH the text ends in lines about the native functions that led here.
    """

    def __init__(self, *args):
        if args and isinstance(args[0], str):
            args = (_told(args[0]), *args[1:])
        super().__init__(*args)


class _NotSupported(MXNetError):
    """A method that dense arrays have and others have not.

    Parameters
    ----------
    function : callable
        The method.
    alias : str or None
        How programs spell it, such as ``+=``.
    *args
        What it was called with.
    """

    reason = "is not supported"

    def __init__(self, function, alias=None, *args):
        self.function, self.alias = function.__name__, alias
        text = f"Function {self.function}"
        if alias:
            text += f' (namely operator "{alias}")'
        if args:
            text += f" with arguments ({', '.join(str(type(a)) for a in args)})"
        super().__init__(f"{text} {self.reason} and only available in NDArray.")


class NotImplementedForSymbol(_NotSupported):
    """A method that arrays have and symbols have not; parameters as those of its base."""

    reason = "is not implemented for Symbol"


class NotSupportedForSparseNDArray(_NotSupported):
    """A method that dense arrays have and sparse ones have not; parameters as those of its base."""

    reason = "is not supported for SparseNDArray"


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


def stored_text(error):
    """The text under which the engine keeps an exception until somebody waits for the result.

    `kernel_error` makes an exception of it again.

    Parameters
    ----------
    error : MXNetError or IndexError
    """
    kind = "IndexError: " if isinstance(error, IndexError) else ""
    text, mark, frames = str(error).partition("\nStack trace:")
    return f"{kind}{text} (called at {caller()}){mark}{frames}"


def caller():
    """Where the running program called mxcy, such as ``"train.py:12"``."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS) or file.startswith(_EXAMPLES):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return "mxcy"


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
#: the element type of arrays for which none was asked
mx_real_t = np.float32


class _NullType:
    """The type of `_Null`, the "not given" marker of operator parameters."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()
