"""A value that is in force in the current thread, such as its default context."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["PerThread", "WithCurrent"]


class PerThread(threading.local):
    """One value for each thread, which ``with`` statements replace for a while.

    Parameters
    ----------
    default : callable
        Makes the first value of a thread.

    Attributes
    ----------
    value : object
        The value in force. Setting it lasts until the enclosing ``with`` statement ends.
    """

    # Python calls it once in each thread.
    def __init__(self, default: Callable[[], Any]) -> None:
        self.value = default()
        self._outer: list[Any] = []

    def enter(self, value: Any) -> None:
        """Put a value in force until the matching `leave`."""
        self._outer.append(self.value)
        self.value = value

    def leave(self) -> None:
        """Put the value before the last `enter` in force again."""
        self.value = self._outer.pop()


class WithCurrent(type):
    """Lets `current` be read and set on a class of scopes itself; `_current` is its `PerThread`."""

    _current: PerThread

    @property
    def current(cls) -> Any:
        """The scope in force in this thread."""
        return cls._current.value

    @current.setter
    def current(cls, scope: Any) -> None:
        cls._current.value = scope
