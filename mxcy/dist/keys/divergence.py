"""Whether all processes have the same values."""

import numpy as np

__all__ = ["differences"]


def differences(channel, ranks, slots, digest, name):
    """Compare the processes' values of keys, as a generator; see `mxcy.dist.worlds.collectives`.

    Parameters
    ----------
    channel : channel of a `World`
    ranks : int
        How many processes there are.
    slots : list of Slot
        The same in all of them.
    digest : callable
        A key's value as a number below 2**32.
    name : callable
        A rank in messages.

    Yields
    ------
    request

    Returns
    -------
    dict
        Of each slot whose values differ the text of an error.
    """
    mine = np.array([digest(slot.key) for slot in slots], np.int64)
    extremes = np.empty(2 * len(slots), np.int64)
    yield channel.all_reduce_min(np.concatenate([mine, -mine]), extremes)
    least, most = extremes[: len(slots)], -extremes[len(slots) :]
    if (least == most).all():
        return {}
    everybody = np.empty(ranks * len(slots), np.int64)
    yield channel.all_gather(mine, everybody)
    texts = {}
    for slot, digests in zip(slots, everybody.reshape(ranks, -1).T.tolist(), strict=True):
        others = [name(rank) for rank in range(ranks) if digests[rank] != digests[0]]
        if others:
            texts[slot] = (
                f"before round {slot.rounds + 1}, the value of key {slot.key!r} in "
                f"{', '.join(others)} differs from that in {name(0)} (MXCY_DIST_CHECK_EVERY)"
            )
    return texts
