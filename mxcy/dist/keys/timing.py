"""Durations of sessions, the share hidden behind computation, and the progress log."""

import logging
import threading
import time

__all__ = ["Pace", "Timing"]


class Timing:
    """Accumulated durations of the sessions of a bucket.

    Attributes
    ----------
    seconds : float
        Total duration of sessions on this rank.
    hidden : float
        The part of it during which other threads of this process computed.
    held : float
        Total time between the first push of a session and its start.
    last : tuple of float
        Times of the first push, the start and the end of the last session.
    """

    def __init__(self):
        self.seconds = self.hidden = self.held = 0.0
        self.last = (0.0, 0.0, 0.0)
        self._computed, self._thread = 0.0, 0

    def begin(self, since):
        """Start a session whose first push came at time `since`."""
        now = time.monotonic()
        self.last = (since, now, now)
        self._computed, self._thread = _others(), threading.get_ident()

    def end(self):
        """End the session."""
        since, began, _ = self.last
        now = time.monotonic()
        self.last = (since, began, now)
        self.held += max(0.0, began - since)
        self.seconds += now - began
        if threading.get_ident() == self._thread:  # else the program's thread has begun it
            self.hidden += min(now - began, max(0.0, _others() - self._computed))

    @property
    def hidden_share(self):
        """The share of its time that was hidden behind computation."""
        return self.hidden / self.seconds if self.seconds else 1.0


def _others():
    """CPU seconds of the other threads of this process."""
    return time.process_time() - time.thread_time()


class Pace:
    """Logs the samples per second of all ranks and the share of communication, per interval.

    Parameters
    ----------
    progress : ProgressThread
    seconds : float
        The interval; 0: no lines.
    """

    def __init__(self, progress, seconds):
        self._progress, self._interval = progress, seconds
        self._samples = 0  # on this rank
        self._began = time.monotonic()
        self._reported = self._figures()
        self._others = {}  # rank -> report of its last interval

    def note(self, samples):
        """Count samples that this rank has processed."""
        self._samples += samples

    def add_report(self, rank, figures):
        """Note another rank's report."""
        self._others[rank] = figures

    def step(self, now):
        """Report to rank 0, or log, when due; on the progress thread."""
        if not self._interval or now - self._began < self._interval:
            return
        figures = self._figures()
        since = [new - old for new, old in zip(figures, self._reported, strict=True)]
        lasted = now - self._began
        rates = [since[0] / lasted, since[1] / lasted, *since[2:]]
        self._began, self._reported = now, figures
        if self._progress.world.rank:
            self._progress.control.to_one(0, "pace", figures=rates)
            return
        reports = [rates, *self._others.values()]
        samples, share, hidden, seconds = (sum(column) for column in zip(*reports, strict=True))
        logging.info(
            "%.1f samples/s of %d ranks, %.1f %% of the time in communication, "
            "%.1f %% of it hidden",
            samples,
            len(reports),
            100 * share / len(reports),
            100 * hidden / seconds if seconds else 0,
        )

    def _figures(self):
        timings = [timing for exchange in self._progress.exchanges for timing in exchange.timings()]
        hidden, seconds = (
            sum(timing.hidden for timing in timings),
            sum(timing.seconds for timing in timings),
        )
        return self._samples, self._progress.comm_seconds, hidden, seconds
