"""Steps of a training on ranks that there are not: `Exchange` and `Bucket` run on a clock.

A recorded step tells when each gradient was ready. Each simulated rank hands them to its exchange
at these times, later by a random factor, and begins its next step when it has all sums.
"""

import types

import numpy as np

from mxcy.dist.keys.exchange import Exchange
from mxcy.dist.keys.pushes import WholePush
from mxcy.dist.simulated.clock_world import Clock, ClockJob, WeightlessSum, weightless

__all__ = ["Step", "simulate"]


class Step:
    """A recorded step of training.

    Parameters
    ----------
    sizes : list of int
        Bytes of each gradient, in the order in which the program puts keys in.
    ready : list of float
        When each was computed, in seconds since the step began.
    compute : float
        Seconds of forward and backward.
    update : float
        Seconds of what comes after the last sum.

    Raises
    ------
    ValueError
        When lengths or times do not go together.
    """

    def __init__(self, sizes, ready, compute, update=0.0):
        if not sizes or len(sizes) != len(ready):
            raise ValueError(f"Step: {len(sizes)} sizes and {len(ready)} times of gradients")
        if min(sizes) < 1 or min(ready) < 0 or compute < 0 or update < 0:
            raise ValueError("Step: sizes must be positive, and times not below 0")
        self.sizes, self.ready, self.compute, self.update = sizes, ready, compute, update

    def without_computing(self):
        """The same sums, all called for at once."""
        return Step(self.sizes, [0.0] * len(self.sizes), 0.0)


class _Rank:
    """A rank as its `Exchange` sees it: what `ProgressThread` is to one with MPI."""

    elastic, joined = False, None

    def __init__(self, world, step, bound, factors, note):
        self.world, self._step, self._note = world, step, note
        self._clock, self.exchanges = world.job.clock, []
        self.control = types.SimpleNamespace(left={})  # nobody leaves, and nobody joins
        self.joining = types.SimpleNamespace(ranks=[])
        self.polling = types.SimpleNamespace(
            expect=lambda now, length: None
        )  # sums tell their ends
        self.exchange = Exchange(self, bound, WeightlessSum())
        entries = [
            (number, weightless(-(-size // 4), "float32")) for number, size in enumerate(step.sizes)
        ]
        slots = self.exchange.add(entries, [None] * len(entries))
        self.exchange.seal()
        self._buckets = list(dict.fromkeys(slot.bucket for slot in slots))
        for bucket in self._buckets:
            bucket.channel.copied = len(bucket.slots) > 1
        self._factors = iter(factors)
        world.wake = self._turn
        self._begin()

    def now(self):
        """Seconds on the clock."""
        return self._clock.now

    def next_exchange(self):
        """The number of its only exchange."""
        return 0

    def submit(self, function):
        """Call a function, as there are no threads."""
        function()

    def _begin(self):
        """Begin a step, if there is another."""
        factor = next(self._factors, None)
        if factor is None:
            return
        self._missing = len(self._buckets)
        began = self.now()
        self._computed = began + self._step.compute * factor
        for bucket in self._buckets:
            ready = max(self._step.ready[slot.number] for slot in bucket.slots)
            self._clock.at(began + ready * factor, lambda bucket=bucket: self._push(bucket))

    def _push(self, bucket):
        alone = len(bucket.slots) == 1
        source = weightless(bucket.length, bucket.dtype) if alone else None
        bucket.rounds.submitted += 1
        whole = WholePush(lambda buffer: None, source, self._summed, self.now())
        priority = -min(slot.number for slot in bucket.slots)
        self.exchange.push_whole(bucket, whole, priority)
        self._turn()

    def _turn(self):
        while self.exchange.step(self.now())[0]:
            pass

    def _summed(self, error, sums, lease):
        self._missing -= 1
        if not self._missing:
            self._clock.at(max(self.now(), self._computed) + self._step.update, self._end)

    def _end(self):
        self._note(self.now())
        self._begin()


def simulate(step, links, bound, steps=3, jitter=0.0, seed=0):
    """Seconds of steps.

    Parameters
    ----------
    step : Step
    links : Links
    bound : int
        Bytes of a bucket, as MXCY_DIST_BUCKET_BYTES.
    steps : int
    jitter : float
        The sigma of the lognormal factors of ranks' computing times.
    seed : int
        Of these.

    Returns
    -------
    dict
        ``seconds``, of a step on average, until the slowest rank's end; ``sums``, seconds of
        the sums without anything to hide behind; ``hidden``, the share of them that the step does
        not take longer for; ``efficiency``, the share of computing without jitter; ``buckets``.
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
