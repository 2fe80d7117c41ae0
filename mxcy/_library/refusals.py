"""Errors by which a program learns what it did wrong: where it did, without our own frames."""

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import ParamSpec, TypeVar

from mxcy import env
from mxcy._base.errors import MXNetError, is_ours

__all__ = ["name_block", "shorten", "with_short_refusals"]

P = ParamSpec("P")
R = TypeVar("R")

_BLOCK = "\n  in block "
#: what the texts of operators' refusals begin with
_OPERATOR, _NODE = "Error in operator ", "Error in node "


def shorten(error: MXNetError) -> None:
    """Leave only the program's own steps in an error's traceback.

    With ``MXCY_VERBOSE=tracebacks`` it stays as it is.

    Parameters
    ----------
    error : MXNetError
        What is being handled, and raised again.
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
    """Let what an operator refused tell the innermost block that was called, and shorten it.

    Parameters
    ----------
    error : MXNetError
        What is being handled, and raised again.
    name, kind : str
        The block's name and the name of its class.
    inputs : iterable of object
        What it was called with.
    """
    text = error.args[0] if error.args else None
    if not isinstance(text, str) or not text.startswith(_OPERATOR):
        return
    if _BLOCK not in text:
        shapes = ", ".join(str(getattr(x, "shape", type(x).__name__)) for x in inputs)
        error.args = (f"{text}{_BLOCK}{name} ({kind}), called with {shapes}", *error.args[1:])
    shorten(error)


def with_short_refusals(function: Callable[P, R]) -> Callable[P, R]:
    """Make a public function shorten the tracebacks of what operators refuse.

    Parameters
    ----------
    function : callable
        One that takes long enough not to notice another call around it.

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
