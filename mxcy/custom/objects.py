"""Objects of custom operators: ownership, and look-up by backward passes."""

import itertools
import weakref
from collections import OrderedDict

from mxcy.graph.planning.plan import Step

__all__ = ["Objects", "living", "share"]

_MOST = 1024  # maximum number of calls per step with pending backward passes
_numbers = itertools.count(1)
_numbered: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def living():
    """Live objects by the numbers assigned by `Objects.of_run`.

    A running backward pass needs its object even if the forward plan is dropped.
    """
    return dict(_numbered)


class Objects:
    """The objects of a plan's step.

    A run with a pending backward pass keeps its arena, so arenas identify runs.

    Parameters
    ----------
    single : bool
        Whether all runs share one object.
    """

    def __init__(self, single=False):
        self._single, self._made = single, OrderedDict()

    def of_run(self, arena, make):
        """Return the object of the runs in an arena and its number; ``make()`` creates new ones."""
        key = None if self._single else arena.address
        entry = self._made.get(key)
        if entry is None:
            entry = self._made[key] = make(), next(_numbers)
            _numbered[entry[1]] = entry[0]
            if len(self._made) > _MOST:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(key)
        return entry


def share(steps: list[Step], kept: dict):
    """Share single objects between the steps of several plans.

    Parameters
    ----------
    steps : list of Step
    kept : dict
        `Objects` by node name and its number of previous occurrences.
    """
    seen: dict[str, int] = {}
    for step in steps:
        if step.call.op.foreign is not None:
            count = seen[step.name] = seen.get(step.name, 0) + 1
            step.kept = kept.setdefault((step.name, count), Objects(single=True))
