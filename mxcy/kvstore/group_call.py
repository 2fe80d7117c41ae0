"""Push and pull of all keys of a bucket as one operation of the engine.

`GroupCalls` runs few lines on the program's thread: after idle time the cores run cold, and each
line takes about a microsecond.
"""

import threading
import time

from mxcy._base.errors import caller as caller_of
from mxcy._library import front
from mxcy.context import cpu
from mxcy.dist.keys.pushes import BucketPush, failure_text
from mxcy.kvstore.engine_calls import DEVICE, complete, operation, window

__all__ = ["GroupCalls"]

_DEPTH = 1  # callers of `GroupCalls.push` that are known


class GroupCalls:
    """Calls that sum the arrays of all keys of a bucket and copy the store's new values to others.

    Parameters
    ----------
    store : DistStore
    group : mxcy.kvstore.grouped.Group
    """

    def __init__(self, store, group):
        self._store, self.group, self._bucket = store, group, group.bucket
        self._var, self._inbox = store.bucket_var(group.bucket), store.progress.inbox
        self._first = group.positions[0]
        self._may_replace = group.large and not store.elastic
        self._counts = store.elastic or store.arriving  # see `DistStore.submit`

    def push(self, values, outs, priority, wakes=True):
        """Push a call to the engine, if its arrays fit.

        Parameters
        ----------
        values, outs : list
            Arrays of all keys in the call of the store.
        priority : int
        wakes : bool
            Whether to wake the progress thread, which the caller does otherwise.

        Returns
        -------
        bool
            Whether they do.
        """
        store, group, bucket = self._store, self.group, self._bucket
        same = outs is values or (group.alone and outs[self._first] is values[self._first])
        sources = group.parts(values)
        targets = sources if same else group.parts(outs)
        if sources is None or targets is None:
            return False
        arrays = targets[0]
        reads = [] if same else _others(sources[0], arrays)
        writes = [*arrays, self._var]
        if not group.begun:
            writes += group.used_alone()
        sums = store.sums
        in_place = same and sums and self._may_replace
        kept = group.shared[0].memory(arrays[0]) if in_place and not bucket.fits_shared else None
        self._count()
        priority += group.priority
        # callbacks call operators only for updates and while autograd records
        plain = sums and not group.large and not front.is_recording()
        caller = threading.get_ident() if plain else None
        exchange, inbox = store.exchange, self._inbox
        late = wakes and not group.large  # whether the progress thread does not wake below

        def start(completion):
            def new_push():
                return GroupCall(store, group, sources, targets, in_place, completion).bucket_push()

            if plain and threading.get_ident() == caller:
                exchange.push_bucket(bucket, new_push, priority, True)
                return
            inbox.add(lambda: exchange.take_bucket(bucket, new_push(), priority))
            if late:
                inbox.wake.set()

        front.push(start, reads, writes, group.name, caller_of(_DEPTH), priority, "async", *DEVICE)
        late = True
        if wakes and group.large:  # earlier, it would compete with this thread
            inbox.wake.set()
        for array in arrays:
            array.touch()
        if kept is not None:  # copy now: the program may modify the array next
            arrays[0].copyto(kept)
        return True

    def _count(self):
        """Count this push of all keys of the bucket."""
        if self._counts:
            self._store.submit(self._bucket.slots[0], self._bucket.rounds)
        else:
            self._bucket.rounds.submitted += 1


def _others(arrays, written):
    """The arrays that are not written."""
    written = {array.var for array in written}
    return [array for array in arrays if array.var not in written]


class GroupCall:
    """A call whose arrays are ready.

    Parameters
    ----------
    store, group
        See `GroupCalls`.
    sources, targets : tuple
        See `Group.parts`.
    in_place : bool
        Whether the targets are the sources, and sums may replace what is in them at once.
    completion : callable
        Completes the operation.
    """

    def __init__(self, store, group, sources, targets, in_place, completion):
        self._store, self._group = store, group
        self._from, self._to = sources, targets
        self._sources, self._targets = sources[0], targets[0]
        self._in_place, self._completion = in_place, completion

    def bucket_push(self):
        """The push of all keys, see `BucketPush`."""
        source, alike = None, self._sources is self._targets
        if len(self._sources) == 1 and (alike or self._group.bucket.updating is not None):
            source = window(self._sources[0]).numpy_view().reshape(-1)
        return BucketPush(
            self._fill, source, self._on_done, time.monotonic(), self._arrays, self._in_place
        )

    def _fill(self, buffer):
        self._group.fill(buffer, self._from)

    def _arrays(self):
        takes = self._store.updater is None or self._group.bucket.updating is not None
        return self._group.arrays(self._from, self._to if takes else None)

    def _on_done(self, error, sums, lease, taken):
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
            if taken:
                self._completion()
            latest = (sums, lease)
            for shared in self._group.shared:
                shared.latest = latest
            if not taken:
                self._group.spread(sums, self._to)
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
