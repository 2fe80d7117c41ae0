"""Repeated calls of a plan in which few inputs change: the others are looked up only once."""

from typing import Any

__all__ = ["Repeated", "whole"]


def whole(own, places, others):
    """All inputs of a call as a list.

    Parameters
    ----------
    own : list of NDArray
        The inputs at `places`.
    places : sequence of int
    others : list of (NDArray or None)
        The inputs at other positions.
    """
    arrays = list(others)
    for place, array in zip(places, own, strict=True):
        arrays[place] = array
    return arrays


class Repeated:
    """Calls outside of recording that share a plan and all but their own inputs.

    Parameters
    ----------
    bound : object
        The plan, with its inputs' positions, for one signature; see `cached_op`.
    places : sequence of int
        Positions of the calls' own inputs.
    others : list of (NDArray or None)
        The inputs at other positions, which all calls share.
    """

    def __init__(self, bound, places, others):
        self.bound, self._places, self._others = bound, places, others
        number = {place: i for i, place in enumerate(places)}
        self._own = [(slot, number[i]) for slot, i in enumerate(bound.sources) if i in number]
        # Arrays of the plan's slots, taken away while a call uses them.
        self._arrays: Any = [others[i] for i in bound.sources] + [None] * bound.count

    def run(self, own):
        """Compute the outputs, a list, from a call's own inputs."""
        arrays, self._arrays = self._arrays, None
        if arrays is None:  # another thread is in `run`
            return self.bound.forward(whole(own, self._places, self._others))[0]
        outputs = self.bound.planned.new_outputs(self.bound.count)
        for slot, i in self._own:
            arrays[slot] = own[i]
        first = len(self.bound.sources)
        arrays[first:] = outputs
        try:
            self.bound.run(arrays)
        finally:
            for slot, _ in self._own:
                arrays[slot] = None
            arrays[first:] = [None] * len(outputs)
            self._arrays = arrays
        return outputs
