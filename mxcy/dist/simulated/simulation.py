"""Simulated training steps: `Exchange` and `Bucket` on the ranks of a simulated clock.

A recorded step has the time at which each gradient was ready. Each simulated rank pushes gradients
at these times, multiplied by a random factor, and begins its next step when it has all sums.
"""

import types

import numpy as np

from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.keys.pushes import BucketPush
from mxcy.dist.simulated.clock_world import Clock, ClockJob, WeightlessAllReduce, weightless

__all__ = ["Step", "simulate"]


class Step:
    """A recorded step of training.

    Parameters
    ----------
    sizes : list of int
        Bytes of each gradient, in order of initialization.
    ready : list of float
        Seconds from the start of the step until each gradient was computed.
    compute : float
        Seconds of forward and backward.
    update : float
        Seconds of computation after the last sum.
    push : float
        Seconds that pushing a bucket takes, unless `ready` and `compute` include them.

    Raises
    ------
    ValueError
        When lengths do not match, or for negative times.
    """

    def __init__(self, sizes, ready, compute, update=0.0, push=0.0):
        if not sizes or len(sizes) != len(ready):
            raise ValueError(f"Step: {len(sizes)} sizes and {len(ready)} times of gradients")
        if min(sizes) < 1 or min(*ready, compute, update, push) < 0:
            raise ValueError("Step: sizes must be positive, and times not below 0")
        self.sizes, self.ready, self.compute, self.update = sizes, ready, compute, update
        self.push = push

    def without_computing(self):
        """A step with the same gradients, all ready at once."""
        return Step(self.sizes, [0.0] * len(self.sizes), 0.0)


class _Rank:
    """A simulated rank: stands in for `ProgressThread` towards its `Exchange`."""

    elastic, joined = False, None

    def __init__(self, world, step, bound, factors, note):
        self.world, self._step, self._note = world, step, note
        self._clock, self.exchanges = world.job.clock, []
        self.control = types.SimpleNamespace(left={})  # no rank leaves or joins
        self.joining = types.SimpleNamespace(ranks=[])
        self.polling = types.SimpleNamespace(
            expect=lambda now, length: None
        )  # requests call `wake` at their ends
        self.exchange = Exchange(self, bound, WeightlessAllReduce())
        entries = [
            (number, weightless(-(-size // 4), "float32")) for number, size in enumerate(step.sizes)
        ]
        slots = self.exchange.add(entries, [None] * len(entries))
        self.exchange.seal()
        self._buckets = list(dict.fromkeys(slot.bucket for slot in slots))
        for bucket in self._buckets:
            bucket.channel.copied = len(bucket.slots) > 1
        self._factors = iter(factors)
        world.wake = self._progress
        self._begin()

    def now(self):
        """Seconds, on the simulated clock."""
        return self._clock.now

    def next_exchange(self):
        """The index of the only exchange."""
        return 0

    def submit(self, function):
        """Call a function at once: there are no threads."""
        function()

    def _begin(self):
        """Begin the next step, if any."""
        factor = next(self._factors, None)
        if factor is None:
            return
        self._missing = len(self._buckets)
        began = self.now()
        ready = {
            bucket: max(self._step.ready[slot.number] for slot in bucket.slots)
            for bucket in self._buckets
        }
        pushing = 0.0
        for bucket in sorted(ready, key=ready.get):
            pushing += self._step.push
            time = began + ready[bucket] * factor + pushing
            self._clock.at(time, lambda bucket=bucket: self._push(bucket))
        self._computed = began + self._step.compute * factor + pushing

    def _push(self, bucket):
        alone = len(bucket.slots) == 1
        source = weightless(bucket.length, bucket.dtype) if alone else None
        bucket.rounds.submitted += 1
        push = BucketPush(lambda buffer: None, source, self._summed, self.now())
        priority = -min(slot.number for slot in bucket.slots)
        self.exchange.push_bucket(bucket, lambda: push, priority)
        self._progress()

    def _progress(self):
        while self.exchange.step(self.now())[0]:
            pass

    def _summed(self, error, sums, lease, taken):
        self._missing -= 1
        if not self._missing:
            self._clock.at(max(self.now(), self._computed) + self._step.update, self._end)

    def _end(self):
        self._note(self.now())
        self._begin()


def simulate(step, links, bound, steps=3, jitter=0.0, seed=0):
    """Simulate training steps.

    Parameters
    ----------
    step : Step
    links : Links
    bound : int
        Bytes of a bucket; see MXCY_DIST_BUCKET_BYTES.
    steps : int
    jitter : float
        Sigma of the lognormal factors of ranks' computing times.
    seed : int
        Seed of these factors.

    Returns
    -------
    dict
        ``seconds`` per step on average, until the slowest rank's end; ``sums``, seconds of all
        sums without computation; ``hidden``, the share of these that does not lengthen the step;
        ``efficiency``, computing time without jitter over step time; ``buckets``, their number.
    """
    seconds, buckets = _run(step, links, bound, steps, jitter, seed)
    sums, _ = _run(step.without_computing(), links, bound, 1, 0.0, seed)
    alone = step.compute + step.update
    late = max(0.0, seconds - alone)
    return {
        "seconds": seconds,
        "sums": sums,
        "hidden": max(0.0, 1 - late / sums) if sums else 1.0,
        "efficiency": alone / seconds if seconds else 1.0,
        "buckets": buckets,
    }


def _run(step, links, bound, steps, jitter, seed):
    clock = Clock()
    job = ClockJob(clock, links)
    draw = np.random.default_rng(seed)
    factors = draw.lognormal(0.0, jitter, (links.ranks, steps)).tolist()
    ends = []
    ranks = [
        _Rank(world, step, bound, own, ends.append)
        for world, own in zip(job.worlds, factors, strict=True)
    ]
    clock.run()
    return max(ends) / steps, len(ranks[0].exchange.stats())
