"""`mx.nd.sparse.add`, `subtract`, `multiply`, `divide`."""

from mxcy.ndarray.arithmetic import combine

__all__ = ["add", "divide", "multiply", "subtract"]


def add(lhs, rhs):
    """Add elementwise; arrays of the same sparse type give a result of that type.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(0, lhs, rhs)


def subtract(lhs, rhs):
    """Subtract elementwise; arrays of the same sparse type give a result of that type.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(1, lhs, rhs)


def multiply(lhs, rhs):
    """Multiply elementwise; a sparse and a dense array give a sparse result.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(2, lhs, rhs)


def divide(lhs, rhs):
    """Divide elementwise; the result is dense, except for a sparse array and a number.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(3, lhs, rhs)
