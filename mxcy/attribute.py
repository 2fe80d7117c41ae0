"""Attributes that a ``with`` statement attaches to every symbol made inside it."""

import threading

__all__ = ["AttrScope", "current"]

_STATE = threading.local()


def current():
    """Return this thread's active `AttrScope`."""
    stack = _STATE.__dict__.setdefault("stack", [])
    if not stack:
        stack.append(AttrScope())
    return stack[-1]


class _Current(type):
    """Offers the active scope as the class attribute ``AttrScope.current``."""

    @property
    def current(cls):
        return current()


class AttrScope(metaclass=_Current):
    """String attributes for all symbols made in the scope; inner scopes add to outer ones.

    Parameters
    ----------
    **kwargs : str
        The attributes, for example ``ctx_group='stage1'``.

    Raises
    ------
    ValueError
        When an attribute is not a string.
    """

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
            What the user gave for one symbol.

        Returns
        -------
        dict of str to str
        """
        if not self._attr:
            return attr if attr else {}
        return {**self._attr, **(attr or {})}

    def __enter__(self):
        self._attr = {**current()._attr, **self._own}
        _STATE.stack.append(self)
        return self

    def __exit__(self, ptype, value, trace):
        _STATE.stack.pop()
        self._attr = dict(self._own)
