"""How a process of a job ends: with a goodbye that all wait for, or at once after an error.

MPI is told to leave only after a good end. A process that ends without it makes the process manager
end the others, so none of them waits for ever.
"""

import atexit
import sys
import traceback
import weakref

__all__ = ["before_close", "watch"]


class _Ending:
    """Whether the program has failed, and what is to be done before a good end."""

    def __init__(self):
        self.failed = False
        self.progress = None
        self.before = []


_ending = _Ending()


class _Exit(SystemExit):
    """An exit of which is known whether anybody caught it; SystemExit takes no weak references."""


def before_close(function):
    """Have a function called at a good end, once, before the goodbye."""
    if function not in _ending.before:
        _ending.before.append(function)


def watch(progress):
    """Close a progress thread when the program ends well, and do not when it fails.

    Parameters
    ----------
    progress : ProgressThread
    """
    _ending.progress = progress
    sys.excepthook = _noting(sys.excepthook)
    sys.exit = _exiting(sys.exit)
    atexit.register(_close)


def _noting(hook):
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
    """An exit has gone: caught by a frame of the program, or by nobody."""
    caller = sys._getframe(1)
    while caller is not None and caller.f_globals.get("__name__") == "weakref":
        caller = caller.f_back
    if caller is None:
        _ending.failed = True


def _close():
    if _ending.failed:
        _ending.progress.announce_failure()
        _ending.progress.give_up("the program has failed")
        return  # the process manager ends the others
    for function in _ending.before:
        try:
            function()
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            return
    _ending.progress.close()
