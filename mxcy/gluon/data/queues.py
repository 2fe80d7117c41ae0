"""Queues under the names that MXNet's own loader had for them; arrays go through shared memory."""

import multiprocessing
import multiprocessing.queues

__all__ = ["ConnectionWrapper", "Queue", "SimpleQueue"]


class ConnectionWrapper:
    """One end of a pipe; arrays are sent in shared memory, as through any other connection.

    Parameters
    ----------
    conn : multiprocessing.connection.Connection
    """

    def __init__(self, conn):
        self._conn = conn

    def send(self, obj):
        """Send an object."""
        self._conn.send(obj)

    def recv(self):
        """Receive an object."""
        return self._conn.recv()

    def __getattr__(self, name):
        if name == "_conn":  # an instance that is being unpickled has none yet
            raise AttributeError(name)
        return getattr(self._conn, name)


class Queue(multiprocessing.queues.Queue):
    """`multiprocessing.Queue`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)


class SimpleQueue(multiprocessing.queues.SimpleQueue):
    """`multiprocessing.SimpleQueue`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)
