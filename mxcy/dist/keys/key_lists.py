"""Agreement of all ranks on the keys that they initialize, and their order."""

import numpy as np

from mxcy.base import MXNetError

__all__ = ["common_order", "compare_keys"]


def common_order(lists, rank):
    """The keys of a rank in the order of rank 0.

    Parameters
    ----------
    lists : list of list
        [key, shape, dtype, ...] of each key, by rank.
    rank : int

    Returns
    -------
    list of int
        Positions in the list of this rank.

    Raises
    ------
    MXNetError
        If ranks have different keys.
    """
    places = {key: place for place, (key, *_) in enumerate(lists[0])}
    orders = [
        sorted(range(len(keys)), key=lambda i, keys=keys: places.get(keys[i][0], len(places)))
        for keys in lists
    ]
    compare_keys([[keys[i] for i in order] for keys, order in zip(lists, orders, strict=True)])
    return orders[rank]


def compare_keys(lists):
    """Raise if lists of [key, shape, dtype, ...], one per rank, differ."""
    for rank, keys in enumerate(lists):
        if keys == lists[0]:
            continue
        for i in range(max(len(keys), len(lists[0]))):
            first = lists[0][i] if i < len(lists[0]) else None
            other = keys[i] if i < len(keys) else None
            if first != other:
                raise MXNetError(
                    f"init: rank 0 initializes {_described(first)}, rank {rank} {_described(other)}"
                )


def _described(entry):
    if entry is None:
        return "no further key"
    key, shape, dtype, *still = entry  # absent for values on servers
    text = f"key {key!r} of shape {tuple(shape)} and dtype {np.dtype(dtype).name}"
    return f"{text} without a gradient" if any(still) else text
