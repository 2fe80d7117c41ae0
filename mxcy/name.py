"""Automatic names for operators and blocks."""

from mxcy._base.listing import listing
from mxcy._base.per_thread import PerThread, WithCurrent

__all__ = ["NameManager", "Prefix", "current"]

__dir__ = listing(__name__)


def current():
    """Return this thread's active `NameManager`."""
    return NameManager._current.value


class NameManager(metaclass=WithCurrent):
    """Names unnamed objects ``hint0``, ``hint1``... in order of creation.

    A ``with`` statement makes a manager the active one; each manager has its own counters,
    starting from 0.
    """

    def __init__(self):
        self._counter = {}

    def get(self, name, hint):
        """Return `name`, or the next name derived from `hint` if `name` is None.

        Parameters
        ----------
        name : str or None
            The user's name for the object.
        hint : str
            The kind of object, such as ``'dense'``.

        Returns
        -------
        str
        """
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self):
        NameManager._current.enter(self)
        return self

    def __exit__(self, ptype, value, trace):
        NameManager._current.leave()


NameManager._current = PerThread(NameManager)


class Prefix(NameManager):
    """A manager that prepends `prefix` to every name, given or generated.

    Parameters
    ----------
    prefix : str
        The prefix.
    """

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        """Return the prefixed name; see `NameManager.get`."""
        return self._prefix + super().get(name, hint)
