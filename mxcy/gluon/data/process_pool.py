"""Worker processes that load batches ahead of time, in order."""

import contextlib
import itertools
import multiprocessing
import os
import select
import signal
import time
import warnings
import weakref

from mxcy.base import MXNetError
from mxcy.gluon.data import worker
from mxcy.gluon.data.messages import Packet, channels
from mxcy.gluon.data.thread_pool import WorkerTimeout

__all__ = ["Batches", "ProcessPool"]

_PATIENCE = 0.1  # seconds for idle workers to end by themselves

# The loaders' ends of all connections. A forked child must not hold any: workers notice by the
# closing of the last one that their loader is gone.
_ends = weakref.WeakSet()


def _close_ends():
    for end in list(_ends):
        end.close()


os.register_at_fork(after_in_child=_close_ends)


class _Worker:
    """A process and the loader's end of the connection to it."""

    def __init__(self, context, number, arguments):
        self.number = number
        self.channel, theirs = channels()
        _ends.add(self.channel)
        self.process = context.Process(
            target=worker.work, args=(theirs, *arguments), name=f"mxcy-data-{number}", daemon=True
        )
        try:
            with _interrupts_blocked(), warnings.catch_warnings():
                # Python cannot know that our threads are stopped during a fork.
                warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
                self.process.start()
        finally:
            theirs.close()

    def fate(self):
        """Why the process ended."""
        self.process.join(1)
        code = self.process.exitcode
        if code is None:
            return "closed its connection"
        if code >= 0:
            return f"ended with exit code {code}"
        if -code == signal.SIGKILL:
            return "was killed by SIGKILL, perhaps because memory ran out"
        return f"was killed by {signal.Signals(-code).name}"


@contextlib.contextmanager
def _interrupts_blocked():
    """Ctrl-C waits until the child has said that it does not want it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(workers, owner):
    """End the processes; only those who wait for work get the time to do it themselves."""
    if os.getpid() != owner:
        return
    for one in workers:
        one.channel.close()
    deadline = time.monotonic() + _PATIENCE
    for one in workers:
        one.process.join(max(0, deadline - time.monotonic()))
    for stop in (multiprocessing.Process.terminate, multiprocessing.Process.kill):
        for one in workers:
            if one.process.is_alive():
                stop(one.process)
        for one in workers:
            one.process.join(1)
    for one in workers:
        one.process.close()


class ProcessPool:
    """A fixed number of processes that load batches of a data set.

    They are forked, unless the program has set another start method with
    `multiprocessing.set_start_method`; then everything a worker needs is pickled.

    Parameters
    ----------
    num_workers : int
        Number of processes.
    dataset : Dataset
    batchify_fn : callable
        Joins items to a batch.
    """

    def __init__(self, num_workers, dataset, batchify_fn):
        method = multiprocessing.get_start_method(allow_none=True) or "fork"
        context = multiprocessing.get_context(method)
        self._workers = []
        self._finalizer = weakref.finalize(self, _end, self._workers, os.getpid())
        self._epochs = set()
        self._numbers = itertools.count()
        self._arrived = {}  # ticket -> message
        arguments = (dataset, batchify_fn, worker.semantics())
        for number in range(num_workers):
            self._workers.append(_Worker(context, number, arguments))

    @property
    def closed(self):
        """bool: Whether the processes were ended."""
        return not self._finalizer.alive

    def close(self):
        """End the processes."""
        self._finalizer()

    def begin(self):
        """The number of a new epoch."""
        epoch = next(self._numbers)
        self._epochs.add(epoch)
        return epoch

    def drop(self, epoch):
        """Forget the batches of an epoch that were not asked for yet."""
        self._epochs.discard(epoch)
        for ticket in list(self._arrived):
            if ticket[0] == epoch:
                del self._arrived[ticket]
        for one in () if self.closed else self._workers:
            with contextlib.suppress(OSError):  # a worker that is gone has nothing to forget
                one.channel.send(Packet(None, ("drop", epoch)), wait=False)

    def submit(self, ticket, indices):
        """Have a batch loaded.

        Parameters
        ----------
        ticket : tuple of int
            The epoch, and the number of the batch in it; that decides on the worker, so that each
            draws the same random numbers whenever the program runs.
        indices : list
            The items.
        """
        self._check()
        chosen = self._workers[ticket[1] % len(self._workers)]
        packet = Packet(None, ("load", ticket, indices))
        try:
            while not chosen.channel.send(packet, wait=False):
                self._receive(None, chosen)
        except ConnectionError:
            self._lost(chosen)

    def result(self, ticket, timeout):
        """A batch that was submitted, when it is there.

        Raises
        ------
        WorkerTimeout
            When that takes longer than `timeout` seconds.
        MXNetError
            When a worker is gone.
        Exception
            That the worker raised.
        """
        deadline = time.monotonic() + timeout
        while ticket not in self._arrived:
            self._check()
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerTimeout(timeout)
            self._receive(left)
        content = self._arrived.pop(ticket).open()
        if isinstance(content, worker.Failure):
            raise content.again()
        return content

    def _check(self):
        if self.closed:
            raise MXNetError("the loader's workers have ended; begin a new epoch to start others")

    def _receive(self, seconds, sender=None):
        """Wait for messages, or until `sender` takes more, and receive all that have come."""
        poll = select.poll()
        known = {}
        for one in self._workers:
            known[one.channel.fileno()] = one
            writable = select.POLLOUT if one is sender else 0
            poll.register(one.channel, select.POLLIN | writable)
        for descriptor, event in poll.poll(None if seconds is None else seconds * 1000):
            if event != select.POLLOUT:
                self._receive_from(known[descriptor])

    def _receive_from(self, one):
        try:
            while (message := one.channel.receive(wait=False)) is not None:
                if message.tag[0] in self._epochs:
                    self._arrived[message.tag] = message
        except EOFError:
            self._lost(one)

    def _lost(self, one):
        process = f"worker {one.number} of the data loader (process {one.process.pid})"
        fate = one.fate()
        self.close()
        raise MXNetError(f"{process} {fate}; the epoch cannot go on") from None


class Batches:
    """Iterator over the batches of an epoch, loaded ahead by a pool.

    Parameters
    ----------
    pool : ProcessPool
    samples : iterable of list
        The indices of each batch; they are read as batches are submitted.
    ahead : int
        How many batches are submitted at once, next to the one that is requested.
    timeout : float
        Longest time in seconds to wait for one batch.
    """

    def __init__(self, pool, samples, ahead, timeout):
        self._pool = pool
        self._epoch = pool.begin()
        self._samples = iter(samples)
        self._timeout = timeout
        self._sent = self._received = 0
        for _ in range(ahead):
            self._submit_next()

    def _submit_next(self):
        for indices in self._samples:
            self._pool.submit((self._epoch, self._sent), indices)
            self._sent += 1
            return

    def __iter__(self):
        return self

    def __next__(self):
        self._submit_next()
        if self._received == self._sent:
            raise StopIteration
        batch = self._pool.result((self._epoch, self._received), self._timeout)
        self._received += 1
        return batch

    def __del__(self):
        if hasattr(self, "_epoch"):
            self._pool.drop(self._epoch)
