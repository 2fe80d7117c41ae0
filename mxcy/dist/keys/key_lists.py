"""Check that all ranks initialize the same keys."""

import numpy as np

from mxcy.base import MXNetError

__all__ = ["compare_keys"]


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
