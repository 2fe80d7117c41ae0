"""Worker threads that compute batches ahead of time, in order."""

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
    """A fixed number of threads; they never keep the program from ending.

    Parameters
    ----------
    num_workers : int
        Number of threads.
    begin : callable
        What each thread calls first.
    """

    def __init__(self, num_workers, begin):
        self._tasks = queue.SimpleQueue()
        self._num_workers = num_workers
        for i in range(num_workers):
            threading.Thread(
                target=_work, args=(self._tasks, begin), name=f"mxcy-data-{i}", daemon=True
            ).start()

    def submit(self, function, *args):
        """Have a thread call a function.

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
        """Let the threads end when they have finished what they were given."""
        for _ in range(self._num_workers):
            self._tasks.put(None)


def _work(tasks, begin):
    begin()
    # Nothing here may hold a task while waiting for the next: tasks keep their loader alive, and
    # a loader ends its threads only when it is gone.
    while _finish(tasks.get()):
        pass


def _finish(task):
    """Carry out a task; False for None, the last one."""
    if task is None:
        return False
    future, function, args = task
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(function(*args))
        except BaseException as error:  # whatever it is, it belongs to the one who asked
            future.set_exception(error)
    return True


class OrderedResults:
    """Iterator over ``function(argument)`` of every argument, computed ahead by a pool.

    The computation begins at once; what was not begun when the iterator is dropped never is.

    Parameters
    ----------
    pool : ThreadPool
        The threads.
    function : callable
        The function.
    arguments : iterable
        Its arguments; at most `ahead` of them are taken in advance.
    ahead : int
        How many calls are submitted at once, next to the one whose result is requested.
    timeout : float
        Longest time in seconds to wait for one result.

    Raises
    ------
    WorkerTimeout
        By ``next``, when a result takes longer.
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
