"""Locks in processes that fork."""

import os
from typing import Any

__all__ = ["free_in_child"]


def free_in_child(lock: Any) -> Any:
    """Free a lock in forked children, where the thread that holds it does not exist.

    What the lock guards must be usable wherever its holder stopped. A fork must not wait for the
    lock instead: the holder may wait for an operation, and the fork for operations that need the
    lock.

    Parameters
    ----------
    lock : threading.Lock
        One that lives as long as the process.

    Returns
    -------
    threading.Lock
        The same lock.
    """
    os.register_at_fork(after_in_child=lock._at_fork_reinit)  # as modules of Python's library do
    return lock
