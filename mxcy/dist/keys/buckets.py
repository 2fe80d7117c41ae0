"""Buckets: groups of keys that are all-reduced together, in sessions.

A bucket has a channel of its own, on which collectives match in order. Each all-reduce is a
session: a rank enters it when all keys of the bucket have been pushed, or when it waits for one of
them. The session also determines which keys all ranks have pushed; pushes of other keys are kept
for the next session. So no rank waits for keys that another pushes later or in another order.
"""

import numpy as np

from mxcy.dist.keys.mirrors import update_mirrored
from mxcy.dist.keys.ownership import Ownership, update_shares
from mxcy.dist.keys.pushes import KeyArrays, Lease, Rounds, failure_text
from mxcy.dist.keys.shared_memory import fits
from mxcy.dist.keys.timing import Timing
from mxcy.dist.keys.values import ValuesInSharedMemory

__all__ = ["Bucket"]

#: up to this size, the all-reduce itself counts the ranks that have pushed each key
_COUNTED_BYTES = 65536
_SHARED_BYTES = 1 << 16  # from this size on, shared memory is used: smaller sums are latency-bound
#: seconds after the last push until a partly pushed bucket starts: if the program has submitted
#: nothing more, and in any case
_FLUSH_SECONDS, _LOSE_HOPE_SECONDS = 1e-3, 20e-3


