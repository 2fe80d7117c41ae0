"""Arrays into which a backward pass may write gradients directly, without a copy."""

import bisect
import itertools

from mxcy._base.dtypes import dtype_of

__all__ = ["Targets", "apart"]


class Targets:
    """The variables' gradient arrays handed out during one walk over the tape.

    Each is handed out once: gradients of several uses need separate memory for the sum.
    """

    def __init__(self):
        self._given = set()  # addresses

    def of(self, nodes):
        """Return the target arrays for the gradients of a node's inputs.

        Parameters
        ----------
        nodes : sequence of (Node or None)
            The inputs' tape nodes.

        Returns
        -------
        list of (NDArray or None)
            The arrays, None where there is none.
        """
        return [self._target(node) for node in nodes]

    def _target(self, node):
        if node is None or node.parents or node.grad_req != "write":
            return None
        array = node.grad
        if array is None or array.stype != "default" or array.address in self._given:
            return None
        self._given.add(array.address)
        return array

    def holds(self, variable, gradient):
        """Whether a gradient already is in its target array."""
        if gradient is None or variable.grad is None or gradient.stype != "default":
            return False
        address = gradient.address
        return address in self._given and address == variable.grad.address


def apart(targets, arrays):
    """The targets, None for those that overlap with one of the arrays.

    Parameters
    ----------
    targets : list of (NDArray or None)
    arrays : list of NDArray
    """
    spans = sorted([_span(array) for array in arrays])
    begins = [begin for begin, _ in spans]
    ends = list(itertools.accumulate([end for _, end in spans], max))
    return [
        target if target is not None and _is_free(_span(target), begins, ends) else None
        for target in targets
    ]


def _is_free(span, begins, ends):
    before = bisect.bisect_left(begins, span[1])  # number of spans that begin before this one ends
    return before == 0 or ends[before - 1] <= span[0]


def _span(array):
    begin = array.address
    return begin, begin + array.size * dtype_of(array.dtype_code).itemsize
