"""Push and pull of all keys of a bucket as one operation of the engine."""

import threading
import time

from mxcy._library import front
from mxcy.context import cpu
from mxcy.dist.keys.pushes import BucketPush, failure_text
from mxcy.kvstore.engine_calls import complete, operation, window

__all__ = ["GroupCall"]


class GroupCall:
    """Sums the arrays of all keys of a bucket and copies the store's new values to others.

    Parameters
    ----------
    store : DistStore
    group : mxcy.kvstore.grouped.Group
    sources, targets : tuple
        See `Group.parts`; identical ones are summed in place.
    """

    def __init__(self, store, group, sources, targets):
        self._store, self._group = store, group
        here = targets is sources
        self._from, self._to = sources, targets
        self._sources, self._targets = sources[0], targets[0]
        self._in_place = here and group.large and store.updater is None and not store.elastic

    def push(self, priority):
        """Push the call to the engine."""
        store, group, bucket = self._store, self._group, self._group.bucket
        writes = [*self._targets, store.bucket_var(bucket), *group.used_alone()]
        reads = []
        if self._sources is not self._targets:
            written = {array.var for array in self._targets}
            reads = [array for array in self._sources if array.var not in written]
        copies = self._in_place and not bucket.fits_shared
        kept = group.shared[0].memory(self._targets[0]) if copies else None
        store.submit(bucket.slots[0], bucket.rounds)
        priority += group.priority
        # callbacks call operators only for updates and while autograd records
        plain = store.updater is None and not front.is_recording()
        caller = threading.get_ident() if plain else None
        operation(
            lambda done: self._start(done, priority, caller),
            reads,
            writes,
            group.name,
            "async",
            priority,
        )
        for array in self._targets:
            array.touch()
        if kept is not None:  # copy now: the program may modify the array next
            self._targets[0].copyto(kept)

    # -- once the arrays are ready ----------------------------------------------------------------

    def _start(self, completion, priority, caller):
        self._completion = completion
        here = threading.get_ident() == caller
        self._store.exchange.push_bucket(self._group.bucket, self._bucket_push, priority, here)

    def _bucket_push(self):
        source = None
        updated = self._group.bucket.updating is not None
        if len(self._sources) == 1 and (updated or self._sources is self._targets):
            source = window(self._sources[0]).numpy_view().reshape(-1)
        on_parts = self._take_parts if updated or self._store.updater is None else None
        return BucketPush(
            self._fill, source, self._on_done, time.monotonic(), self._in_place, on_parts
        )

    def _fill(self, buffer):
        self._group.fill(buffer, self._from)

    def _take_parts(self, starts, parts, last):
        """Results are in memory of all ranks: the targets get them before the store does."""
        bucket = self._group.bucket
        if bucket.updating is None and self._store.updater is not None:
            return  # updates are no longer sharded: these are sums
        if any(slot.failed for slot in bucket.slots):
            return
        self._group.spread_parts(starts, parts, self._to)
        if last:
            completion, self._completion = self._completion, None
            completion()

    def _on_done(self, error, sums, lease):
        """Handle the arrival of all sums or new values; on the progress thread."""
        updated = self._group.bucket.updating is not None
        if updated:
            failed = (slot.failed for slot in self._group.bucket.slots if slot.failed)
            error = error or next(failed, None)
        if error:
            self._completion(error)
        elif sums is None:
            self._take_values()
        elif self._store.updater is None or updated:
            if lease is None:  # summed in place: copy to the store
                self._store.replace(self._group.keys[0])
                self._completion()
                return
            latest = (sums, lease)
            for shared in self._group.shared:
                shared.latest = latest
            if self._completion is not None:
                self._group.spread(sums[:], self._to)
                self._completion()
        else:
            self._update(sums, lease)
            self._take_values()

    def _update(self, sums, lease):
        bucket = self._group.bucket
        start = sums.ctypes.data
        for key, slot, offset, array in zip(
            self._group.keys, bucket.slots, self._group.offsets, self._sources, strict=True
        ):
            place = start + offset
            total = front.from_memory(place, (sums, lease), slot.shape, array.dtype_code, cpu())
            try:
                self._store.updater(key, total, self._store.current(key))
            except Exception as error:
                slot.failed = f"key {key!r}, round {slot.rounds}: {failure_text(error)}"
                bucket.failures.append(slot)

    def _take_values(self):
        """Copy the store's values to the targets."""
        failed = [slot.failed for slot in self._group.bucket.slots if slot.failed]
        if failed:
            self._completion(failed[0])
            return
        targets = [window(array) for array in self._targets]
        for key, target in zip(self._group.keys, targets, strict=True):
            self._store.current(key).copyto(target)
        done = self._completion
        operation(lambda: complete(done, targets), targets, [], "KVStore.pushpull", "noskip")
