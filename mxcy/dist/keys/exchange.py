"""Sums over the processes of a job, by key: what a store pushes to and pulls from."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.dist.keys import handover
from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.divergence import differences
from mxcy.dist.keys.key_lists import compare_keys
from mxcy.dist.keys.slots import Slot, plan
from mxcy.dist.keys.sums import WholeSum
from mxcy.dist.worlds import collectives

__all__ = ["Exchange"]

_MOST_BUCKETS = 256
_MOST_CHANNELS = 1900  # MPICH has 2,046 communicators


class Exchange:
    """The keys of a store.

    All processes make their exchanges in the same order, and put the same keys into them. Pushes
    and pulls come from any thread; those of one key in the program's order.

    Parameters
    ----------
    progress : ProgressThread
    bound : int
        Bytes at which a bucket is closed; the first one at an eighth of that.
    way : WholeSum or CompressedSum, optional
        How sums are made.

    Attributes
    ----------
    keeper : object or None
        Who has the values. When processes join, on the progress thread: its ``obstacle()`` says why
        none can, or None; ``spread(world)`` gives all processes all states; ``tell()`` says what
        new ones need, who find it as `inherited`.
    inherited : object or None
        The state that this process, which has joined a running job, got from another's keeper.
    """

    def __init__(self, progress, bound, way=None):
        self._progress, self.bound = progress, bound
        self.way = way or WholeSum()
        self.keeper = self.inherited = None
        self.number = progress.next_exchange()
        self.slots, self.closing = [], False
        self.posted = False  # whether a sum is under way
        self.factor = 1.0  # of sums, which fewer processes make than there were
        self.unplaced = []  # slots without a bucket
        self._held = []  # pushes that came while keys are put in
        self._entering = False
        self.buckets, self.channels, self._active = [], [], set()
        self._reason = None
        #: called with each bucket whose session has ended, on the progress thread
        self.on_session = None
        self._every, self._digest = 0, None
        self._updating = None
        if progress.joined:
            handover.take_over(self, progress)
        progress.submit(lambda: progress.exchanges.append(self))

    # -- keys -------------------------------------------------------------------------------------

    def init(self, entries, delivers, still=()):
        """Put in new keys; all processes do, and take the first process's values.

        Parameters
        ----------
        entries : list of (key, numpy.ndarray)
            New keys with their values, which are overwritten; sums have the same dtype.
        delivers : list of callable
            See `Slot`.
        still : container
            The keys that are hardly ever pushed.

        Returns
        -------
        list of Slot

        Raises
        ------
        MXNetError
            When the processes' keys, shapes or dtypes differ.
        """
        what = f"init of key {entries[0][0]!r}" if entries else "init"
        return self._progress.call(self._enter(entries, delivers, still), what)

    def _enter(self, entries, delivers, still):
        world = self._progress.world
        self._entering = True
        try:
            mine = [
                [key, list(array.shape), array.dtype.str, key in still] for key, array in entries
            ]
            lists = yield from collectives.gather_texts(world, [mine, not self.unplaced])
            if any(sealed for _, sealed in lists):
                self.seal()
            compare_keys([keys for keys, _ in lists])
            yield from collectives.broadcast(world, [array for _, array in entries])
            return self.add(entries, delivers, still)
        finally:
            self._entering = False
            held, self._held = self._held, []
            for push in held:
                self._push(*push)

    def add(self, entries, delivers, still=()):
        """Put in new keys that all processes are known to have; see `init`."""
        added = [
            Slot(key, array.shape, array.dtype, deliver, key in still)
            for (key, array), deliver in zip(entries, delivers, strict=True)
        ]
        for slot in added:
            slot.number = len(self.slots)
            self.slots.append(slot)
        self.unplaced += added
        needed = len(self.buckets) + len(self._planned())
        most = _MOST_CHANNELS if self._progress.world.levels is None else _MOST_CHANNELS // 3
        if needed > most:
            raise MXNetError(
                f"a store of several processes can have {most} groups of keys; put "
                "keys in with few calls of init, before the first push"
            )
        while len(self.channels) < needed:
            self.channels.append(self._progress.world.new_channel())
        return added

    def _planned(self):
        most = max(1, _MOST_BUCKETS - len(self.buckets))
        return plan(self.unplaced, self.bound, self.bound // 8, most)

    def seal(self):
        """Give all keys that have none a bucket."""
        for group in self._planned():
            channel = self.channels[len(self.buckets)]
            bucket = Bucket(group, channel, self._progress.world.size, self.way)
            self.equip(bucket)
            self.buckets.append(bucket)
        self.unplaced = []

    def equip(self, bucket):
        """Have a bucket do all that is asked of the exchange."""
        bucket.check = self._compare_values if self._every else None
        bucket.keeps, bucket.factor = self._progress.elastic, self.factor
        self._have_update(bucket)

    def check_values(self, every, digest):
        """Compare the processes' values of each key before every so many rounds.

        Parameters
        ----------
        every : int
            0: never. All processes say the same, before the first push.
        digest : callable
            A key's value as a number below 2**32; called on the progress thread.
        """
        self._every, self._digest = every, digest
        for bucket in self.buckets:
            self.equip(bucket)

    def share_updates(self, updating):
        """Have each process update a share of the values, instead of all of them everything.

        Parameters
        ----------
        updating : object or None
            Its ``suits(bucket)`` says whether it takes a bucket, alike in all processes;
            ``update(shares, sums, values, others)`` changes what this process owns by the sums, one
            after the other, and writes the new values, for which it returns a request; `others` are
            keys of the session of which it owns nothing. What is delivered then are new values.
        """
        self._progress.submit(lambda: self._share_updates(updating))

    def _share_updates(self, updating):
        self._updating = updating
        for bucket in self.buckets:
            self._have_update(bucket)

    def _have_update(self, bucket):
        world, updating = self._progress.world, self._updating
        able = updating is not None and not (bucket.keeps or bucket.counted)
        able = able and world.size > 1 and updating.suits(bucket)
        bucket.share_updates(updating if able else None, world.rank)

    def _compare_values(self, bucket, slots):
        if (slots[0].rounds + 1) % self._every:
            return
        ranks, name = self._progress.world.size, self._progress.control.name
        texts = yield from differences(bucket.channel, ranks, slots, self._digest, name)
        for slot, text in texts.items():
            self.give_up(slot, text)

    # -- values -----------------------------------------------------------------------------------

    def push(self, slot, array, done, priority=0):
        """Add an array to the next sum of a key.

        Parameters
        ----------
        slot : Slot
            Its `submitted` has been raised by the caller.
        array : numpy.ndarray
        done : callable
            Called when `array` is not needed any more.
        priority : int
            Buckets with larger numbers go first.
        """
        self._progress.submit(lambda: self._push(slot, array, done, priority))

    def push_whole(self, bucket, whole, priority=0):
        """Add arrays to the next sums of all keys of a bucket, and wait for these.

        Parameters
        ----------
        bucket : Bucket
            Its ``rounds.submitted`` has been raised by the caller, who pushes nothing else to it
            before `whole.on_done` was called.
        whole : WholePush
        priority : int
            See `push`.
        """
        self._progress.submit(lambda: self._push_whole(bucket, whole, priority))

    def _push_whole(self, bucket, whole, priority):
        bucket.push_whole(whole, self._progress.now(), priority)
        self._active.add(bucket)
        if self._progress.control.left or self._reason:
            for slot in bucket.slots:
                self._check(slot)

    def _push(self, slot, array, done, priority):
        if slot.bucket is None:
            if self._entering:
                self._held.append((slot, array, done, priority))
                return
            self.seal()
        slot.bucket.push(slot, array, self._progress.now(), priority)
        self._active.add(slot.bucket)
        done()
        self._check(slot)

    def pull(self, slot, on_done):
        """Have ``on_done(error)`` called when all sums pushed so far have been delivered.

        Parameters
        ----------
        slot : Slot
        on_done : callable
            Gets the text of an error, or None; on the progress thread.
        """
        self._progress.submit(lambda: self._pull(slot, on_done))

    def _pull(self, slot, on_done):
        slot.failed = slot.failed or self._why(slot)
        slot.pulls.append((slot.arrived, on_done, self._progress.now()))
        slot.answer()

    # -- the progress thread ---------------------------------------------------------------------

    def step(self, now):
        """Carry sums on; whether something moved, and whether something is under way."""
        moved = False
        starting = []
        for bucket in list(self._active):
            if bucket.posted:
                moved |= self._carry(bucket, now)
            if not bucket.posted:
                if bucket.ready(now, self.closing):
                    starting.append(bucket)
                elif not bucket.pending:
                    self._active.discard(bucket)
        for bucket in sorted(starting, key=lambda one: -one.priority):
            bucket.start()
            self._progress.polling.expect(now, bucket.length * bucket.dtype.itemsize)
            if self._progress.joining.ranks:
                number = self.buckets.index(bucket)
                self._progress.joining.note_session(self, number, bucket.sessions)
        self.posted = any(bucket.posted for bucket in self._active)
        return moved or bool(starting), bool(self._active)

    def any_done(self):
        """Whether a sum that is under way can go on."""
        return any(bucket.posted and bucket.can_go_on() for bucket in self._active)

    def _carry(self, bucket, now):
        moved = bucket.go_on(now)
        for slot in bucket.failures:
            self._progress.control.to_all(
                "failed", exchange=self.number, slot=slot.number, text=slot.failed
            )
        bucket.failures.clear()
        if not bucket.posted and self.on_session is not None:
            self.on_session(bucket)
        return moved

    def sessions(self):
        """How many sessions each bucket has begun here."""
        return [bucket.sessions for bucket in self.buckets]

    def take_part(self, number, count):
        """Begin sessions of a bucket, with nothing, until there have been so many."""
        bucket = self.buckets[number]
        bucket.wanted = max(bucket.wanted, count)
        self._active.add(bucket)

    def takes_part(self):
        """Whether sums of others go on here."""
        return any(one.posted or one.wanted > one.sessions for one in self.buckets)

    def submitted(self):
        """The most pushes of a key that the program has called for."""
        counts = [
            slot.submitted + (slot.bucket.rounds.submitted if slot.bucket else 0)
            for slot in self.slots
        ]
        return max(counts, default=0)

    def shrink(self, factor):
        """Go on with fewer processes; all of these do so, and wait for each other."""
        world = self._progress.world
        self.factor = factor
        for bucket in self.buckets:
            bucket.abort(world.size)
            self.equip(bucket)
            self._active.add(bucket)
        completed = world.allgather([bucket.completed for bucket in self.buckets])
        for i, bucket in enumerate(self.buckets):
            counts = [mine[i] if i < len(mine) else 0 for mine in completed]
            most = max(counts)
            if min(counts) == most:
                continue
            first = counts.index(most)
            sums = world.broadcast_from(first, bucket.kept[:3] if first == world.rank else None)
            if counts[world.rank] < most:
                bucket.take_over(*sums)
        self.report_failures()

    def report_failures(self):
        """Tell all processes which keys have failed."""
        for slot in self.slots:
            if slot.failed:
                self._progress.control.to_all(
                    "failed", exchange=self.number, slot=slot.number, text=slot.failed
                )

    def obstacle(self):
        """Why no process can join, or None."""
        return handover.obstacle(self)

    def quiet(self):
        """Whether all that has been pushed here has been added up."""
        return handover.quiet(self)

    def tell(self):
        """What processes that join need to know; all that are there call this."""
        return handover.tell(self, self._progress.world)

    def resize(self, factor):
        """Go on with more processes."""
        self.factor = factor
        handover.resize(self, self._progress.world)

    def timings(self):
        """The `Timing` of each bucket."""
        return [bucket.timing for bucket in self.buckets]

    def arrived(self):
        """How often each key has been pushed here."""
        return [slot.arrived for slot in self.slots]

    def check_left(self):
        """Give up what processes that have left will never push."""
        for slot in self.slots:
            self._check(slot)

    def _check(self, slot):
        doubtful = self._progress.control.left or self._reason
        if doubtful and slot.arrived > slot.rounds and not slot.failed:
            text = self._why(slot) or self._progress.control.gone(self, slot)
            if text:
                self.give_up(slot, text)

    def give_up(self, slot, text):
        """There will be no more sums of a key."""
        slot.failed = slot.failed or text
        if slot.bucket is not None:
            slot.bucket.apart()
        slot.answer()

    def longest_wait(self):
        """Who has waited longest: (since when, this, slot), or None."""
        waits = [(slot.pulls[0][2], slot) for slot in self.slots if slot.pulls]
        waits += [(one.whole.since, one.slots[0]) for one in self._active if one.whole]
        if not waits:
            return None
        since, slot = min(waits, key=lambda wait: wait[0])
        return since, self, slot

    def fail(self, text):
        """Nothing will be summed any more."""
        self._reason = text
        for slot in self.slots:
            self.give_up(slot, self._why(slot))

    def _why(self, slot):
        """Why nothing is summed any more, for a key."""
        return self._reason and f"{self._reason}, in round {slot.rounds + 1} of key {slot.key!r}"

    def stats(self):
        """What `KVStore.stats` tells of buckets."""
        return [
            {
                "keys": [slot.key for slot in bucket.slots],
                "length": bucket.length * np.dtype(bucket.dtype).itemsize,
                "sessions": bucket.sessions,
                "bytes": bucket.bytes,
                "seconds": bucket.timing.seconds,
                "held": bucket.timing.held,
                "last": bucket.timing.last,
                "hidden": _share(bucket.timing),
            }
            for bucket in self.buckets
        ]

    def stats_of_keys(self):
        """What `KVStore.stats` tells of keys."""
        return {
            slot.key: {
                "sums": slot.rounds,
                "bytes": slot.rounds * slot.bytes,
                "seconds": slot.bucket.timing.seconds if slot.bucket else 0.0,
                "hidden": _share(slot.bucket.timing) if slot.bucket else 1.0,
            }
            for slot in self.slots
        }


def _share(timing):
    """The hidden share of a bucket's seconds."""
    return timing.hidden / timing.seconds if timing.seconds else 1.0
