"""A collective operation of all ranks that a thread waits for."""

import threading
import time

__all__ = ["Agreement"]


class Agreement:
    """Its steps, and what is known about it.

    Parameters
    ----------
    steps : generator or None
        Of requests.
    what : str
        Description for errors.

    Attributes
    ----------
    number : int
        How many agreements had begun when it did.
    over : threading.Event
        Set at the end.
    value, error : object
        The outcome.
    request : request
        That it waits for.
    began : float
        Time.
    """

    #: seconds of waiting after which a warning says so
    patience = 60

    def __init__(self, steps, what):
        self.steps, self.what, self.number = steps, what, 0
        self.over = threading.Event()
        self.value = self.error = self.request = None
        self.began = time.monotonic()
