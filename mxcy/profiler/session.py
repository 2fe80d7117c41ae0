"""The profiler session of this process: configuration, state and file output."""

import atexit
import os
import threading
import time
import warnings

from mxcy import env
from mxcy._base.suggestions import did_you_mean
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.profiler import tables
from mxcy.profiler.memory import write_allocations
from mxcy.profiler.scopes import MEMORY
from mxcy.profiler.trace import TraceFile

__all__ = ["Session", "session"]

# Option -> flag of mxcy_profiler.h.
BITS = {"profile_symbolic": 1, "profile_imperative": 2, "profile_api": 4, "profile_memory": MEMORY}
_RUNNING = 16
_PUBLISHING = 0.1  # maximum fraction of run time spent on updating files


def _boolean(value):
    return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]


#: option of `set_config` -> (description of its type, parser, default)
OPTIONS = {
    "profile_all": ("boolean", _boolean, False),
    "profile_symbolic": ("boolean", _boolean, True),
    "profile_imperative": ("boolean", _boolean, True),
    "profile_memory": ("boolean", _boolean, True),
    "profile_api": ("boolean", _boolean, True),
    "filename": ("string", str, "profile.json"),
    "gpu_memory_profile_filename_prefix": ("string", str, ""),
    "continuous_dump": ("boolean", _boolean, True),
    "dump_period": ("float", float, 1.0),
    "aggregate_stats": ("boolean", _boolean, False),
    "profile_process": ("'worker' or 'server'", str, "worker"),
    "max_events": ("int", int, 8_000_000),
}


class Session:
    """Configuration and state; all methods may be called from any thread."""

    def __init__(self):
        self._lock = threading.RLock()
        self._options = {name: default for name, (_, _, default) in OPTIONS.items()}
        self._bits = env.get("MXNET_PROFILER_MODE")
        self._running = self._paused = False
        self._unsaved = False  # whether it ran since the last dump
        self._dropped = 0  # dropped events before the current file
        self._trace = self._thread = None
        self._wake = threading.Event()

    def configure(self, settings):
        """Set options; others are reset to their defaults.

        Raises
        ------
        MXNetError
            For an unknown option or a value of the wrong type.
        """
        options = {name: default for name, (_, _, default) in OPTIONS.items()}
        for name, value in settings.items():
            if name not in OPTIONS:
                known = ", ".join(OPTIONS)
                near = did_you_mean(name, OPTIONS)
                raise MXNetError(f"profiler: unknown option {name!r}, expected {known}{near}")
            kind, read, _ = OPTIONS[name]
            try:
                options[name] = read(value)
            except (KeyError, ValueError):
                raise MXNetError(f"profiler: {name}: expected {kind}, got {value!r}") from None
        everything = options["profile_all"]
        bits = sum(bit for name, bit in BITS.items() if everything or options[name])
        with self._lock:
            if options["aggregate_stats"] and not self._options["aggregate_stats"]:
                front.recorder.count(False)  # discard events not requested so far
            self._drop_trace()
            front.recorder.write(-1, True)
            if os.path.isfile(options["filename"]):
                os.unlink(options["filename"])
            self._options, self._bits = options, bits
            self._wake.set()
            front.recorder.set_limit(options["max_events"])
            self._apply()

    def record_everything(self):
        """Record all kinds of events, regardless of the configuration."""
        self._bits = sum(BITS.values())

    def set_running(self, running):
        """Start or stop."""
        with self._lock:
            self._running = running
            self._apply()
            if running:
                if not self._unsaved:
                    self._dropped = front.recorder.dropped()
                self._unsaved = True
                if self._options["continuous_dump"]:
                    self._start_thread()

    def set_paused(self, paused):
        """Suspend or resume recording."""
        with self._lock:
            self._paused = paused
            self._apply()

    def _apply(self):
        bits = 0
        if self._running:
            # Memory is tracked during pauses as well, so that live allocations are known.
            bits = self._bits & MEMORY if self._paused else self._bits | _RUNNING
        front.recorder.set_bits(bits)
        # Statistics are per operation.
        front.allow_bulk(not (self._running and self._options["aggregate_stats"]))

    # --- files ---
    def dump(self, finished=True):
        """Write the trace and, if configured, the list of allocations.

        Raises
        ------
        MXNetError
            If the profiler has not run since the last dump, or a file cannot be written.
        """
        with self._lock:
            if not self._unsaved:
                raise MXNetError(
                    "profiler: nothing to dump, it has not run since the last dump: "
                    "set_state('run') starts it"
                )
            if finished:
                self._running = self._unsaved = False
                self._apply()
            self._append()
            trace = self._trace
            dropped = front.recorder.dropped() - self._dropped
            if finished:
                self._trace = None
                trace.finish(dropped)
            else:
                trace.publish(dropped)
            prefix = self._options["gpu_memory_profile_filename_prefix"]
            if prefix:
                write_allocations(prefix)
            if dropped:
                warnings.warn(
                    f"the profiler dropped {dropped} events: more than "
                    f"max_events={self._options['max_events']} waited to be written",
                    stacklevel=3,
                )

    def publish(self):
        """Write all events so far to the file, which is not final."""
        if self._unsaved:
            self.dump(False)

    def finish(self):
        """Write unwritten events at exit."""
        if self._unsaved:
            self.dump()

    def finish_all(self):
        """Run `finish` after all pending operations."""
        if self._running:
            front.settle_all()
        self.finish()

    def _append(self):
        """Move recorded events to the statistics and the trace."""
        front.recorder.count(self._options["aggregate_stats"])
        trace, self._trace = self._trace, None
        if trace is None:
            trace = TraceFile(self._options["filename"])
        trace.append()
        self._trace = trace  # dropped if it cannot be written

    def _drop_trace(self):
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.abandon()

    def _start_thread(self):
        if self._thread is None:
            self._thread = threading.Thread(target=self._publish, name="mx-profiler", daemon=True)
            self._thread.start()

    def _publish(self):
        """Keep the visible file up to date while the profiler runs."""
        pause = 0.0
        while True:
            changed = self._wake.wait(pause)  # options may have changed
            began = time.perf_counter()
            with self._lock:
                self._wake.clear()
                if not self._unsaved or not self._options["continuous_dump"]:
                    self._thread = None
                    return
                if not changed:
                    try:
                        self._append()
                        self._trace.publish(front.recorder.dropped() - self._dropped)
                    except (MXNetError, OSError) as error:
                        self._thread = None
                        warnings.warn(f"the profiler stops writing: {error}", stacklevel=1)
                        return
                period = self._options["dump_period"]
            pause = max(period, (time.perf_counter() - began) / _PUBLISHING)

    # --- statistics ---
    def statistics(self, reset, text, sort_by, ascending):
        """Format the statistics by `text`; "" if they are not kept."""
        with self._lock:
            if not self._options["aggregate_stats"]:
                return ""
            front.recorder.count(True)
            report = text(tables.grouped(front.recorder.stats(), sort_by, ascending))
            if reset:
                front.recorder.reset()
            # Unwritten events would eventually be dropped.
            if self._unsaved and front.recorder.waiting() > self._options["max_events"] // 2:
                self._append()
            return report

    def forget(self):
        """Reset after a fork: recording is off, and the files belong to the parent."""
        trace = self._trace
        self.__init__()
        if trace is not None:
            trace.abandon()


session = Session()
atexit.register(session.finish_all)
os.register_at_fork(after_in_child=session.forget)
