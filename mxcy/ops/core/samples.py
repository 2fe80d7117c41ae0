"""Samples: calls with which tests exercise a record."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Sample", "sample", "values"]


class Sample:
    """Inputs and attributes of one test call of an operator.

    Parameters
    ----------
    *inputs : tuple, numpy.ndarray or callable
        A shape (filled from the record's domain), an array, or a function ``rng -> array``
        (see `values`). Arrays given directly keep their dtype.
    dtypes : tuple of str, optional
        Dtypes to test, by default the record's.
    grad : bool
        Whether to check gradients against finite differences.
    tol : float
        Factor of the battery's tolerances.
    train : bool
        Whether the operator runs in training mode.
    **attrs
        The operator's attributes.
    """

    __slots__ = ("inputs", "attrs", "dtypes", "grad", "tol", "train")

    def __init__(
        self,
        *inputs: Any,
        dtypes: tuple[str, ...] | None = None,
        grad: bool = True,
        tol: float = 1.0,
        train: bool = False,
        **attrs: Any,
    ) -> None:
        self.inputs, self.attrs, self.dtypes = inputs, attrs, dtypes
        self.grad, self.tol, self.train = grad, tol, train


sample = Sample  # its name in records


def values(
    low: float, high: float, shape: tuple[int, ...], dtype: str | None = None
) -> "Callable[[np.random.Generator], np.ndarray]":
    """A sample input drawn uniformly from [low, high); integers if `dtype` is an integer type."""

    def draw(rng: "np.random.Generator") -> np.ndarray:
        if dtype is not None and dtype.startswith(("int", "uint")):
            return rng.integers(int(low), int(high), shape).astype(dtype)
        drawn = rng.uniform(low, high, shape)
        return drawn if dtype is None else drawn.astype(dtype)

    return draw
