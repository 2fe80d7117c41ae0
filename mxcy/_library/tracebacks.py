"""Shortened tracebacks of errors in calls: the program's frames without mxcy's own."""

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import ParamSpec, TypeVar

from mxcy import env
from mxcy._base.errors import MXNetError, is_ours

__all__ = ["name_block", "shorten", "with_short_tracebacks"]

P = ParamSpec("P")
R = TypeVar("R")

_BLOCK = "\n  in block "
#: prefixes of operators' error messages
_OPERATOR, _NODE = "Error in operator ", "Error in node "


def shorten(error: MXNetError) -> None:
    """Remove mxcy's own frames from an error's traceback.

    With ``MXCY_VERBOSE=tracebacks`` it is left alone.

    Parameters
    ----------
    error : MXNetError
        The exception being handled, which is then re-raised.
    """
    if "tracebacks" in env.get("MXCY_VERBOSE"):
        return
    steps, step = [], error.__traceback__
    while step is not None:
        if not is_ours(step.tb_frame.f_code.co_filename):
            steps.append(step)
        step = step.tb_next
    short: TracebackType | None = None
    for step in reversed(steps):
        short = TracebackType(short, step.tb_frame, step.tb_lasti, step.tb_lineno)
    error.__traceback__ = short


def name_block(error: MXNetError, name: str, kind: str, inputs: Iterable[object]) -> None:
    """Add the innermost block called to an operator's error, and shorten its traceback.

    Parameters
    ----------
    error : MXNetError
        The exception being handled, which is then re-raised.
    name, kind : str
        The block's name and the name of its class.
    inputs : iterable of object
        The arguments it was called with.
    """
    text = error.args[0] if error.args else None
    if not isinstance(text, str) or not text.startswith(_OPERATOR):
        return
    if _BLOCK not in text:
        shapes = ", ".join(str(getattr(x, "shape", type(x).__name__)) for x in inputs)
        error.args = (f"{text}{_BLOCK}{name} ({kind}), called with {shapes}", *error.args[1:])
    shorten(error)


def with_short_tracebacks(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function to shorten the tracebacks of operators' errors.

    Parameters
    ----------
    function : callable
        A function slow enough for another call around it to be negligible.

    Returns
    -------
    callable
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except MXNetError as error:
            if str(error).startswith((_OPERATOR, _NODE)):
                shorten(error)
            raise

    return call
