"""Shutdown of a job's process: a collective goodbye after success, an immediate end after an error.

MPI is finalized only after success. A process that ends without that makes the process manager end
the others, so none of them hangs.
"""

import atexit
import sys
import traceback
import weakref

__all__ = ["before_close", "watch"]


class _Ending:
    """Whether the program has failed, and what to call before a normal end."""

    def __init__(self):
        self.failed = False
        self.progress = None
        self.before = []


_ending = _Ending()


class _Exit(SystemExit):
    """A SystemExit that takes weak references, which show whether it was caught."""


def before_close(function):
    """Call a function once at a normal end, before the goodbye."""
    if function not in _ending.before:
        _ending.before.append(function)


def watch(progress):
    """Close a progress thread at exit, unless the program fails.

    Parameters
    ----------
    progress : ProgressThread
    """
    _ending.progress = progress
    sys.excepthook = _marking_failure(sys.excepthook)
    sys.exit = _exiting(sys.exit)
    atexit.register(_close)


def _marking_failure(hook):
    def excepthook(kind, error, trace):
        _ending.failed = True
        hook(kind, error, trace)
        sys.stderr.flush()

    return excepthook


def _exiting(leave):
    def exit(status=None, /):
        if status is None or status == 0:
            leave(status)
        error = _Exit(status)
        weakref.finalize(error, _forgotten).atexit = False
        raise error

    exit.__doc__ = leave.__doc__
    return exit


def _forgotten():
    """An exit was collected: by a frame of the program that caught it, or by none."""
    caller = sys._getframe(1)
    while caller is not None and caller.f_globals.get("__name__") == "weakref":
        caller = caller.f_back
    if caller is None:
        _ending.failed = True


def _close():
    if _ending.failed:
        _ending.progress.announce_failure()
        _ending.progress.abort("the program has failed")
        return  # the process manager ends the others
    for function in _ending.before:
        try:
            function()
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            return
    _ending.progress.close()
