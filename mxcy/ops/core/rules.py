"""Gradient rules: the undefined gradient, and the parameters of rules."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Attrs

__all__ = ["needs_of", "no_rule", "refusing"]


def no_rule(a: Attrs, F: Any, g: Any) -> None:
    """The gradient rule of operators without an implemented gradient.

    In a record it is replaced by `refusing`, which names the operator. Omitting the rule would mean
    zero gradients, so the operator would silently count as a constant.
    """


def refusing(name: str) -> Callable[..., Any]:
    """Make the rule that replaces `no_rule` for operator `name`."""

    def rule(a: Attrs, F: Any, g: Any) -> None:
        raise MXNetError(f"Error in operator {name}: it has no gradient, but one was requested")

    return rule


def needs_of(
    operator: str,
    rule: Callable[..., Any],
    inputs: Sequence[str],
    outputs: Sequence[str],
    names: Mapping[str, tuple[str, int]],
) -> tuple[tuple[str, int], ...]:
    """Determine the kind and index of each named parameter of a rule.

    Parameters
    ----------
    operator : str
    rule : callable
    inputs, outputs : sequence of str
    names : dict of str to (str, int)
        Additional names of inputs and outputs in the record.

    Raises
    ------
    ValueError
        If a parameter has any other name.
    """
    known = {name: ("in", i) for i, name in enumerate(inputs)}
    for i, name in enumerate(outputs):
        known.setdefault(name, ("out", i))
    known.update(out=("out", 0), inputs=("ins", 0), outs=("outs", 0))
    known.update(needs=("needs", 0), specs=("specs", 0))
    known.update(names)
    parameters = list(inspect.signature(rule).parameters)[3:]
    for name in parameters:
        if name not in known:
            raise ValueError(
                f"{operator}: the gradient rule asks for {name!r}, not an input or output"
            )
    return tuple(known[name] for name in parameters)
