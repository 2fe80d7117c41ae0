"""The trace file: Chrome's trace format, which Perfetto opens as well."""

import json
import os
import shutil

from mxcy import _front
from mxcy.base import MXNetError

__all__ = ["TraceFile"]

_CPU = {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "cpu/0"}}


class TraceFile:
    """A trace that grows in a file beside the one that programs see.

    The visible file is always a whole one: it is replaced, never written to.

    Parameters
    ----------
    path : str

    Raises
    ------
    MXNetError
        When no file can be written there.
    """

    def __init__(self, path):
        self._path = os.path.abspath(path)
        folder, name = os.path.split(self._path)
        self._growing = os.path.join(folder, f".{name}.{os.getpid()}.part")
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC
        try:
            self._fd = os.open(self._growing, flags, 0o644)
        except OSError as error:
            raise MXNetError(f"profiler: filename={path!r}: {error.strerror}") from None
        self._fresh = True
        self._published = 0  # bytes of events in the visible file
        os.write(self._fd, b'{"displayTimeUnit":"ms","traceEvents":[\n' + _text(_CPU))

    def append(self):
        """Take in what was recorded since the last time."""
        fresh, self._fresh = self._fresh, False
        _front.recorder.write(self._fd, fresh)

    def publish(self, dropped):
        """Bring the visible file up to date, which tells how many events were dropped."""
        size = os.fstat(self._fd).st_size
        if size == self._published:
            return
        whole = f"{self._growing}.whole"
        shutil.copyfile(self._growing, whole)
        with open(whole, "ab") as file:
            file.write(_end(dropped))
        os.replace(whole, self._path)
        self._published = size

    def finish(self, dropped):
        """Make it the visible file, as `publish` does, and close it."""
        os.write(self._fd, _end(dropped))
        os.close(self._fd)
        os.replace(self._growing, self._path)

    def abandon(self):
        """Close it and leave no trace of it, if this process made it."""
        os.close(self._fd)
        if self._growing.endswith(f".{os.getpid()}.part"):
            os.unlink(self._growing)


def _text(event):
    return json.dumps(event).encode()


def _end(dropped):
    about = {
        "ts is": "microseconds since the time below, which is in nanoseconds since 1970",
        "epoch": _front.recorder.epoch(),
        "dropped events": dropped,
    }
    return b'\n],"otherData":' + _text(about) + b"}\n"
