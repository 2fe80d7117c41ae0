"""Matrix powers and chained matrix products."""

import operator

from mxcy._base import dtypes
from mxcy._base.errors import InvalidValueError
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array
from mxcy.numpy._linalg.solutions import inv

__all__ = ["matrix_power", "multi_dot"]


def matrix_power(a, n):
    """Raise square matrices to an integer power.

    Parameters
    ----------
    a : array_like
    n : int
        Exponent; if negative, the inverses are raised to ``-n``.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the matrices are not square.
    """
    a, n = as_np_array(a), operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise InvalidValueError(f"matrix_power: expected square matrices, got shape {a.shape}")
    if n == 0:
        unit = operate("_npi_eye", N=a.shape[-1], dtype=dtypes.name_of(a.dtype_code))
        return operate("_npi_broadcast_to", unit, shape=a.shape)
    square, power = inv(a) if n < 0 else a, None
    n = abs(n)
    while n:
        if n & 1:
            power = square if power is None else operate("_npi_matmul", power, square)
        n >>= 1
        square = operate("_npi_matmul", square, square) if n else square
    return power


def multi_dot(arrays, *, out=None):
    """Compute the product of several matrices in the cheapest order.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there are fewer than two.
    """
    arrays = list(map(as_array, arrays))
    if len(arrays) < 2:
        raise InvalidValueError("multi_dot: expected at least two arrays")
    vector = arrays[0].ndim == 1
    extents = [1 if vector else arrays[0].shape[0]]
    extents += [x.shape[0] for x in arrays[1:]]
    extents.append(1 if arrays[-1].ndim == 1 else arrays[-1].shape[-1])
    splits = _splits(extents)

    def product(first, last):
        if first == last:
            return arrays[first]
        at = splits[first, last]
        target = out if last - first == len(arrays) - 1 else None
        return operate("_npi_dot", product(first, at), product(at + 1, last), out=target)

    return product(0, len(arrays) - 1)


def _splits(extents):
    """Return the optimal split of each subchain of matrices with consecutive extents."""
    count = len(extents) - 1
    costs, splits = {(i, i): 0 for i in range(count)}, {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            costs[first, last], splits[first, last] = min(
                (
                    costs[first, at]
                    + costs[at + 1, last]
                    + extents[first] * extents[at + 1] * extents[last + 1],
                    at,
                )
                for at in range(first, last)
            )
    return splits
