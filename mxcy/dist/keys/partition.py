"""Partition of values among servers."""

import math

__all__ = ["parts", "slices"]

_SPREAD = 9973  # spreads keys that follow each other


def parts(size, number, servers, bound, unit=1):
    """Split a large array into one part per server; assign a small one to a single server.

    Parameters
    ----------
    size : int
        Elements of the array.
    number : int
        Index of the key, which determines the server of a small array.
    servers : int
    bound : int
        Elements from which an array counts as large.
    unit : int
        Parts begin at multiples of this many elements.

    Returns
    -------
    list of (int, int, int)
        Server, first element and number of elements of each part.
    """
    if size < bound:
        return [(number * _SPREAD % servers, 0, size)]
    cuts = [math.floor(size / servers * i + 0.5) // unit * unit for i in range(servers)]
    ends = [*cuts[1:], size]
    return [(i, begin, end - begin) for i, (begin, end) in enumerate(zip(cuts, ends, strict=True))]


def slices(size, most, first, servers):
    """Split an array into slices, assigned to servers round robin.

    Parameters
    ----------
    size : int
        Elements of the array.
    most : int
        Elements per slice.
    first : int
        Number of slices of earlier keys.
    servers : int

    Returns
    -------
    list of (int, int, int)
        As `parts` returns.
    """
    count = max(1, math.ceil(size / most))
    return [((first + i) % servers, i * most, min(most, size - i * most)) for i in range(count)]
