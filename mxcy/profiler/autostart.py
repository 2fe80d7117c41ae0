"""MXNET_PROFILER_AUTOSTART=1: importing this module starts the profiler, which dumps at exit."""

import os
import signal
import threading

from mxcy import env
from mxcy.profiler.session import session

__all__ = []


def _terminated(number, frame):
    """Write the file upon SIGTERM."""
    session.finish()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if not env.is_set("MXNET_PROFILER_MODE"):
    session.record_everything()
session.set_running(True)
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
):
    signal.signal(signal.SIGTERM, _terminated)
