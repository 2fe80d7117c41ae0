"""Constants of plans: values computed once from parameters, such as packed weights.

Plans that compute the same value from the same arrays share it, for instance those of one network
for several batch sizes. It is recomputed after an array was written. Intermediate values, such as
weights fused with a normalisation before packing, are not kept. New values are computed into new
memory: runs that were started before may still read the old ones.
"""

import threading
import weakref
from typing import Any

from mxcy._base.fork_safety import free_in_child
from mxcy._library import front

__all__ = ["Constants"]

_products: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_lock = free_in_child(threading.Lock())


class _Product:
    """The arrays that a step computed, and the state of its inputs at that time."""

    __slots__ = ("arrays", "seen", "__weakref__")

    def __init__(self, arrays):
        self.arrays, self.seen = arrays, None

    @property
    def failed(self):
        """Whether the step failed, so that it must run again."""
        return front.any_failed(self.arrays)


class Constants:
    """The constants of one plan.

    Parameters
    ----------
    plan : mxcy.graph.planning.plan.Plan
    context : Context

    Attributes
    ----------
    arrays : list of NDArray
        One per entry of ``plan.kept``; None if not yet computed or intermediate.
    kept : front.Kept
        The same for runs of the steps that do not run once.
    """

    def __init__(self, plan, context):
        self._plan, self._context = plan, context
        self.arrays = [None] * len(plan.kept)
        self.kept = front.Kept(self.arrays)
        self._products: list[Any] = [None] * len(plan.once)  # by step
        self._seen: list[Any] = [None] * len(plan.once)
        self._slots = list({s for once in plan.once for s in once.slots})
        self._changing = list({s for once in plan.once if not once.fixed for s in once.slots})
        self._watch: Any = None  # of the variables for which all arrays are up to date
        self._results: list[Any] = []  # the arrays of all products
        self._producers = {
            place: number for number, once in enumerate(plan.once) for place in once.kept
        }

    def refresh(self, arrays, run):
        """Recompute values that depend on arrays written since the last run.

        Parameters
        ----------
        arrays : list of NDArray
            The variables, by slot.
        run : callable
            ``run(number)`` runs a step on `arrays` and the kept arrays.
        """
        if self._watch is not None and self._watch.holds(arrays):
            if self.kept.settled or self.kept.settle() or not front.any_failed(self._results):
                return
        self._watch = None  # in case a step fails
        watch = front.Watch(arrays, self._slots, self._changing)
        computed = False
        for number, once in enumerate(self._plan.once):
            seen = tuple(
                [(arrays[s].address, 0 if once.fixed else arrays[s].version) for s in once.slots]
            )
            if seen != self._seen[number] or self._products[number].failed:
                with _lock:
                    self._compute(number, seen, run)
                computed = True
        for place in self._plan.intermediate if computed else ():  # not consumed by a step
            self.arrays[place] = None
        self._results = [array for product in self._products for array in product.arrays]
        self.kept = front.Kept(self.arrays)
        self._watch = watch

    def _compute(self, number, seen, run):
        """Compute a value unless another plan has; in both cases, share it."""
        once = self._plan.once[number]
        shared = [place for place in once.kept if place not in self._plan.intermediate]
        outputs = tuple(place in shared for place in once.kept)  # plans may need different outputs
        key = once.recipe, outputs, self._context, tuple(address for address, _ in seen)
        product = _products.get(key)
        if product is None:
            product = _products[key] = _Product([self._new(place) for place in shared])
        outdated = shared and (product.seen != seen or product.failed)
        if outdated and product.seen is not None:
            product.arrays = [self._new(place) for place in shared]
        self._products[number] = product
        for place, array in zip(shared, product.arrays, strict=True):
            self.arrays[place] = array
        if outdated:
            product.seen = None  # in case the step fails
            self._run_step(number, run)
            product.seen = seen
        self._seen[number] = seen

    def _run_step(self, number, run):
        """Run a step after those that compute its inputs, then drop these."""
        once = self._plan.once[number]
        missing = [place for place in once.reads if self.arrays[place] is None]
        for producer in sorted({self._producers[place] for place in missing}):
            self._run_step(producer, run)
        for place in once.kept:
            if self.arrays[place] is None:
                self.arrays[place] = self._new(place)
        run(number)
        for place in once.reads:
            self.arrays[place] = None

    def _new(self, place):
        spec = self._plan.kept[place]
        return front.empty(tuple(spec.shape), spec.dtype, self._context)
