"""Profiler lanes that show buckets waiting for keys and being communicated."""

import time

from mxcy._library import front

__all__ = ["Lanes"]

_ASYNC = 6  # event type for asynchronous (non-nested) events, see mxcy_profiler.h


class Lanes:
    """Profiler lanes of a store's buckets."""

    def __init__(self):
        self._sources = {}  # bucket -> sources of the two lanes: waiting and communication

    def trace(self, bucket):
        """Record a bucket's session."""
        recorder = front.recorder
        if not recorder.bits():
            return
        if bucket not in self._sources:
            others = len(bucket.slots) - 1
            name = f"bucket of {bucket.slots[0].key!r} and {others} others"
            arguments = f'"bytes": {bucket.length * bucket.dtype.itemsize}'
            self._sources[bucket] = [
                recorder.source(_ASYNC, "kvstore", f"{name}: {what}", arguments)
                for what in ("waits for keys", "travels")
            ]
        earlier = recorder.now() - int(time.monotonic() * 1e9)
        times = [int(moment * 1e9) + earlier for moment in bucket.timing.last]
        for source, begin, end in zip(self._sources[bucket], times, times[1:], strict=False):
            recorder.add(source, begin, max(begin, end))