class Bucket:
    """Keys of one dtype on one channel.

    Parameters
    ----------
    slots : list of Slot
    channel : channel of a `World`
    size : int
        Number of ranks.
    reduction : AllReduce or CompressedAllReduce
        How arrays are all-reduced.

    Attributes
    ----------
    length, nbytes : int
        Elements and bytes of all keys.
    updating : object or None
        Performs sharded updates, if this bucket has them; see `Exchange.share_updates`.
    fits_shared : bool
        Whether all ranks share memory for sums of all keys; see `look_at_memory`.
    values : ValuesInSharedMemory
        Sums, or weights after such updates, that are kept there.
    """

    def __init__(self, slots, channel, size, reduction):
        self.slots, self.channel, self._ranks, self._reduction = slots, channel, size, reduction
        self.dtype = slots[0].dtype
        start = 0
        for slot in slots:
            slot.span = slice(start, start + slot.size)
            slot.place = reduction.place(start, slot.size)
            start += reduction.padded(slot.size)
        self.length, self.nbytes = start, start * self.dtype.itemsize
        counts = reduction.exact and self.dtype.char in "fdlq" and self.nbytes <= _COUNTED_BYTES
        self._counted = len(slots) > 1 and counts
        large = self.nbytes >= _SHARED_BYTES
        self._suits_shared = large and reduction.exact and not self._counted
        self.fits_shared = False
        self._starts = np.array([*(slot.span.start for slot in slots), start], np.int64)
        self.updating = self.ownership = self.mirrors = None
        self.pending_update = None  # PendingUpdate or None: of a session in an elastic job
        self._send_buffer, self._packed = None, False  # whether it has what `bucket_push` pushes
        self.values = ValuesInSharedMemory(self, lambda: self._leased(self.length))
        self._filled_keys = 0  # slots with something to send
        self._free = []
        self._session = self._aborted = None
        self.bucket_push = None
        self.rounds = Rounds()
        self.timing = Timing()
        self.check = None  # generator function that runs before delivery
        self._since = 0.0  # time of the first push of the next session
        self._last_push = self._not_before = 0.0
        self.sessions = self.bytes = 0
        self.completed = 0  # sessions
        self.keeps, self.kept = False, None  # elastic jobs: keep the last sums, for other ranks
        self.factor = 1.0  # of sums; see `Membership`
        self.wanted = 0  # sessions to which this rank, having joined, contributes zeros
        self.failures = []  # slots whose delivery has failed
        self.priority = 0
        for slot in slots:
            slot.bucket = self  # last: other threads read it at any time

    @property
    def counted(self):
        """bool: whether sums include the number of ranks that have pushed each key."""
        return self._counted

    @property
    def committed(self):
        """int: sessions that this rank has completed, or updated by: others complete them, too."""
        pending = self.pending_update
        return self.completed + (pending is not None and pending.done)

    def share_updates(self, updating, mirrors=None):
        """Shard updates from the next session on; None: do not; in elastic jobs, with mirrors."""
        self.updating, self.mirrors = updating, mirrors
        self.ownership = Ownership(self.slots, self._ranks) if updating else None
        self.values.reset()

    @property
    def in_flight(self):
        """bool: whether a session is in flight."""
        return self._session is not None

    @property
    def pending(self):
        """bool: whether pushes wait for a session, of this rank or of others."""
        return self._filled_keys > 0 or self.wanted > self.sessions

    def _buffer(self):
        if self._free:
            return self._free.pop()
        counts = len(self.slots) if self._counted else 0
        return self._reduction.memory(self.length + counts, self.dtype)

    def _prepare_send_buffer(self):
        """Have a buffer for pushes."""
        if self._send_buffer is None:
            buffer = self._reduction.send_memory(self.length, self.dtype)
            self._send_buffer = self._buffer() if buffer is None else buffer

    def look_at_memory(self):
        """Find out whether all ranks share memory for sums of all keys."""
        self.fits_shared = self._suits_shared and fits(self.channel, self.nbytes)

    def _pack_push(self):
        """Have what a push to all keys contributes in the send buffer."""
        if not self._packed:
            self._prepare_send_buffer()
            self.bucket_push.fill(self._send_buffer)
            self._packed = True

    def push_bucket(self, push, now, priority=0):
        """Take a push to all keys; nothing else is pushed before its `on_done` is called.

        Parameters
        ----------
        push : BucketPush
        now : float
        priority : int
        """
        self.rounds.pushes += 1
        idle = not self._filled_keys and self._session is None
        alone = idle and not any(slot.failed for slot in self.slots)
        self._since = self._since or push.since
        self.bucket_push, self._last_push = push, now
        self.priority = max(self.priority, priority)
        if alone:
            self._filled_keys, self._packed = len(self.slots), False
            return
        self.rounds.pushes -= 1
        self.rounds.submitted -= 1
        self.bucket_push = None
        separate = np.empty(self.length, self.dtype)
        push.fill(separate)
        for slot in self.slots:
            slot.submitted += 1
            self.push(slot, separate[slot.span].reshape(slot.shape), now, priority)
        push.await_keys(self.slots)

    def split_push(self):
        """Turn a push to all keys into pushes of single keys."""
        if self.bucket_push is None:
            return
        self._pack_push()
        push, self.bucket_push = self.bucket_push, None
        self.rounds.pushes -= 1
        self.rounds.submitted -= 1
        for slot in self.slots:
            slot.inputs.append(self._send_buffer[slot.place])
            slot.submitted += 1
            slot.pushes += 1
        push.await_keys(self.slots)

    def push(self, slot, array, now, priority=0):
        """Copy an array that is pushed to a key."""
        self._prepare_send_buffer()
        self._filled_keys += not slot.inputs
        self._since = self._since or now
        if slot.inputs or self._session is not None:
            slot.inputs.append(np.array(array).reshape(-1))
        else:
            own = self._send_buffer[slot.place]
            np.copyto(own.reshape(array.shape), array)
            slot.inputs.append(own)
        slot.pushes += 1
        self._last_push = now
        self.priority = max(self.priority, priority)

    def ready(self, now, closing=False):
        """Whether this rank should enter a session now."""
        if self._session is not None or now < self._not_before:
            return False
        if self.wanted > self.sessions and not self._filled_keys:
            return True
        if self._filled_keys == len(self.slots) or closing:
            return self._filled_keys > 0
        if not self._filled_keys or now - self._last_push < _FLUSH_SECONDS:
            return False
        if now - self._last_push >= _LOSE_HOPE_SECONDS:
            return True  # the pushes still to come may depend on these sums
        return all(slot.inputs or slot.complete for slot in self.slots)

    def start(self):
        """Enter a session with what has been pushed."""
        self.timing.begin(self._since)
        self._since = 0.0
        self._session = self._run()
        self._request = next(self._session)
        self.priority = 0
        self.sessions += 1

    def can_advance(self):
        """Whether the request that the session waits for is done."""
        return self._request.done()

    def advance(self, now):
        """Advance the session.

        Returns
        -------
        bool
            Whether it has advanced.
        """
        if not self.can_advance():
            return False
        try:
            self._request = self._session.send(now)
        except StopIteration:
            self._finish()
        return True

    def _finish(self):
        self._session = self.pending_update = None
        self.completed += 1
        self.timing.end()

    # -- failures of ranks -------------------------------------------------------------------------

    def abort(self, ranks):
        """Undo the session in flight and continue with `ranks` ranks."""
        self._aborted = self._session or self._aborted
        self._session, self._ranks = None, ranks
        self.values.reset()
        self.sessions, self._not_before = self.completed, 0.0

    def adopt(self, numbers, complete, sums):
        """Complete the aborted session with the results of ranks that had completed it."""
        agreed = [self.slots[number] for number in numbers]
        self.kept = numbers, complete, sums
        if agreed and len(agreed) == len(self.slots) and self.bucket_push is not None:
            self._deliver_whole(sums, sums, False)
        else:
            self.split_push()
            self._deliver(agreed, sums, None, complete)
        self.sessions += 1
        self._finish()

    def _run(self):
        absent = not self._filled_keys  # joined: contributes zeros to all keys
        all_keys = self.bucket_push is not None or absent
        if absent:
            self._prepare_send_buffer()
            self._send_buffer[...] = 0
        elif not all_keys:
            self._pack()
        agreed = self.slots if all_keys else [slot for slot in self.slots if slot.inputs]
        if len(self.slots) > 1 and not self._counted:
            if self.bucket_push is None:  # else values are dropped if all ranks push all keys
                self.values.keep()
            agreed = yield from self._agree(all_keys)
            if not agreed:
                self.kept = [], False, None
                return
        complete = len(agreed) == len(self.slots)
        if not complete:
            self.split_push()
        if self.updating is not None:
            yield from self._update(agreed, complete)
            return
        if self.check is not None and not self._counted:
            yield from self.check(self, agreed)
        if complete and self.fits_shared:
            yield from self._sum_in_shared_memory()
            return
        self.values.keep()
        source, sums, lease = self._operands(agreed, complete, all_keys)
        now = yield from self._reduction.all_reduce(self.channel, source, sums)
        self.bytes += source.nbytes
        if self.factor != 1.0 and self.dtype.kind == "f":
            sums[: self.length] *= self.dtype.type(self.factor)
        if self._counted:
            agreed = self._slots_of_all(sums[self.length :] == self._ranks, now)
            if agreed and self.check is not None:
                yield from self.check(self, agreed)
            complete = True  # sums have the layout of the whole bucket
        if sums is self._send_buffer:  # later pushes fill another buffer
            self._send_buffer, lease = None, Lease(self._free, sums)
        self._deliver_results(agreed, sums, lease, complete)

    def _sum_in_shared_memory(self):
        """The rest of a session without updates of all keys."""
        arrays = self._arrays()
        taken = arrays.targets is not None
        if taken:
            yield from self.values.sum(arrays)
            sums = lease = self.values.keep_shared()
        else:
            sums, lease = self._leased(self.length)
            yield from self.values.sum(arrays._replace(targets=self._addresses(sums)))
        self.bytes += self.nbytes
        self._deliver_results(self.slots, sums, lease, True, taken)

    def _arrays(self):
        """The `KeyArrays` of all keys."""
        if self.bucket_push is not None:
            return self.bucket_push.arrays()
        own = self._send_buffer
        return KeyArrays(self._starts, self._addresses(own), None, own)

    def _addresses(self, array):
        """The addresses of all keys in an array."""
        return array.ctypes.data + self._starts[:-1] * array.itemsize

    def _source(self, agreed, complete):
        """An array of what this rank contributes to some or all keys."""
        if self.bucket_push is not None:
            if self.bucket_push.source is not None and not self._counted:
                return self.bucket_push.source
            self._pack_push()
        if complete or self._counted:
            return self._send_buffer
        return np.concatenate([self._send_buffer[slot.place] for slot in agreed])

    def _agree(self, all_keys):
        """Return the slots that all ranks have pushed."""
        pushed = np.ones(len(self.slots), np.uint8)
        if not all_keys:
            pushed[:] = [bool(slot.inputs) for slot in self.slots]
        by_all = np.empty_like(pushed)
        now = yield self.channel.all_reduce_min(pushed, by_all)
        return self._slots_of_all(by_all, now)

    def _slots_of_all(self, pushed_by_all, now):
        """Return the slots with a nonzero flag; if there are none, the next flush is delayed."""
        if pushed_by_all.all():
            return self.slots
        agreed = [slot for slot, flag in zip(self.slots, pushed_by_all, strict=True) if flag]
        if not agreed:
            self._not_before = now + _FLUSH_SECONDS
        return agreed

    def _update(self, agreed, complete):
        """The rest of a session with sharded updates."""
        if self.check is not None:
            yield from self.check(self, agreed)
        taken = False
        if complete and self.fits_shared and self.mirrors is None:
            arrays, (sums, place) = self._arrays(), self._leased(self.length)
            yield from self.values.update(arrays, sums)
            taken = arrays.targets is not None
            values = lease = self.values.keep_shared()
        else:
            self.values.keep()
            source = self._source(agreed, complete)
            (sums, place), (values, lease) = self._leased(source.size), self._leased(source.size)
            update = update_shares if self.mirrors is None else update_mirrored
            yield from update(self, agreed, source, (sums, values))
        del place
        self.bytes += sums.nbytes
        self._deliver_results(agreed, values, lease, complete, taken)

    def _deliver_results(self, agreed, values, lease, complete, taken=False):
        if self.keeps:
            self.kept = [self.slots.index(slot) for slot in agreed], complete, values, lease
        if len(agreed) == len(self.slots) and self.bucket_push is not None:
            self._deliver_whole(values, lease, taken)
            return
        self.split_push()
        self._deliver(agreed, values, lease, complete)

    def _pack(self):
        """Copy the first waiting push of each key to the send buffer."""
        self._prepare_send_buffer()
        for slot in self.slots:
            own = self._send_buffer[slot.place]
            if slot.inputs and not np.may_share_memory(slot.inputs[0], own):
                np.copyto(own, slot.inputs[0])
                slot.inputs[0] = own

    def _operands(self, agreed, complete, all_keys):
        """The arrays to send and to receive sums, and the lease of the latter.

        They are the same array unless the input may be needed again: in elastic jobs, for counts,
        and where the program's own array is sent.
        """
        push, source = self.bucket_push, self._source(agreed, complete)
        if self._counted:
            for i, slot in enumerate(self.slots):
                source[self.length + i] = all_keys or bool(slot.inputs)
            return source, *self._leased(source.size)
        if not complete:
            return source, *self._leased(sum(self._reduction.padded(one.size) for one in agreed))
        replaces = source is self._send_buffer and self._reduction.exact
        replaces |= push is not None and push.source is source and push.in_place
        if replaces and not self.keeps:
            return source, source, None
        return source, *self._leased(self.length)

    def _leased(self, length):
        """A buffer of that many elements, and its lease."""
        buffer = self._buffer()
        return buffer[:length], Lease(self._free, buffer)

    def _deliver_whole(self, sums, lease, taken):
        push, self.bucket_push = self.bucket_push, None
        self._filled_keys = 0
        self.rounds.sums += 1
        push.on_done(None, sums, lease, taken)

    def _deliver(self, agreed, target, lease, complete):
        start = 0
        for slot in agreed:
            place = slot.span if complete else slice(start, start + slot.size)
            start += self._reduction.padded(slot.size)
            if slot.inputs:
                slot.inputs.popleft()
                self._filled_keys -= not slot.inputs
            else:  # this rank has joined: its program waits in join()
                slot.submitted += 1
                slot.pushes += 1
            try:
                slot.deliver(target[place].reshape(slot.shape), lease)
            except Exception as error:  # in a user's updater
                slot.failed = f"key {slot.key!r}, round {slot.rounds + 1}: {failure_text(error)}"
                self.failures.append(slot)
            slot.sums += 1
            slot.complete_pulls()
