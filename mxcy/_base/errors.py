"""The error type that every layer raises, its relatives, and where a program called us."""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = [
    "InferError",
    "InvalidAxisError",
    "InvalidValueError",
    "MXNetError",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "ShapeError",
    "TracedValueError",
    "UntracedInputError",
    "caller",
    "complete_texts_with",
    "is_ours",
    "kernel_error",
    "stored_text",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: files, compiled modules, and functions made while running
_OURS = (_PACKAGE, "mxcy/_cy/", "mxcy/_cy3/", "<operator ", "<symbol ", "<mxcy.")
_EXAMPLES = _PACKAGE + "examples" + os.sep


class MXNetError(RuntimeError):
    """An operator, a file or the runtime refused its input.

    With DMLC_LOG_STACK_TRACE_DEPTH the text ends in lines about the native functions that led here.
    """

    #: ``complete(text) -> text``, which adds native frames; `mxcy._library.open` provides it
    _complete: Callable[[str], str] = staticmethod(lambda text: text)

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str):
            args = (MXNetError._complete(args[0]), *args[1:])
        super().__init__(*args)


class TracedValueError(MXNetError):
    """A program looked at values, or wrote to arrays, while its operations were only recorded."""


class UntracedInputError(MXNetError, TypeError):
    """What is no variable and was not noted went into a graph; a TypeError too, as in MXNet."""


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

    def __init__(
        self, function: Callable[..., Any], alias: str | None = None, *args: object
    ) -> None:
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


class InferError(MXNetError):
    """An operator's inputs do not fit together."""


class ShapeError(InferError, AssertionError):
    """An argument has another shape than the inputs before it ask for.

    Blocks of MXNet 2 raise AssertionError where it is a parameter.
    """


class InvalidValueError(MXNetError, ValueError):
    """An operator found elements that it refuses; a ValueError too, also when it comes late."""


class InvalidAxisError(InvalidValueError, IndexError):
    """An array has no such axis; a ValueError and an IndexError too, as NumPy's AxisError is."""


#: types that keep their names in texts: what begins so -> what is raised
_KEPT: dict[str, type[Exception]] = {
    "AxisError: ": InvalidAxisError,
    "IndexError: ": IndexError,
    "ValueError: ": InvalidValueError,
}


def kernel_error(where: str, text: str) -> Exception:
    """The exception for a kernel's error text, which may begin with IndexError or ValueError.

    Parameters
    ----------
    where, text : str
        What goes before the text, and the text of ``mx_last_error``.
    """
    kind = next((kind for kind in _KEPT if text.startswith(kind)), "")
    text = text.removeprefix(kind)
    if text.startswith("Error in operator"):  # a device's, which came late and names its own
        where = ""
    return _KEPT.get(kind, MXNetError)(where + text)


def stored_text(error: BaseException) -> str:
    """The text under which the engine keeps an exception until somebody waits for the result.

    `kernel_error` makes an exception of it again.

    Parameters
    ----------
    error : MXNetError or IndexError
    """
    kind = next((kind for kind, kept in _KEPT.items() if isinstance(error, kept)), "")
    text, mark, frames = str(error).partition("\nStack trace:")
    return f"{kind}{text} (called at {caller()}){mark}{frames}"


def is_ours(file: str) -> bool:
    """Whether a step of the running program is one of mxcy, examples apart, by its file's name.

    Parameters
    ----------
    file : str
    """
    return file.startswith(_OURS) and not file.startswith(_EXAMPLES)


def caller() -> str:
    """Where the running program called mxcy, such as ``"train.py:12"``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_ours(file):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return "mxcy"


def complete_texts_with(complete: Callable[[str], str]) -> None:
    """Set what completes the text of each MXNetError when it is made.

    Parameters
    ----------
    complete : callable
        ``complete(text) -> text``.
    """
    MXNetError._complete = staticmethod(complete)


# Users know these under the module where MXNet has them; tracebacks and pickles say so.
# `mxcy.base` forwards those that MXNet has not.
for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, MXNetError):
        _error.__module__ = "mxcy.base"
