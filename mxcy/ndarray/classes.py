"""The classes of sparse arrays by storage type, for those who make arrays below these classes."""

__all__ = ["sparse_class", "offer_sparse"]

_classes: dict = {}


def offer_sparse(cls):
    """Enter a class of sparse arrays under its storage type."""
    _classes[cls._stype] = cls
    return cls


def sparse_class(stype):
    """The class of arrays of a sparse storage type.

    Raises
    ------
    ValueError
        When there is no such type.
    """
    try:
        return _classes[stype]
    except KeyError:
        raise ValueError("unknown storage type" + str(stype)) from None
