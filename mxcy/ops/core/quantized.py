"""Int8 counterparts of float operators, for the quantization pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Quantized"]


def _always(a: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Quantized:
    """A record's `quantized`: its replacement in a quantized graph.

    The replacement has the float operator's inputs, then a minimum and a maximum for each input in
    `ranged`, and returns the result with its minimum and maximum.

    Attributes
    ----------
    op : str
        The int8 operator.
    must : bool
        Whether it is worth conversions before and after it. Others are quantized in mode
        ``'full'``, and in mode ``'smart'`` between two of these.
    ranged : tuple of str, optional
        Inputs to quantize, with a range; the others are unchanged. By default all inputs of a
        variadic operator.
    by_channel : tuple of str, optional
        Like `ranged`, if weights should have a range per output channel; such an operator computes
        these itself, as requested by ``channel_wise_quantize``.
    refusal : callable
        ``refusal(a)``: the reason for keeping a node with attributes `a` in float, or None.
    wide : bool
        Whether the result is int32 and needs `_contrib_requantize`; with `calibrates`, only without
        a calibrated range.
    calibrates : bool
        Whether it has attributes `min_calib_range` and `max_calib_range`, its float range.
    by : str
        The operator that quantizes its data, with minimum and maximum.
    renamed : callable, optional
        ``renamed(a)``: attributes that differ between the two operators.
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
        """The inputs with a range, in order."""
        return tuple(name for name in inputs if self.ranged is None or name in self.ranged)
