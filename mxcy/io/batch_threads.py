"""Threads that prefetch batches of records."""

import threading
from collections import deque

__all__ = ["BatchThreads"]


class BatchThreads:
    """Fill batches in order; several threads fill the slots of a batch in parallel.

    Parameters
    ----------
    records : iterator of (int, record)
        Numbered records to put into batches; read by one thread at a time.
    fill : callable
        ``fill(batch, place, number, record)`` processes a record into a slot of a batch. It must
        not refer to the owner of these threads, which would never be collected.
    batch_size : int
    threads : int
    """

    def __init__(self, records, fill, batch_size, threads):
        self._records, self._fill, self._batch_size = records, fill, batch_size
        self._reading = threading.Lock()  # guards _records, _current and _place
        self._current, self._place = None, 0
        self._changed = threading.Condition()  # guards the rest
        self._empty, self._begun = deque(), deque()
        self._left = {}  # batch -> number of unfilled slots
        self._ended = self._stopped = False
        self._error = None
        self._threads = [
            threading.Thread(target=self._work, name=f"mxcy-images-{i}", daemon=True)
            for i in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def offer(self, batch):
        """Queue an empty batch for filling."""
        with self._changed:
            self._empty.append(batch)
            self._changed.notify_all()

    def take(self):
        """Wait for the next filled batch and return it.

        Returns
        -------
        object or None
            None after the last.

        Raises
        ------
        Exception
            Raised by `fill` or by the records.
        """
        with self._changed:
            while not self._stopped:
                if self._begun and not self._left[self._begun[0]]:
                    batch = self._begun.popleft()
                    del self._left[batch]
                    if batch.error is not None:
                        self._stopped = True
                        self._changed.notify_all()
                        raise batch.error
                    return batch
                if self._ended and not self._begun:
                    if self._error is not None:
                        raise self._error
                    return None
                self._changed.wait()
        return None

    def stop(self):
        """Stop the threads, discarding prefetched batches."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _work(self):
        while (task := self._task()) is not None:
            batch = task[0]
            error = None
            try:
                self._fill(*task)
            except Exception as failure:
                error = failure
            task = None
            with self._changed:
                batch.error = batch.error or error
                self._left[batch] -= 1
                if not self._left[batch]:
                    self._changed.notify_all()

    def _task(self):
        """The next record with its batch and slot; None after the last."""
        with self._reading:
            if self._current is None and not self._begin():
                return None
            try:
                number, record = next(self._records)
            except BaseException as error:
                self._end(error)
                return None
            batch, place = self._current, self._place
            self._place += 1
            if self._place == self._batch_size:
                self._current = None
            with self._changed:
                batch.filled += 1
                self._left[batch] += 1
                if self._current is None:
                    self._left[batch] -= 1  # the one that represented future slots
            return batch, place, number, record

    def _begin(self):
        """Wait for an empty batch and start filling it; False if there is no more work."""
        with self._changed:
            while not (self._empty or self._ended or self._stopped):
                self._changed.wait()
            if self._ended or self._stopped:
                return False
            self._current, self._place = self._empty.popleft(), 0
            self._current.filled, self._current.error = 0, None
            self._begun.append(self._current)
            self._left[self._current] = 1
            return True

    def _end(self, error):
        """Handle the end of the records, or an error."""
        with self._changed:
            self._ended = True
            if self._current is not None and not self._current.filled:
                self._begun.remove(self._current)
                del self._left[self._current]
            elif self._current is not None:
                self._left[self._current] -= 1
                if not isinstance(error, StopIteration):
                    self._current.error = error
            self._current = None
            if not isinstance(error, StopIteration):
                self._error = error
            self._changed.notify_all()
