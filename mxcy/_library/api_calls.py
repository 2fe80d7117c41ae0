"""Counting of API calls for the profiler, under the names of MXNet's C functions."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from mxcy._library.front import recorder

__all__ = ["api_call"]

P = ParamSpec("P")
R = TypeVar("R")


def api_call(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that the profiler counts its calls.

    Parameters
    ----------
    name : str
        The equivalent function of MXNet's C API.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            began = recorder.api_begin()
            result = function(*args, **kwargs)
            if began:
                recorder.api_end(name, began)
            return result

        return counted

    return decorate
