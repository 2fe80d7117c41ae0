"""`mx.engine`: the dependency engine as programs see it.

Operations run on worker threads, those that use the same arrays in the order of their calls. What
fails there is raised by the waits for what should have been computed.
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

# Kinds of sources in mxcy_profiler.h.
_OPERATOR, _ASYNC = 0, 6


def set_bulk_size(size):
    """Set how many operations of this thread may be queued as one.

    Parameters
    ----------
    size : int
        0 queues each for itself. Operations wait for their bulk to be full, or for any wait.

    Returns
    -------
    int
        The size before.
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
    """A scope in which up to `size` operations may be queued as one."""
    return _BulkScope(size)


def waitall():
    """Wait until everything that was called is computed.

    Raises
    ------
    MXNetError
        The first error that no wait has raised yet; all others are forgotten, but arrays that were
        not computed keep theirs until they are written again.
    """
    front.wait_all()


def push(function, reads=(), writes=(), name=None, priority=0, property="normal", context=None):
    """Have a function called as soon as those before it that use the same variables are done.

    Parameters
    ----------
    function : callable
        Called without arguments on a worker thread, or with property ``'async'`` with a function
        to call when its work is done; that takes the text of an error, or nothing. An exception is
        raised by waits for what is written. It may use what it reads and writes, not wait for more.
    reads, writes : sequence of NDArray and Var
    name : str, optional
        What the operation is called in errors; default: the function's name.
    priority : int
        Prioritized operations with larger numbers run first.
    property : {'normal', 'prioritized', 'copy_from', 'copy_to', 'async', 'noskip'}
        The kind of queue; ``'async'``: starts in this thread if nothing has to be waited for;
        ``'noskip'``: also called when something it reads could not be computed.
    context : Context, optional
        The device whose queues it goes to; default: the current one.

    Raises
    ------
    MXNetError
        With NaiveEngine, when the function fails.
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
    """A function of which the profiler is told, if it listens when the function is called."""

    def run():
        began = _began()
        try:
            function()
        finally:
            _ended(_OPERATOR, name, began)

    return run


def _profiled_asynchronous(function, name):
    """The same for a function that calls back when its work is done."""

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
    """Settings and figures of the engine.

    Returns
    -------
    dict
        `type`; the threads of queues: `workers` of each CPU's (`cpu0_workers` is another name of
        it), `cpu_priority`, `gpu_workers`, `gpu_copy`, and `threads`, those alive; operations
        `pushed`, `run` (of those `inline`, in their callers), `skipped`, `failed`, `pending`;
        `bulks` and the operations `bulked` in them; `errors` that nobody was told of; and `queues`:
        for each in use its `threads` and the operations it has `run`.
    """
    figures = front.engine_stats()
    return {**figures, "cpu0_workers": figures["workers"]}
