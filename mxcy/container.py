"""`mx.container`: immutable containers that MXNet's C functions exchange with Python."""

import numbers
from collections.abc import Mapping

from mxcy._base.listing import listing
from mxcy._library import front

__all__ = ["ADT", "Map", "String"]

__dir__ = listing(__name__)


class String(str):
    """A str.

    Parameters
    ----------
    content : str
    """

    __slots__ = ()

    def __new__(cls, content):
        return super().__new__(cls, content)


class ADT:
    """An algebraic data type: a tagged tuple of containers.

    Parameters
    ----------
    tag : int
        Identifies the alternative.
    fields : list or tuple of ADT, Map, String, NDArray or number
    """

    __slots__ = ("_fields", "_tag")

    def __init__(self, tag, fields):
        for field in fields:
            known = isinstance(field, (ADT, Map, String, front.NDArrayBase, numbers.Real))
            assert known, f"Expect object, but received : {type(field)}"
        self._tag, self._fields = int(tag), tuple(fields)

    @property
    def tag(self):
        """int: the tag."""
        return self._tag

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return list(self._fields[idx])
        if not -len(self._fields) <= idx < len(self._fields):
            raise IndexError(f"Index out of range. size: {len(self._fields)}, got index {idx}")
        return self._fields[idx]

    def __len__(self):
        return len(self._fields)


class Map(Mapping):
    """An immutable mapping.

    Parameters
    ----------
    content : mapping or iterable of pairs
        None makes an empty one.
    """

    __slots__ = ("_content",)

    def __init__(self, content=()):
        self._content = dict(content)

    def __getitem__(self, k):
        return self._content[k]

    def __iter__(self):
        return iter(self._content)

    def __len__(self):
        return len(self._content)

    def items(self):
        """The (key, value) pairs as a list."""
        return list(self._content.items())

    def get(self, key, default=None):
        """Return the value of a key, or `default`.

        Parameters
        ----------
        key : object
        default : object
        """
        return self._content.get(key, default)
