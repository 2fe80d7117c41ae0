"""`mx._api_internal`: the makers of containers under the names that MXNet 2 gives them."""

from mxcy.container import ADT, Map, String

__all__ = []


def _ADT(*fields):  # noqa: N802  its name in MXNet
    """The fields in an `ADT` without a tag of its own."""
    return ADT(0, fields)


def _Map(*pairs):  # noqa: N802  its name in MXNet
    """A `Map` of keys and values in turn."""
    return Map(zip(pairs[::2], pairs[1::2], strict=True))


_String = String
