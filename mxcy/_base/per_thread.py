"""Thread-local values that ``with`` statements set, such as the default context."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["PerThread", "WithCurrent"]


class PerThread(threading.local):
    """A thread-local value with a stack, for ``with`` statements that replace it.

    Parameters
    ----------
    default : callable
        Creates a thread's initial value.

    Attributes
    ----------
    value : object
        The current value. An assignment lasts until the enclosing ``with`` statement ends.
    """

    # Called once per thread.
    def __init__(self, default: Callable[[], Any]) -> None:
        self.value = default()
        self._outer: list[Any] = []

    def enter(self, value: Any) -> None:
        """Make a value current until the matching `leave`."""
        self._outer.append(self.value)
        self.value = value

    def leave(self) -> None:
        """Restore the value before the last `enter`."""
        self.value = self._outer.pop()


class WithCurrent(type):
    """Metaclass with a property `current`, stored in the class's `PerThread` `_current`."""

    _current: PerThread

    @property
    def current(cls) -> Any:
        """The current scope of this thread."""
        return cls._current.value

    @current.setter
    def current(cls, scope: Any) -> None:
        cls._current.value = scope
