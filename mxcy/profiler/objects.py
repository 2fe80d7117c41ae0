"""Annotations for programs: domains, tasks, frames, events, counters, markers."""

import threading

from mxcy._base.fork_safety import free_in_child
from mxcy._library import front
from mxcy.base import MXNetError

__all__ = ["Counter", "Domain", "Event", "Frame", "Marker", "Task"]

# Source kinds of mxcy_profiler.h.
_TASK, _FRAME, _SPAN, _ASYNC, _COUNTER, _MARKER = 3, 4, 5, 6, 7, 8


class Domain:
    """A user-defined category.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def new_task(self, name):
        """Create a `Task` of this domain."""
        return Task(self, name)

    def new_frame(self, name):
        """Create a `Frame` of this domain."""
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """Create a `Counter` of this domain with initial `value`."""
        return Counter(self, name, value)

    def new_marker(self, name):
        """Create a `Marker` of this domain."""
        return Marker(self, name)


class _Duration:
    """A duration from `start` to `stop`, recorded if the profiler runs at its end."""

    def __init__(self, kind, category, name):
        self.name = name
        self._source = front.recorder.source(kind, category, name)
        self._began = None

    def start(self):
        """Start the duration."""
        self._began = front.recorder.now()

    def stop(self):
        """Stop the duration; ignored without `start`."""
        if self._began is not None:
            front.recorder.add(self._source, self._began, front.recorder.now())
            self._began = None

    def __str__(self):
        return self.name


class Task(_Duration):
    """A task; tasks with the same name are aggregated.

    Parameters
    ----------
    domain : Domain
    name : str
    """

    def __init__(self, domain, name):
        super().__init__(_TASK, domain.name, name)


class Frame(_Duration):
    """An iteration of a loop, such as a batch.

    Parameters
    ----------
    domain : Domain
    name : str
    """

    def __init__(self, domain, name):
        super().__init__(_FRAME, f"{domain.name},frame", name)


class _OpenEvents(threading.local):
    def __init__(self):
        self.stack = []


_open_events = _OpenEvents()
_counting = free_in_child(threading.Lock())


class Event(_Duration):
    """An event of one thread, shown in the thread's row of the trace.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name):
        super().__init__(_SPAN, "event", name)
        self._stack = None  # of the thread that started it
        self._crossing = None  # source for events that are not properly nested

    def start(self):
        """Start the event."""
        if self._began is None:
            self._stack = _open_events.stack
            self._stack.append(self)
        super().start()

    def stop(self):
        """Stop the event; ignored without `start`."""
        if self._began is None:
            return
        nests = self._stack is _open_events.stack and self._stack[-1] is self
        self._stack.remove(self)
        if not nests:
            if self._crossing is None:
                self._crossing = front.recorder.source(_ASYNC, "event", self.name)
            front.recorder.add(self._crossing, self._began, front.recorder.now())
            self._began = None
        super().stop()


class Counter:
    """A value that varies over time.

    Parameters
    ----------
    domain : Domain
    name : str
    value : int, optional
        Initial value.
    """

    def __init__(self, domain, name, value=None):
        self.name = name
        self._source = front.recorder.source(_COUNTER, domain.name, name)
        self._value = 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Set the value."""
        with _counting:
            self._store(int(value))

    def increment(self, delta=1):
        """Add to the value."""
        with _counting:
            self._store(self._value + int(delta))

    def decrement(self, delta=1):
        """Subtract from the value."""
        self.increment(-int(delta))

    def _store(self, value):
        self._value = value
        front.recorder.add(self._source, front.recorder.now(), value)

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self

    def __str__(self):
        return self.name


class Marker:
    """A point in time.

    Parameters
    ----------
    domain : Domain
    name : str
    """

    _LETTERS = {"process": "p", "thread": "t", "global": "g", "task": "p", "marker": "p"}

    def __init__(self, domain, name):
        self.name, self.domain = name, domain

    def mark(self, scope="process"):
        """Record the current time.

        Parameters
        ----------
        scope : {'process', 'thread', 'global', 'task', 'marker'}
            Extent of the line drawn by viewers.

        Raises
        ------
        MXNetError
            For any other scope.
        """
        if scope not in self._LETTERS:
            raise MXNetError(
                f"Marker.mark: scope must be one of {', '.join(self._LETTERS)}, got {scope!r}"
            )
        category = f"{self.domain.name},instant_marker"
        source = front.recorder.source(_MARKER, category, self.name, self._LETTERS[scope])
        now = front.recorder.now()
        front.recorder.add(source, now, now)

    def __str__(self):
        return self.name
