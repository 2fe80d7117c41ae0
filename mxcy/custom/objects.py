"""The objects of users' operators: who keeps them, and how a backward pass finds its own."""

import itertools
import weakref
from collections import OrderedDict

from mxcy.graph.planning.plan import Step

__all__ = ["Objects", "living", "share"]

_MOST = 1024  # calls of one step that may still want their backward pass
_numbers = itertools.count(1)
_numbered: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def living():
    """The objects by the numbers that `Objects.of_run` gave, kept alive.

    A backward pass under way needs its own even when the plan of the forward pass is dropped.
    """
    return dict(_numbered)


class Objects:
    """The objects of one step of a plan.

    A run whose backward pass is still to come keeps its arena, so that arenas tell runs apart.

    Parameters
    ----------
    single : bool
        Whether there is one object for all runs.
    """

    def __init__(self, single=False):
        self._single, self._made = single, OrderedDict()

    def of_run(self, arena, make):
        """The object for the runs in an arena, and its number; ``make()`` makes new ones."""
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
    """Have the steps of users' operators use the same single objects as those of other plans.

    Parameters
    ----------
    steps : list of Step
    kept : dict
        The `Objects` by name of the node and how often that came before.
    """
    seen: dict[str, int] = {}
    for step in steps:
        if step.call.op.foreign is not None:
            count = seen[step.name] = seen.get(step.name, 0) + 1
            step.kept = kept.setdefault((step.name, count), Objects(single=True))
