"""Names for operators and blocks that the user did not name."""

import threading

__all__ = ["NameManager", "Prefix", "current"]

_STATE = threading.local()


def current():
    """Return this thread's active `NameManager`."""
    stack = _STATE.__dict__.setdefault("stack", [])
    if not stack:
        stack.append(NameManager())
    return stack[-1]


class _Current(type):
    """Offers the active manager as the class attribute ``NameManager.current``."""

    @property
    def current(cls):
        return current()


class NameManager(metaclass=_Current):
    """Gives every unnamed thing the name ``hint0``, ``hint1``... in order of creation.

    A manager becomes the active one inside a ``with`` statement; the counters belong to the manager
    and start anew in each of them.
    """

    def __init__(self):
        self._counters = {}

    def get(self, name, hint):
        """Return `name`, or the next name made from `hint` when `name` is None.

        Parameters
        ----------
        name : str or None
            The name that the user gave.
        hint : str
            What kind of thing it is, such as ``'dense'``.

        Returns
        -------
        str
        """
        if name:
            return name
        number = self._counters.get(hint, 0)
        self._counters[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self):
        current()  # so that the default manager stays below this one
        _STATE.stack.append(self)
        return self

    def __exit__(self, ptype, value, trace):
        _STATE.stack.pop()


class Prefix(NameManager):
    """A manager that puts `prefix` before every name, given or made.

    Parameters
    ----------
    prefix : str
        The text in front.
    """

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        """Return the prefixed name, see `NameManager.get`."""
        return self._prefix + super().get(name, hint)
