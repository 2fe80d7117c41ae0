"""`mx._api_internal`: container constructors under their names in MXNet 2."""

from mxcy.container import ADT, Map, String

__all__ = []


def _ADT(*fields):  # noqa: N802  its name in MXNet
    """Make an `ADT` of the fields, without a specific tag."""
    return ADT(0, fields)


def _Map(*pairs):  # noqa: N802  its name in MXNet
    """Make a `Map` of alternating keys and values."""
    return Map(zip(pairs[::2], pairs[1::2], strict=True))


_String = String
