"""Scales and zero points of quantized arrays that are known at planning time."""

import numpy as np

from mxcy._base import dtypes
from mxcy.graph.analysis.ranges import known_ranges
from mxcy.ops.core.record import find

__all__ = ["KnownSteps", "Steps"]

_BY_RANGE = find("_contrib_dequantize"), find("_contrib_quantize_v2")
_BY_STEP = find("_dequantize_linear"), find("_quantize_linear")
#: element type -> integer that represents the range's maximum magnitude
_LIMITS = {"uint8": 255.5, "int8": 127.5}


class Steps:
    """A quantized array: entry, element type, scale and zero point.

    Attributes
    ----------
    entry : (int, int)
    kind : str
        'float32' if the array is not quantized after all.
    step : float
    zero : int
    """

    __slots__ = ("entry", "kind", "step", "zero")

    def __init__(self, entry, kind, step=1.0, zero=0):
        self.entry, self.kind, self.step, self.zero = entry, kind, step, zero

    def limits(self):
        """The minimum and maximum integer."""
        ends = np.iinfo(self.kind)
        return int(ends.min), int(ends.max)


class KnownSteps:
    """The quantized arrays of a graph.

    Attributes
    ----------
    ranges : dict
        Result of `known_ranges`.
    """

    def __init__(self, graph):
        self._graph, self.ranges = graph, known_ranges(graph)

    @staticmethod
    def occur_in(graph):
        """Whether a graph dequantizes any array."""
        return any(node.op in (_BY_RANGE[0], _BY_STEP[0]) for node in graph.nodes)

    def of_floats(self, entry):
        """The Steps of the quantized array that an entry dequantizes, or None."""
        node = self._graph.nodes[entry[0]]
        if node.op is _BY_STEP[0]:
            return self._linear(node.inputs[0], node.attrs)
        if node.op is _BY_RANGE[0] and node.inputs[0] in self.ranges:
            return self._ranged(node.inputs[0])
        return None

    def of_result(self, number):
        """The Steps of a node's quantized output, or None."""
        node = self._graph.nodes[number]
        if node.op is _BY_STEP[1]:
            return self._linear((number, 0), node.attrs)
        if node.op is _BY_RANGE[1] and (number, 0) in self.ranges:
            return self._ranged((number, 0))
        return None

    def _ranged(self, entry):
        kind = dtypes.name_of(self._graph.spec(entry).dtype)
        return Steps(entry, kind, max(map(abs, self.ranges[entry])) / _LIMITS[kind])

    def _linear(self, entry, attrs):
        kind = dtypes.name_of(self._graph.spec(entry).dtype)
        return Steps(entry, kind, float(np.float32(attrs.step)), attrs.zero)
