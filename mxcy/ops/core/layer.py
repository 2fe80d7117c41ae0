"""Layer properties of records for graph passes: the fused operator of a layer and its epilogue."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Layer"]


@dataclass(frozen=True, slots=True)
class Layer:
    """A record's `layer`: fusion with a subsequent sum and activation.

    Attributes
    ----------
    fused : str
        The fused operator.
    shared : tuple of str
        Attributes that both operators have.
    kind : {'conv', 'dense'}
        The kind, which determines settings and whether batch normalisation is fused.
    filters : callable, optional
        ``filters(a)``: the attributes of `_fold_batch_norm` that specify the weight's output
        channel axis, if not the first.
    bfloat16 : bool
        Whether the fused operator also supports bfloat16 arrays, with float32 parameters.
    """

    fused: str
    shared: tuple[str, ...]
    kind: str
    filters: Callable[[Any], dict[str, int]] = lambda a: {}
    bfloat16: bool = False
