"""Names for operators and blocks that the user did not name."""

from mxcy._base.listing import listing
from mxcy._base.per_thread import PerThread, WithCurrent

__all__ = ["NameManager", "Prefix", "current"]

__dir__ = listing(__name__)


def current():
    """Return this thread's active `NameManager`."""
    return NameManager._current.value


class NameManager(metaclass=WithCurrent):
    """Gives every unnamed thing the name ``hint0``, ``hint1``... in order of creation.

    A manager becomes the active one inside a ``with`` statement; the counters belong to the manager
    and start anew in each of them.
    """

    def __init__(self):
        self._counter = {}

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
