"""What processes that join a job get of an exchange: its keys, buckets and how far these are."""

import numpy as np

from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.slots import Slot
from mxcy.dist.keys.sums import CompressedSum

__all__ = ["obstacle", "quiet", "resize", "take_over", "tell"]


def obstacle(exchange):
    """Why no process can join, or None."""
    if exchange.keeper is None:
        return "nobody tells new workers of the values"
    return exchange.keeper.obstacle()


def quiet(exchange):
    """Whether all that the program has pushed has been added up, here."""
    going = [slot for slot in exchange.slots if not slot.failed]
    pushed = all(slot.arrived == slot.rounds and not slot.pulls for slot in going)
    called = all(slot.bucket is None or slot.complete for slot in going)
    return pushed and called and not any(bucket.posted for bucket in exchange.buckets)


def tell(exchange, world):
    """All of it, for processes that join; all that are there call this at the same time.

    Parameters
    ----------
    exchange : Exchange
        Which is quiet.
    world : World

    Returns
    -------
    dict
    """
    exchange.keeper.spread(world)
    numbers = {slot: number for number, slot in enumerate(exchange.slots)}
    return {
        "bound": exchange.bound,
        "way": exchange.way.terms(),
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
        "kept": exchange.keeper.tell() if world.rank == 0 else None,
    }


def take_over(exchange, progress):
    """Make an exchange what `tell` has told of another process's, if there was such a one."""
    if exchange.number >= len(progress.joined["exchanges"]):
        return
    world, state = progress.world, progress.joined["exchanges"][exchange.number]
    exchange.factor = progress.membership.factor
    if state["way"]:
        exchange.way = CompressedSum(Levels(*state["way"]))
    for number, (key, shape, dtype, still, rounds, failed) in enumerate(state["slots"]):
        slot = Slot(key, shape, np.dtype(dtype), None, still)
        slot.submitted = slot.pushes = slot.sums = rounds
        slot.number, slot.failed = number, failed
        exchange.slots.append(slot)
    exchange.channels += [world.channels[number] for number in state["channels"]]
    for (numbers, sessions), channel in zip(state["buckets"], exchange.channels, strict=False):
        bucket = Bucket([exchange.slots[i] for i in numbers], channel, world.size, exchange.way)
        bucket.sessions = bucket.completed = sessions
        exchange.equip(bucket)
        exchange.buckets.append(bucket)
    exchange.unplaced = [exchange.slots[number] for number in state["unplaced"]]
    exchange.inherited = state["kept"]


def resize(exchange, world):
    """Go on with more processes; failures are told to these as well."""
    for bucket in exchange.buckets:
        bucket.abort(world.size)
        exchange.equip(bucket)
    exchange.report_failures()
