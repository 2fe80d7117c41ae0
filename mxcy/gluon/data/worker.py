"""Main loop of a data loader's worker process."""

import pickle
import signal
import traceback
from collections import deque

from mxcy import autograd, util
from mxcy._library import forks, shared_memory
from mxcy.base import MXNetError
from mxcy.gluon.data.messages import Packet

__all__ = ["Failure", "semantics", "work"]

_SPARE = 16  # shared-memory segments that a worker keeps for reuse


class Failure:
    """An exception in a worker, to be sent to the loader.

    Parameters
    ----------
    error : Exception
        One that cannot be pickled is replaced by an MXNetError with the same message.
    """

    def __init__(self, error):
        self._text = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
            self._error = error
        except Exception:
            self._error = MXNetError(f"{type(error).__name__}: {error}")

    def again(self):
        """Return the exception, with the worker's traceback as its cause."""
        error, self._error = self._error, None  # avoids a reference cycle with the raising frame
        error.__cause__ = _WorkerTraceback(self._text)
        return error


class _WorkerTraceback(Exception):
    """Prints a worker's traceback above the loader's own."""

    def __str__(self):
        return f'\n"""\n{self.args[0]}"""'


def semantics():
    """The thread's NumPy semantics, for `mxcy.util.set_np`."""
    return util.is_np_shape(), util.is_np_array(), util.is_np_default_dtype()


def work(channel, dataset, batchify_fn, flags):
    """Load batches until the loader has gone.

    Parameters
    ----------
    channel : Channel
        Delivers ``('load', ticket, indices)`` and ``('drop', epoch)``, which cancels all tickets
        ``(epoch, ...)``. Replies are tagged with the ticket and contain a batch or a `Failure`.
    dataset : Dataset
    batchify_fn : callable
    flags : tuple of bool
        The loader's `semantics`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the loader
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    forks.become_worker()
    shared_memory.recycle(_SPARE)
    util.set_np(*flags)
    autograd.set_recording(False)
    tasks = deque()
    try:
        while True:
            _take(channel, tasks)
            ticket, indices = tasks.popleft()
            channel.send(_loaded(dataset, batchify_fn, ticket, indices))
    except (EOFError, ConnectionError):
        pass


def _take(channel, tasks):
    """Receive all pending tasks, waiting for at least one."""
    while (message := channel.receive(wait=not tasks)) is not None:
        kind, *details = message.open()
        if kind == "load":
            tasks.append(details)
        else:
            kept = [task for task in tasks if task[0][0] != details[0]]
            tasks.clear()
            tasks.extend(kept)


def _loaded(dataset, batchify_fn, ticket, indices):
    try:
        return Packet(ticket, batchify_fn([dataset[i] for i in indices]))
    except Exception as error:
        return Packet(ticket, Failure(error))
