"""Worker processes that load batches ahead, in order."""

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
from mxcy.gluon.data.messages import Packet, channels
from mxcy.gluon.data.thread_pool import WorkerTimeout
from mxcy.gluon.data.worker import Failure, semantics, work

__all__ = ["Batches", "ProcessPool"]

_GRACE = 0.1  # seconds that idle workers get to exit on their own

# The loaders' ends of all connections. Forked children must close them: workers detect the
# end of their loader by the closing of its last descriptor.
_ends = weakref.WeakSet()


def _close_ends():
    for end in list(_ends):
        end.close()


os.register_at_fork(after_in_child=_close_ends)


class _Worker:
    """A process and the loader's end of the connection to it."""

    def __init__(self, context, number, arguments):
        self.number = number
        self.channel, child_channel = channels()
        _ends.add(self.channel)
        self.process = context.Process(
            target=work, args=(child_channel, *arguments), name=f"mxcy-data-{number}", daemon=True
        )
        try:
            with _interrupts_blocked(), warnings.catch_warnings():
                # Python warns of threads, but ours are paused during a fork.
                warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
                self.process.start()
        finally:
            child_channel.close()

    def fate(self):
        """Describe how the process ended."""
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
    """Block SIGINT until the child has set its own handler."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(workers, owner):
    """Terminate the processes; idle ones get a moment to exit on their own."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.channel.close()
    deadline = time.monotonic() + _GRACE
    for worker in workers:
        worker.process.join(max(0, deadline - time.monotonic()))
    for stop in (multiprocessing.Process.terminate, multiprocessing.Process.kill):
        for worker in workers:
            if worker.process.is_alive():
                stop(worker.process)
        for worker in workers:
            worker.process.join(1)
    for worker in workers:
        if not worker.process.is_alive():  # a busy machine may take long to end it
            worker.process.close()


class ProcessPool:
    """A fixed-size pool of processes that load batches of a data set.

    They are forked, unless the program has chosen another start method with
    `multiprocessing.set_start_method`, which requires picklable arguments.

    Parameters
    ----------
    num_workers : int
        Number of processes.
    dataset : Dataset
    batchify_fn : callable
        Combines items into a batch.
    """

    def __init__(self, num_workers, dataset, batchify_fn):
        method = multiprocessing.get_start_method(allow_none=True) or "fork"
        context = multiprocessing.get_context(method)
        self._workers = []
        self._finalizer = weakref.finalize(self, _end, self._workers, os.getpid())
        self._epochs = set()
        self._numbers = itertools.count()
        self._arrived = {}  # ticket -> message
        arguments = (dataset, batchify_fn, semantics())
        for number in range(num_workers):
            self._workers.append(_Worker(context, number, arguments))

    @property
    def closed(self):
        """bool: Whether the processes were terminated."""
        return not self._finalizer.alive

    def close(self):
        """Terminate the processes."""
        self._finalizer()

    def begin(self):
        """Start an epoch; return its number."""
        epoch = next(self._numbers)
        self._epochs.add(epoch)
        return epoch

    def drop(self, epoch):
        """Cancel the batches of an epoch that were not requested yet."""
        self._epochs.discard(epoch)
        for ticket in list(self._arrived):
            if ticket[0] == epoch:
                del self._arrived[ticket]
        for worker in () if self.closed else self._workers:
            with contextlib.suppress(OSError):  # a dead worker has nothing to cancel
                worker.channel.send(Packet(None, ("drop", epoch)), wait=False)

    def submit(self, ticket, indices):
        """Request a batch.

        Parameters
        ----------
        ticket : tuple of int
            Epoch, and number of the batch in it. The latter determines the worker, which makes
            the workers' random numbers reproducible.
        indices : list
            Indices of the items.
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
        """Wait for a submitted batch.

        Raises
        ------
        WorkerTimeout
            If it takes longer than `timeout` seconds.
        MXNetError
            If a worker has died.
        Exception
            Raised in the worker.
        """
        deadline = time.monotonic() + timeout
        while ticket not in self._arrived:
            self._check()
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerTimeout(timeout)
            self._receive(left)
        content = self._arrived.pop(ticket).open()
        if isinstance(content, Failure):
            raise content.again()
        return content

    def _check(self):
        if self.closed:
            raise MXNetError("the loader's workers have ended; start a new epoch to restart them")

    def _receive(self, seconds, sender=None):
        """Wait for messages, or until `sender` is writable, and receive all that have arrived."""
        poll = select.poll()
        known = {}
        for worker in self._workers:
            known[worker.channel.fileno()] = worker
            writable = select.POLLOUT if worker is sender else 0
            poll.register(worker.channel, select.POLLIN | writable)
        for descriptor, event in poll.poll(None if seconds is None else seconds * 1000):
            if event != select.POLLOUT:
                self._receive_from(known[descriptor])

    def _receive_from(self, worker):
        try:
            while (message := worker.channel.receive(wait=False)) is not None:
                if message.tag[0] in self._epochs:
                    self._arrived[message.tag] = message
        except EOFError:
            self._lost(worker)

    def _lost(self, worker):
        process = f"worker {worker.number} of the data loader (process {worker.process.pid})"
        fate = worker.fate()
        self.close()
        raise MXNetError(f"{process} {fate}; the epoch cannot continue") from None


class Batches:
    """Iterator over the batches of an epoch, prefetched by a pool.

    Parameters
    ----------
    pool : ProcessPool
    samples : iterable of list
        The indices of each batch, read lazily.
    ahead : int
        Number of batches loaded ahead of the current one.
    timeout : float
        Seconds to wait for one batch.
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
