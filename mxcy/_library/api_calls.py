"""Calls of the interface as the profiler counts them, under the names of MXNet's C functions."""

import functools

from mxcy._library.front import recorder

__all__ = ["api_call"]


def api_call(name):
    """Make the profiler count calls of a function.

    Parameters
    ----------
    name : str
        The function of MXNet's C interface that does the same.
    """

    def decorate(function):
        @functools.wraps(function)
        def counted(*args, **kwargs):
            began = recorder.api_begin()
            result = function(*args, **kwargs)
            if began:
                recorder.api_end(name, began)
            return result

        return counted

    return decorate
