"""Which server keeps which part of a key's value."""

import math

__all__ = ["parts", "slices"]

_SPREAD = 9973  # spreads keys that follow each other


def parts(size, number, servers, bound, unit=1):
    """Cut a big array into a part for each server; a small one belongs to one server as a whole.

    Parameters
    ----------
    size : int
        Elements of the array.
    number : int
        Of the key, which chooses the server of a small array.
    servers : int
    bound : int
        Arrays with at least so many elements are big.
    unit : int
        Parts begin at multiples of it.

    Returns
    -------
    list of (int, int, int)
        The server, the first element and the number of elements of each part.
    """
    if size < bound:
        return [(number * _SPREAD % servers, 0, size)]
    cuts = [math.floor(size / servers * i + 0.5) // unit * unit for i in range(servers)]
    ends = [*cuts[1:], size]
    return [(i, begin, end - begin) for i, (begin, end) in enumerate(zip(cuts, ends, strict=True))]


def slices(size, most, first, servers):
    """Cut an array into slices, which go round all servers.

    Parameters
    ----------
    size : int
        Elements of the array.
    most : int
        Elements of a slice.
    first : int
        How many slices of other keys came before.
    servers : int

    Returns
    -------
    list of (int, int, int)
        As of `parts`.
    """
    count = max(1, math.ceil(size / most))
    return [((first + i) % servers, i * most, min(most, size - i * most)) for i in range(count)]
