"""Waiting for events on other threads and in other processes."""

import time

__all__ = ["await_that"]

_PATIENCE = 60  # seconds; generous, as machines may be slow or busy


def await_that(condition):
    """Wait until ``condition()`` is true; fail after a minute.

    Parameters
    ----------
    condition : callable
        Called every few milliseconds.
    """
    deadline = time.monotonic() + _PATIENCE
    while not (true := condition()) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert true
