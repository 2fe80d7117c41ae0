"""`mx.nd.sparse.add`, `subtract`, `multiply`, `divide`."""

from mxcy.ndarray.arithmetic import combine

__all__ = ["add", "divide", "multiply", "subtract"]


def add(lhs, rhs):
    """The sum, elementwise; arrays of one sparse type give one of that type.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(0, lhs, rhs)


def subtract(lhs, rhs):
    """The difference, elementwise; arrays of one sparse type give one of that type.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(1, lhs, rhs)


def multiply(lhs, rhs):
    """The product, elementwise; a sparse and a dense array give a sparse one.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(2, lhs, rhs)


def divide(lhs, rhs):
    """The quotient, elementwise; dense, but for a sparse array and a number.

    Parameters
    ----------
    lhs, rhs : NDArray or number

    Returns
    -------
    NDArray
    """
    return combine(3, lhs, rhs)
