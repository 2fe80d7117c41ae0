"""Detection of values that differ between ranks."""

import numpy as np

__all__ = ["differences"]


def differences(channel, ranks, slots, digest, name):
    """Compare the values of keys between ranks; see `mxcy.dist.worlds.collectives`.

    Parameters
    ----------
    channel : channel of a `World`
    ranks : int
        Number of ranks.
    slots : list of Slot
        The same on all ranks.
    digest : callable
        Maps a key to a digest of its value below 2**32.
    name : callable
        Maps a rank to its name in messages.

    Yields
    ------
    request

    Returns
    -------
    dict
        The error message of each slot whose values differ.
    """
    digests = np.array([digest(slot.key) for slot in slots], np.int64)
    extremes = np.empty(2 * len(slots), np.int64)
    yield channel.all_reduce_min(np.concatenate([digests, -digests]), extremes)
    least, most = extremes[: len(slots)], -extremes[len(slots) :]
    if (least == most).all():
        return {}
    everybody = np.empty(ranks * len(slots), np.int64)
    yield channel.all_gather(digests, everybody)
    texts = {}
    for slot, of_ranks in zip(slots, everybody.reshape(ranks, -1).T.tolist(), strict=True):
        others = [name(rank) for rank in range(ranks) if of_ranks[rank] != of_ranks[0]]
        if others:
            texts[slot] = (
                f"before round {slot.rounds + 1}, the value of key {slot.key!r} in "
                f"{', '.join(others)} differs from that in {name(0)} (MXCY_DIST_CHECK_EVERY)"
            )
    return texts
