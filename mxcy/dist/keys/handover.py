"""Transfer of an exchange's state, keys, buckets and progress, to ranks that join the job."""

import numpy as np

from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.reductions import CompressedAllReduce
from mxcy.dist.keys.slots import Slot

__all__ = ["obstacle", "quiet", "resize", "restore", "snapshot"]


def obstacle(exchange):
    """The reason why no rank can join, or None."""
    if exchange.state_source is None:
        return "a store has no values for new workers"
    return exchange.state_source.obstacle()


def quiet(exchange):
    """Whether all pushes of this rank have been reduced."""
    active = [slot for slot in exchange.slots if not slot.failed]
    pushed = all(slot.arrived == slot.rounds and not slot.pulls for slot in active)
    arrived = all(slot.bucket is None or slot.complete for slot in active)
    return pushed and arrived and not any(bucket.in_flight for bucket in exchange.buckets)


def snapshot(exchange, world):
    """The state of an exchange, for joining ranks; collective.

    Parameters
    ----------
    exchange : Exchange
        Without unfinished pushes.
    world : World

    Returns
    -------
    dict
    """
    exchange.state_source.spread(world)
    numbers = {slot: number for number, slot in enumerate(exchange.slots)}
    return {
        "bound": exchange.bound,
        "reduction": exchange.reduction.settings(),
        "slots": [
            (slot.key, slot.shape, slot.dtype.str, slot.still, slot.rounds, slot.failed)
            for slot in exchange.slots
        ],
        "buckets": [
            ([numbers[slot] for slot in bucket.slots], bucket.sessions)
            for bucket in exchange.buckets
        ],
        "unplaced": [numbers[slot] for slot in exchange.unplaced],
        "channels": [channel.number for channel in exchange.channels],
        "state": exchange.state_source.snapshot() if world.rank == 0 else None,
    }


def restore(exchange, progress):
    """Restore a new exchange from the `snapshot` of its counterpart in the job, if it has one."""
    if exchange.number >= len(progress.joined["exchanges"]):
        return
    world, state = progress.world, progress.joined["exchanges"][exchange.number]
    exchange.factor = progress.membership.factor
    if state["reduction"]:
        exchange.reduction = CompressedAllReduce(Levels(*state["reduction"]))
    for number, (key, shape, dtype, still, rounds, failed) in enumerate(state["slots"]):
        slot = Slot(key, shape, np.dtype(dtype), None, still)
        slot.submitted = slot.pushes = slot.sums = rounds
        slot.number, slot.failed = number, failed
        exchange.slots.append(slot)
    exchange.channels += [world.channels[number] for number in state["channels"]]
    for (numbers, sessions), channel in zip(state["buckets"], exchange.channels, strict=False):
        bucket = Bucket(
            [exchange.slots[i] for i in numbers], channel, world.size, exchange.reduction
        )
        bucket.sessions = bucket.completed = sessions
        exchange.configure(bucket)
        exchange.buckets.append(bucket)
    exchange.unplaced = [exchange.slots[number] for number in state["unplaced"]]
    exchange.inherited = state["state"]


def resize(exchange, world):
    """Continue with more ranks, and send them the failures of keys."""
    for bucket in exchange.buckets:
        bucket.abort(world.size)
        exchange.configure(bucket)
    exchange.report_failures()
