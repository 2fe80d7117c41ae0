"""The trace file in Chrome's trace format, which Perfetto opens as well."""

import contextlib
import json
import os
import tempfile

from mxcy._base.files import replacing
from mxcy._library import front
from mxcy.base import MXNetError

__all__ = ["TraceFile"]

_CPU = {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "cpu/0"}}


class TraceFile:
    """A trace that is written to a temporary file next to the visible one.

    The visible file is always complete: it is replaced atomically. Only something other than a
    regular file, such as a pipe or ``os.devnull``, is written to directly.

    Parameters
    ----------
    path : str

    Raises
    ------
    MXNetError
        If no file can be written there.
    """

    def __init__(self, path):
        self._path = os.path.realpath(path)
        folder, name = os.path.split(self._path)
        self._special = os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
        if self._special:
            folder = tempfile.gettempdir()
        self._growing = os.path.join(folder, f".{name}.{os.getpid()}.part")
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC
        try:
            self._fd = os.open(self._growing, flags, 0o644)
        except OSError as error:
            raise MXNetError(f"profiler: filename={path!r}: {error.strerror}") from None
        self._fresh = True
        self._published = 0  # bytes of events in the visible file
        with self._writing():
            self._write(b'{"displayTimeUnit":"ms","traceEvents":[\n' + _text(_CPU))

    @contextlib.contextmanager
    def _writing(self):
        """Discard the temporary file if it cannot be written; the visible one is unchanged."""
        try:
            yield
        except (OSError, MXNetError) as error:
            self.abandon()
            raise MXNetError(f"profiler: filename={self._path!r}: {error}") from error

    def _write(self, content):
        while content:
            content = content[os.write(self._fd, content) :]

    def append(self):
        """Append newly recorded events."""
        fresh, self._fresh = self._fresh, False
        with self._writing():
            front.recorder.write(self._fd, fresh)

    def publish(self, dropped):
        """Update the visible file, including the number of dropped events."""
        import shutil  # slow to import

        size = os.fstat(self._fd).st_size
        if size == self._published:
            return
        try:
            with open(self._growing, "rb") as events, replacing(self._path) as file:
                shutil.copyfileobj(events, file)
                file.write(_end(dropped))
        except OSError as error:
            raise MXNetError(f"profiler: filename={self._path!r}: {error}") from error
        self._published = size

    def finish(self, dropped):
        """Replace the visible file, like `publish`, and close the trace."""
        if self._special:
            self.publish(dropped)
            self.abandon()
            return
        with self._writing():
            self._write(_end(dropped))
            os.replace(self._growing, self._path)
        os.close(self._fd)

    def abandon(self):
        """Close the trace and delete its file, if this process created it."""
        os.close(self._fd)
        if self._growing.endswith(f".{os.getpid()}.part"):
            with contextlib.suppress(FileNotFoundError):  # the folder may be gone too
                os.unlink(self._growing)


def _text(event):
    return json.dumps(event).encode()


def _end(dropped):
    about = {
        "ts is": "microseconds since the time below, which is in nanoseconds since 1970",
        "epoch": front.recorder.epoch(),
        "dropped events": dropped,
    }
    return b'\n],"otherData":' + _text(about) + b"}\n"
