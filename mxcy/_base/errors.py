"""MXNetError and its subclasses, and the program's line that called mxcy."""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = [
    "InferError",
    "InvalidIndexError",
    "InvalidValueError",
    "MXNetError",
    "NestingError",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "ShapeError",
    "TracedValueError",
    "UnknownChoiceError",
    "UntracedInputError",
    "caller",
    "complete_texts_with",
    "is_ours",
    "kernel_error",
    "stored_text",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: file names of mxcy's frames: sources, compiled modules, generated functions
_OURS = (_PACKAGE, "mxcy/_cy/", "mxcy/_cy3/", "<operator ", "<symbol ", "<mxcy.")
_EXAMPLES = _PACKAGE + "examples" + os.sep


class MXNetError(RuntimeError):
    """Invalid input to an operator, a damaged file, or a failure of the runtime.

    With DMLC_LOG_STACK_TRACE_DEPTH the message ends with the native stack frames.
    """

    #: ``complete(text) -> text`` appends native frames; set by `mxcy._library.open`
    _complete: Callable[[str], str] = staticmethod(lambda text: text)

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str):
            args = (MXNetError._complete(args[0]), *args[1:])
        super().__init__(*args)


class TracedValueError(MXNetError):
    """A program read values of arrays, or wrote to them, while operations were being traced."""


class UntracedInputError(MXNetError, TypeError):
    """A traced graph got an input that is neither variable nor recorded; also a TypeError."""


class _NotSupported(MXNetError):
    """A method that only dense arrays have was called.

    Parameters
    ----------
    function : callable
        The method.
    alias : str or None
        The operator that calls it, such as ``+=``.
    *args
        The arguments it was called with.
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
    """A method that arrays but not symbols have was called; parameters as its base class."""

    reason = "is not implemented for Symbol"


class NotSupportedForSparseNDArray(_NotSupported):
    """A method that dense but not sparse arrays have was called; parameters as its base class."""

    reason = "is not supported for SparseNDArray"


class InferError(MXNetError):
    """The inputs of an operator are inconsistent."""


class ShapeError(InferError, AssertionError):
    """An argument's shape contradicts those of preceding inputs.

    MXNet 2's blocks raise AssertionError for the shapes of parameters.
    """


class InvalidValueError(MXNetError, ValueError):
    """An input has invalid elements; also a ValueError, even if raised asynchronously."""


class InvalidIndexError(MXNetError, IndexError):
    """An index is out of range; also an IndexError, even if raised asynchronously."""


class NestingError(MXNetError, TypeError, ValueError, AssertionError):
    """Values of control flow are not arrays, or not nested as others are.

    Depending on the function, MXNet raises one of these types.
    """


class UnknownChoiceError(MXNetError, KeyError, AssertionError):
    """An argument is none of the documented choices.

    MXNet raises KeyError or AssertionError, depending on the function.
    """

    __str__ = BaseException.__str__  # not KeyError's, which quotes the text


#: prefix of an error's text -> the type that is raised; derived types come after their bases
KEPT: dict[str, type[Exception]] = {
    "ValueError: ": InvalidValueError,
    "IndexError: ": InvalidIndexError,
}


def kernel_error(where: str, text: str) -> Exception:
    """Make the exception for a kernel's error text, which may start with IndexError or ValueError.

    Parameters
    ----------
    where, text : str
        A prefix, and the text of ``mx_last_error``.
    """
    kind = next((kind for kind in KEPT if text.startswith(kind)), "")
    text = text.removeprefix(kind)
    if text.startswith("Error in operator"):  # asynchronous, from a device: it names its operator
        where = ""
    return KEPT.get(kind, MXNetError)(where + text)


def stored_text(error: BaseException) -> str:
    """The text by which the engine stores an exception until the result is awaited.

    `kernel_error` turns it back into an exception.

    Parameters
    ----------
    error : BaseException
    """
    kind = next((kind for kind, kept in reversed(KEPT.items()) if isinstance(error, kept)), "")
    text, mark, frames = str(error).partition("\nStack trace:")
    return f"{kind}{text} (called at {caller()}){mark}{frames}"


def is_ours(file: str) -> bool:
    """Whether a stack frame with this file name belongs to mxcy, examples excluded.

    Parameters
    ----------
    file : str
    """
    return file.startswith(_OURS) and not file.startswith(_EXAMPLES)


def caller(depth: int = 0) -> str:
    """The place where the program called mxcy, such as ``"train.py:12"``.

    Parameters
    ----------
    depth : int
        Callers of the calling function that are known to belong to mxcy.
    """
    frame: FrameType | None = sys._getframe(1 + depth)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_ours(file):
            return f"{file.rpartition(os.sep)[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return "mxcy"


def complete_texts_with(complete: Callable[[str], str]) -> None:
    """Set the function that completes the text of each new MXNetError.

    Parameters
    ----------
    complete : callable
        ``complete(text) -> text``.
    """
    MXNetError._complete = staticmethod(complete)


# MXNet's module of these names, which tracebacks and pickles show; `mxcy.base` forwards the
# names that MXNet lacks.
for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, MXNetError):
        _error.__module__ = "mxcy.base"
