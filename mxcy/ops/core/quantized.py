"""What the quantization pass knows of a float operator: which one computes it among int8 arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Quantized"]


def _always(a: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Quantized:
    """A record's `quantized`: the operator that stands for it in a quantized graph.

    That operator has the float operator's inputs, then a minimum and a maximum for each input in
    `ranged`, and returns the result with its minimum and maximum.

    Attributes
    ----------
    op : str
        The operator among 8-bit numbers.
    must : bool
        Whether it is worth the conversions before and after it. The others are quantized by mode
        ``'full'``, and by ``'smart'`` where they lie between two of these.
    ranged : tuple of str, optional
        The inputs that become 8-bit numbers with a range; the others stay as they are. All inputs
        of a variadic operator by default.
    by_channel : tuple of str, optional
        The same where each output channel of a weight is to have a range of its own; such an
        operator finds these itself and is told by ``channel_wise_quantize``.
    refusal : callable
        ``refusal(a)``: why a node with attributes `a` stays float, or None.
    wide : bool
        Whether the result has 32 bits and needs `_contrib_requantize`; with `calibrates`, unless it
        has a calibrated range.
    calibrates : bool
        Whether it takes `min_calib_range` and `max_calib_range`, the float result's range, itself.
    by : str
        The operator that quantizes its data and gives two more arrays.
    renamed : callable, optional
        ``renamed(a)``: attributes of the quantized operator that differ from the float one's.
    """

    op: str
    must: bool = False
    ranged: tuple[str, ...] | None = None
    by_channel: tuple[str, ...] | None = None
    refusal: Callable[[Any], str | None] = _always
    wide: bool = False
    calibrates: bool = False
    by: str = "_contrib_quantize_v2"
    renamed: Callable[[Any], dict[str, Any]] | None = None

    def range_names(self, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a node's `inputs` that have a range, in their order."""
        return tuple(name for name in inputs if self.ranged is None or name in self.ranged)
