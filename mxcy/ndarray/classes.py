"""The classes of other arrays than `mx.nd.NDArray`, for those who make them below these classes."""

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["numpy_class", "offer_numpy", "offer_sparse", "sparse_class"]

_classes: dict[str, type] = {}
_loaders: list[Callable[[], type]] = []


def offer_sparse(cls: Any) -> Any:
    """Enter a class of sparse arrays under its storage type."""
    _classes[cls._stype] = cls
    return cls


def sparse_class(stype: str) -> type:
    """The class of arrays of a sparse storage type.

    Raises
    ------
    ValueError
        When there is no such type.
    """
    try:
        return _classes[stype]
    except KeyError:
        known = ", ".join(map(repr, ("default", *sorted(_classes))))
        raise ValueError(f"unknown storage type {stype!r}, choose one of {known}") from None


def offer_numpy(load: Callable[[], type]) -> None:
    """Tell how to import the class of `mx.np`, which derives from that of `mx.nd`."""
    _loaders.append(load)


@cache
def numpy_class() -> type:
    """The class of arrays of `mx.np`, which is imported when it is first asked for."""
    return _loaders[-1]()
