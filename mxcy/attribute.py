"""Attributes attached to every symbol created inside a ``with`` statement."""

from collections import defaultdict

from mxcy._base.listing import listing
from mxcy._base.per_thread import PerThread, WithCurrent

__all__ = ["AttrScope", "current"]

__dir__ = listing(__name__)


def current():
    """Return this thread's active `AttrScope`."""
    return AttrScope._current.value


class AttrScope(metaclass=WithCurrent):
    """String attributes for all symbols created in the scope; inner scopes extend outer ones.

    Parameters
    ----------
    **kwargs : str
        The attributes, for example ``ctx_group='stage1'``.

    Raises
    ------
    ValueError
        If an attribute is not a string.
    """

    _subgraph_names = defaultdict(int)  # name -> number of uses; programs read and replace it

    def __init__(self, **kwargs):
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ValueError("Attributes need to be string")
        self._own = kwargs
        self._attr = dict(kwargs)

    def get(self, attr):
        """Return the scope's attributes overridden by `attr`.

        Parameters
        ----------
        attr : dict of str to str, or None
            Attributes given for one symbol.

        Returns
        -------
        dict of str to str
        """
        if not self._attr:
            return attr if attr else {}
        return {**self._attr, **(attr or {})}

    def __enter__(self):
        self._attr = {**current()._attr, **self._own}
        AttrScope._current.enter(self)
        return self

    def __exit__(self, ptype, value, trace):
        AttrScope._current.leave()
        self._attr = dict(self._own)


AttrScope._current = PerThread(AttrScope)
