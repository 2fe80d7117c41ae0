"""What graph passes know of layers: which fused operator does a layer and what follows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Layer"]


@dataclass(frozen=True, slots=True)
class Layer:
    """A record's `layer`: it is computed together with the sum and the activation after it.

    Attributes
    ----------
    fused : str
        The operator that does all of it.
    shared : tuple of str
        The attributes that both have.
    kind : {'conv', 'dense'}
        Which switches govern it, and whether a batch normalisation after it is taken in.
    filters : callable, optional
        ``filters(a)``: the attributes of `_fold_batch_norm` that tell where the weight has its
        output channels, if not first.
    bfloat16 : bool
        Whether the fused operator also takes arrays of that type, beside parameters of float32.
    """

    fused: str
    shared: tuple[str, ...]
    kind: str
    filters: Callable[[Any], dict[str, int]] = lambda a: {}
    bfloat16: bool = False
