"""Worker threads that compute batches ahead, in order."""

import multiprocessing
import queue
import threading
from collections import deque
from concurrent.futures import Future, wait

__all__ = ["OrderedResults", "ThreadPool", "WorkerTimeout"]


class WorkerTimeout(multiprocessing.TimeoutError, TimeoutError):
    """A batch was not loaded in time."""

    def __init__(self, seconds):
        super().__init__(
            f"a batch was not loaded within {seconds} seconds: the data set or its transformations "
            "are slow (increase timeout), or a worker hangs"
        )


class ThreadPool:
    """A fixed-size pool of daemon threads.

    Parameters
    ----------
    num_workers : int
        Number of threads.
    begin : callable
        Called once by each thread at its start.
    """

    def __init__(self, num_workers, begin):
        self._tasks = queue.SimpleQueue()
        self._num_workers = num_workers
        for i in range(num_workers):
            threading.Thread(
                target=_work, args=(self._tasks, begin), name=f"mxcy-data-{i}", daemon=True
            ).start()

    def submit(self, function, *args):
        """Call a function in one of the threads.

        Parameters
        ----------
        function : callable
            The function.
        *args
            Its arguments.

        Returns
        -------
        concurrent.futures.Future
        """
        future = Future()
        self._tasks.put((future, function, args))
        return future

    def close(self):
        """Let the threads exit after the submitted tasks."""
        for _ in range(self._num_workers):
            self._tasks.put(None)


def _work(tasks, begin):
    begin()
    # Hold no task while waiting for the next: it would keep the loader alive, whose deletion
    # is what ends the threads.
    while _finish(tasks.get()):
        pass


def _finish(task):
    """Run a task; return False for None, which ends the thread."""
    if task is None:
        return False
    future, function, args = task
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(function(*args))
        except BaseException as error:  # any exception is re-raised in the caller
            future.set_exception(error)
    return True


class OrderedResults:
    """Iterator over ``function(argument)`` of every argument, computed ahead by a pool.

    Computation starts immediately; dropping the iterator cancels calls that have not started.

    Parameters
    ----------
    pool : ThreadPool
        The threads.
    function : callable
        The function.
    arguments : iterable
        Its arguments; at most `ahead` of them are read in advance.
    ahead : int
        Number of calls submitted ahead of the current one.
    timeout : float
        Seconds to wait for one result.

    Raises
    ------
    WorkerTimeout
        By ``next``, if a result takes longer.
    """

    def __init__(self, pool, function, arguments, ahead, timeout):
        self._pool = pool
        self._function = function
        self._arguments = iter(arguments)
        self._timeout = timeout
        self._waiting = deque()
        for _ in range(ahead):
            self._submit_next()

    def _submit_next(self):
        for argument in self._arguments:
            self._waiting.append(self._pool.submit(self._function, argument))
            return

    def __iter__(self):
        return self

    def __next__(self):
        self._submit_next()
        if not self._waiting:
            raise StopIteration
        future = self._waiting.popleft()
        done, _ = wait([future], self._timeout)
        if not done:
            raise WorkerTimeout(self._timeout)
        return future.result()

    def __del__(self):
        for future in self._waiting:
            future.cancel()
