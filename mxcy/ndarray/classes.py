"""Registry of array classes other than `mx.nd.NDArray`, for lower layers."""

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["numpy_class", "offer_numpy", "offer_sparse", "sparse_class"]

_classes: dict[str, type] = {}
_loaders: list[Callable[[], type]] = []


def offer_sparse(cls: Any) -> Any:
    """Register a class of sparse arrays under its storage type."""
    _classes[cls._stype] = cls
    return cls


def sparse_class(stype: str) -> type:
    """Return the array class of a sparse storage type.

    Raises
    ------
    ValueError
        If there is no such type.
    """
    try:
        return _classes[stype]
    except KeyError:
        known = ", ".join(map(repr, ("default", *sorted(_classes))))
        raise ValueError(f"unknown storage type {stype!r}, choose one of {known}") from None


def offer_numpy(load: Callable[[], type]) -> None:
    """Register a function that imports the array class of `mx.np`."""
    _loaders.append(load)


@cache
def numpy_class() -> type:
    """Return the array class of `mx.np`, importing it if necessary."""
    return _loaders[-1]()
