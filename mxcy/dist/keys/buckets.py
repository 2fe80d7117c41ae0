"""Buckets: keys that travel together, and the calls by which their sums are made.

A bucket belongs to one channel, on which the processes' calls meet in order. Each call is a
session: a process joins when all keys of the bucket have been pushed, or when somebody waits for
one of them. Which keys have been pushed everywhere is part of the session: the others keep what
was pushed for the next one. So no process waits for keys that another pushes later, or in another
order.
"""

import numpy as np

from mxcy.dist.keys.ownership import Ownership, update_shares
from mxcy.dist.keys.pushes import Lease, Rounds, failure_text
from mxcy.dist.keys.timing import Timing

__all__ = ["Bucket"]

#: buckets of at most so many bytes count who has pushed a key in the same call that adds up
_COUNTED_BYTES = 65536
#: after the last push to a bucket that others of its keys have not got: it goes if nothing more has
#: been called for, or anyway
_FLUSH_SECONDS, _LOSE_HOPE_SECONDS = 1e-3, 20e-3


class Bucket:
    """Keys of one dtype on one channel.

    Parameters
    ----------
    slots : list of Slot
    channel : channel of a `World`
    size : int
        How many processes there are.
    way : WholeSum or CompressedSum
        How sums are made.

    Attributes
    ----------
    updating : object or None
        What changes values where each process does that for its share, and all get new values
        instead of sums; see `Exchange.share_updates`.
    """

    def __init__(self, slots, channel, size, way):
        self.slots, self.channel, self._ranks, self._way = slots, channel, size, way
        self.dtype = slots[0].dtype
        start = 0
        for slot in slots:
            slot.place = slice(start, start + slot.size)
            start += slot.size
        self.length = start
        counts = (
            way.exact
            and self.dtype.char in "fdlq"
            and start * self.dtype.itemsize <= _COUNTED_BYTES
        )
        self._counted = len(slots) > 1 and counts
        self.updating = self.ownership = self._rank = None
        self._filling = None
        self._filled = 0  # slots with something to send
        self._free = []
        self._session = None
        self.whole = None
        self.rounds = Rounds()
        self.timing = Timing()
        self.check = None  # a generator function, run before keys are delivered
        self._since = 0.0  # when the first push of the next session came
        self._last_push = self._not_before = 0.0
        self.sessions = self.bytes = 0
        self.completed = 0  # sessions
        self.keeps, self.kept = False, None  # whether sums are kept for others, and the last one
        self.factor = 1.0  # of sums, which fewer processes make than there were
        self.wanted = 0  # sessions of others in which this process takes part with nothing
        self.failures = []  # slots whose sums could not be delivered
        self.priority = 0
        for slot in slots:
            slot.bucket = self  # at last: other threads look at buckets of slots at any time

    @property
    def counted(self):
        """bool: whether sums have counts beside them of who has pushed."""
        return self._counted

    def share_updates(self, updating, rank):
        """Have each process update its share from the next session on; None: all do everything."""
        self.updating, self._rank = updating, rank
        self.ownership = Ownership(self.slots, self._ranks) if updating else None

    @property
    def posted(self):
        """bool: whether a session is under way."""
        return self._session is not None

    @property
    def pending(self):
        """bool: whether something has been pushed that is not summed yet, here or elsewhere."""
        return self._filled > 0 or self.wanted > self.sessions

    def _buffer(self):
        if self._free:
            return self._free.pop()
        counts = len(self.slots) if self._counted else 0
        return self._way.memory(self.length + counts, self.dtype)

    def push_whole(self, whole, now, priority=0):
        """Take what is pushed to all keys at once, and waits for all sums.

        Nothing else is pushed to them before it has been told of these.

        Parameters
        ----------
        whole : WholePush
        now : float
        priority : int
        """
        self.rounds.pushes += 1
        if self._filling is None:
            self._filling = self._buffer()
        alone = not self._filled and self._session is None and not any(s.failed for s in self.slots)
        self._since = self._since or whole.since
        self.whole, self._last_push = whole, now
        self.priority = max(self.priority, priority)
        if alone:
            self._filled = len(self.slots)
            if self._counted or whole.source is None:
                whole.fill(self._filling)
            return
        self.rounds.pushes -= 1
        self.rounds.submitted -= 1
        self.whole = None
        separate = np.empty(self.length, self.dtype)
        whole.fill(separate)
        for slot in self.slots:
            slot.submitted += 1
            self.push(slot, separate[slot.place].reshape(slot.shape), now, priority)
        self._wait_apart(whole)

    def apart(self):
        """Go on key by key with what has been pushed to all at once."""
        whole, self.whole = self.whole, None
        if whole is None:
            return
        if not self._counted and whole.source is not None:
            whole.fill(self._filling)
        self.rounds.pushes -= 1
        self.rounds.submitted -= 1
        for slot in self.slots:
            slot.inputs.append(self._filling[slot.place])
            slot.submitted += 1
            slot.pushes += 1
        self._wait_apart(whole)

    def _wait_apart(self, whole):
        left = [len(self.slots)]

        def on_done(error):
            left[0] -= 1
            if left[0] == 0 or (error and left[0] > 0):
                left[0] = 0
                whole.on_done(error, None, None)

        for slot in self.slots:
            slot.pulls.append((slot.arrived, on_done, whole.since))
            slot.answer()

    def push(self, slot, array, now, priority=0):
        """Take a copy of what is pushed to a key."""
        if self._filling is None:
            self._filling = self._buffer()
        self._filled += not slot.inputs
        self._since = self._since or now
        if slot.inputs or self._session is not None:
            slot.inputs.append(np.array(array).reshape(-1))
        else:
            own = self._filling[slot.place]
            np.copyto(own.reshape(slot.shape), array)
            slot.inputs.append(own)
        slot.pushes += 1
        self._last_push = now
        self.priority = max(self.priority, priority)

    def ready(self, now, closing=False):
        """Whether this process joins a session now."""
        if self._session is not None or now < self._not_before:
            return False
        if self.wanted > self.sessions and not self._filled:
            return True
        if self._filled == len(self.slots) or closing:
            return self._filled > 0
        if not self._filled or now - self._last_push < _FLUSH_SECONDS:
            return False
        if now - self._last_push >= _LOSE_HOPE_SECONDS:
            return True  # what has been called for may wait for these sums
        return all(slot.inputs or slot.complete for slot in self.slots)

    def start(self):
        """Join a session with what has been pushed."""
        self.timing.begin(self._since)
        self._since = 0.0
        self._session = self._run()
        self._request = next(self._session)
        self.priority = 0
        self.sessions += 1

    def can_go_on(self):
        """Whether what a session waits for is done."""
        return self._request.done()

    def go_on(self, now):
        """Carry a session on.

        Returns
        -------
        bool
            Whether something has moved.
        """
        if not self.can_go_on():
            return False
        try:
            self._request = self._session.send(now)
        except StopIteration:
            self._finish()
        return True

    def _finish(self):
        self._session = None
        self.completed += 1
        self.timing.end()

    # -- processes that die -----------------------------------------------------------------------

    def abort(self, ranks):
        """Go back to before the session that is under way, with that many processes."""
        self._aborted = self._session
        self._session, self._ranks = None, ranks
        self.sessions, self._not_before = self.completed, 0.0

    def take_over(self, numbers, complete, sums):
        """End the session that was aborted here as another process has ended it."""
        agreed = [self.slots[number] for number in numbers]
        if agreed and len(agreed) == len(self.slots) and self.whole is not None:
            self._deliver_whole(sums, None)
        else:
            self.apart()
            self._deliver(agreed, sums, None, complete)
        self.sessions += 1
        self._finish()

    def _run(self):
        absent = not self._filled  # takes part with nothing, in whatever others have
        everything = self.whole is not None or absent
        if absent:
            if self._filling is None:
                self._filling = self._buffer()
            self._filling[...] = 0
        elif not everything:
            self._bring_in()
        agreed = self.slots if everything else [slot for slot in self.slots if slot.inputs]
        if len(self.slots) > 1 and not self._counted:
            mine = np.ones(len(self.slots), np.uint8)
            if not everything:
                mine[:] = [bool(slot.inputs) for slot in self.slots]
            everybody = np.empty_like(mine)
            now = yield self.channel.all_reduce_min(mine, everybody)
            agreed = self.slots
            if not everybody.all():
                agreed = [
                    slot for slot, all_have in zip(agreed, everybody, strict=True) if all_have
                ]
            if not agreed:
                self._not_before = now + _FLUSH_SECONDS
                return
        complete = len(agreed) == len(self.slots)
        if not complete:
            self.apart()
        if self.updating is not None:
            yield from self._update(agreed, complete)
            return
        source, sums, lease = self._places(agreed, complete, everything)
        now = yield from self._way.add_up(self.channel, source, sums)
        self.bytes += self._way.bytes_of(source)
        if self.factor != 1.0 and self.dtype.kind == "f":
            sums[: self.length] *= self.dtype.type(self.factor)
        if self._counted:
            have = sums[self.length :] == self._ranks
            agreed = self.slots
            if not have.all():
                agreed = [slot for slot, all_have in zip(agreed, have, strict=True) if all_have]
            if not agreed:
                self._not_before = now + _FLUSH_SECONDS
            complete = True  # as to the places in the buffer
        if self.check is not None and agreed:
            yield from self.check(self, agreed)
        if sums is self._filling:  # later pushes go to another one
            self._filling, lease = None, Lease(self._free, sums)
        if self.keeps:
            self.kept = [self.slots.index(slot) for slot in agreed], complete, sums, lease
        self._hand_out(agreed, sums, lease, complete)

    def _update(self, agreed, complete):
        """The session of processes that update a share each."""
        if self.check is not None:
            yield from self.check(self, agreed)
        source, place = self._filling, None
        if not complete:
            source, place = self._leased(sum(slot.size for slot in agreed))
            np.concatenate([self._filling[slot.place] for slot in agreed], out=source)
        elif self.whole is not None and self.whole.source is not None:
            source = self.whole.source
        sums, sums_place = self._leased(source.size)
        values, lease = self._leased(source.size)
        yield from update_shares(self, agreed, self._rank, (source, sums, values))
        del place, sums_place
        self.bytes += source.nbytes
        self._hand_out(agreed, values, lease, complete)

    def _hand_out(self, agreed, values, lease, complete):
        if len(agreed) == len(self.slots) and self.whole is not None:
            self._deliver_whole(values, lease)
            return
        self.apart()
        self._deliver(agreed, values, lease, complete)

    def _bring_in(self):
        """Have what is pushed first to each key in the buffer."""
        if self._filling is None:
            self._filling = self._buffer()
        for slot in self.slots:
            own = self._filling[slot.place]
            if slot.inputs and slot.inputs[0].base is not self._filling:
                np.copyto(own, slot.inputs[0])
                slot.inputs[0] = own

    def _places(self, agreed, complete, everything):
        """What is summed, where the sums are made, and what gives that memory back.

        Sums are made in place, unless others may need them again, or what has been pushed.
        """
        whole = self.whole
        if self._counted:
            for i, slot in enumerate(self.slots):
                self._filling[self.length + i] = everything or bool(slot.inputs)
            return self._filling, *self._leased(self._filling.size)
        if not complete:
            target, lease = self._leased(sum(slot.size for slot in agreed))
            np.concatenate([self._filling[slot.place] for slot in agreed], out=target)
            source = target.copy() if self.keeps else target
            return source, target, lease
        if whole is not None and whole.source is not None:
            if whole.in_place and not self.keeps:
                return whole.source, whole.source, None
            return whole.source, *self._leased(self.length)
        if self.keeps:
            return self._filling, *self._leased(self.length)
        return self._filling, self._filling, None

    def _leased(self, length):
        """Memory for that many sums, and what gives it back."""
        buffer = self._buffer()
        return buffer[:length], Lease(self._free, buffer)

    def _deliver_whole(self, sums, lease):
        whole, self.whole = self.whole, None
        self._filled = 0
        self.rounds.sums += 1
        whole.on_done(None, sums, lease)

    def _deliver(self, agreed, target, lease, whole):
        start = 0
        for slot in agreed:
            place = slot.place if whole else slice(start, start + slot.size)
            start += slot.size
            if slot.inputs:
                slot.inputs.popleft()
                self._filled -= not slot.inputs
            else:  # the program waits in join() meanwhile
                slot.submitted += 1
                slot.pushes += 1
            try:
                slot.deliver(target[place].reshape(slot.shape), lease)
            except Exception as error:  # in a user's updater
                slot.failed = f"key {slot.key!r}, round {slot.rounds + 1}: {failure_text(error)}"
                self.failures.append(slot)
            slot.sums += 1
            slot.answer()
