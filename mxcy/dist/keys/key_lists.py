"""The keys that processes put into a store together."""

import numpy as np

from mxcy.base import MXNetError

__all__ = ["compare_keys"]


def compare_keys(lists):
    """Refuse keys that differ between processes; of each, its keys with what is known of them."""
    for rank, keys in enumerate(lists):
        if keys == lists[0]:
            continue
        for i in range(max(len(keys), len(lists[0]))):
            first = lists[0][i] if i < len(lists[0]) else None
            other = keys[i] if i < len(keys) else None
            if first != other:
                raise MXNetError(
                    f"init: rank 0 puts in {_described(first)}, rank {rank} {_described(other)}"
                )


def _described(entry):
    if entry is None:
        return "no further key"
    key, shape, dtype, *still = entry  # values on servers have no such buckets
    text = f"key {key!r} of shape {tuple(shape)} and dtype {np.dtype(dtype).name}"
    return f"{text} without a gradient" if any(still) else text
