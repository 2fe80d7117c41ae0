"""Collectives as generators, which yield requests and are resumed once these are done."""

import json

import numpy as np

__all__ = ["barrier", "broadcast", "gather_texts", "parts"]


def gather_texts(world, value):
    """All-gather JSON values.

    Parameters
    ----------
    world : World
    value : object
        This rank's value.

    Yields
    ------
    request

    Returns
    -------
    list
        By rank.
    """
    channel = world.control()
    content = np.frombuffer(json.dumps(value).encode(), np.uint8)
    lengths = np.zeros(world.size, np.int64)
    yield channel.all_gather(np.array([content.size], np.int64), lengths)
    together = np.empty(int(lengths.sum()), np.uint8)
    yield channel.all_gather_v(content, together, [int(length) for length in lengths])
    return [json.loads(part.tobytes()) for part in parts(together, lengths)]


def parts(together, lengths):
    """Split an array into views of the given lengths."""
    return np.split(together, np.cumsum(lengths)[:-1])


def broadcast(world, arrays, root=0):
    """Overwrite contiguous arrays with those of rank `root`.

    Parameters
    ----------
    world : World
    arrays : list of numpy.ndarray
        Filled in place.
    root : int

    Yields
    ------
    request
    """
    for array in arrays:
        if array.size:
            yield world.control().broadcast(array.reshape(-1).view(np.uint8), root)


def barrier(world):
    """Wait for all ranks.

    Yields
    ------
    request
    """
    yield world.control().all_reduce(np.zeros(1, np.int64), np.empty(1, np.int64))
