"""`mx.engine`: the public interface of the dependency engine.

Operations run on worker threads; those that use the same arrays run in the order of their calls. An
operation's error is raised when its results are awaited.
"""

import os
import sys

from mxcy._base.listing import listing
from mxcy._library import front
from mxcy.context import current_context
from mxcy.profiler.scopes import IMPERATIVE

__all__ = ["Var", "bulk", "push", "set_bulk_size", "stats", "waitall"]

__dir__ = listing(__name__)

Var = front.Var

# Source kinds of mxcy_profiler.h.
_OPERATOR, _ASYNC = 0, 6


def set_bulk_size(size):
    """Set the maximum number of this thread's operations that are queued together.

    Parameters
    ----------
    size : int
        0 queues each one separately. A bulk is submitted when full or upon any wait.

    Returns
    -------
    int
        The previous size.
    """
    return front.set_bulk_size(int(size))


class _BulkScope:
    def __init__(self, size):
        self._size = size
        self._before = []

    def __enter__(self):
        self._before.append(set_bulk_size(self._size))
        return self

    def __exit__(self, *error):
        set_bulk_size(self._before.pop())


def bulk(size):
    """A scope in which up to `size` operations are queued together."""
    return _BulkScope(size)


def waitall():
    """Wait for all operations called so far.

    Raises
    ------
    MXNetError
        The first error not raised by another wait. Other errors are discarded, but the arrays
        that were not computed keep theirs until they are written again.
    """
    front.wait_all()


def push(function, reads=(), writes=(), name=None, priority=0, property="normal", context=None):
    """Schedule a function to run after the preceding operations on the same variables.

    Parameters
    ----------
    function : callable
        Called without arguments on a worker thread; with property ``'async'`` called with a
        function to call upon completion, with an error text or nothing. Exceptions are raised by
        waits for the written variables. It may use `reads` and `writes` but must not wait for
        others.
    reads, writes : sequence of NDArray and Var
    name : str, optional
        Name of the operation in errors, by default the function's name.
    priority : int
        Among prioritized operations, higher priorities run first.
    property : {'normal', 'prioritized', 'copy_from', 'copy_to', 'async', 'noskip'}
        The kind of queue. ``'async'``: starts in this thread if it need not wait, else before
        other operations that can start. ``'noskip'``: runs even if the computation of an input
        failed.
    context : Context, optional
        The device whose queues are used, by default the current one.

    Raises
    ------
    MXNetError
        With NaiveEngine, if the function fails.
    """
    caller = sys._getframe(1)
    place = f"{os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno}"
    context = context or current_context()
    if name is None:
        name = getattr(function, "__name__", type(function).__name__)
    profiled = _profiled_asynchronous if property == "async" else _profiled
    front.push(
        profiled(function, name),
        list(reads),
        list(writes),
        name,
        place,
        int(priority),
        property,
        context.device_typeid,
        context.device_id,
    )


def _profiled(function, name):
    """Wrap a function to report its calls to the profiler while that is active."""

    def run():
        began = _began()
        try:
            function()
        finally:
            _ended(_OPERATOR, name, began)

    return run


def _profiled_asynchronous(function, name):
    """Wrap an asynchronous function likewise."""

    def run(done):
        began = _began()

        def finish(*error):
            _ended(_ASYNC, name, began)
            done(*error)

        function(finish)

    return run


def _began():
    recorder = front.recorder
    return recorder.now() if recorder.bits() & IMPERATIVE else 0


def _ended(kind, name, began):
    recorder = front.recorder
    if began:
        recorder.add(recorder.source(kind, "operator", name), began, recorder.now())


def stats():
    """Settings and statistics of the engine.

    Returns
    -------
    dict
        `type`; thread counts of the queues: `workers` per CPU (alias `cpu0_workers`),
        `cpu_priority`, `gpu_workers`, `gpu_copy`, and `threads`, the number alive; numbers of
        operations `pushed`, `run` (of which `inline` in their callers), `skipped`, `failed` and
        `pending`; `bulks` and the operations `bulked` in them; unreported `errors`; and `queues`:
        for each in use its `threads` and the number of operations `run`.
    """
    figures = front.engine_stats()
    return {**figures, "cpu0_workers": figures["workers"]}
