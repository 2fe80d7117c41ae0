"""All-reduce by key: what the pushes and pulls of a store are made of."""

from mxcy.base import MXNetError
from mxcy.dist.keys import handover, recovery, statistics
from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.divergence import differences
from mxcy.dist.keys.key_lists import common_order
from mxcy.dist.keys.mirrors import Mirrors
from mxcy.dist.keys.reductions import AllReduce
from mxcy.dist.keys.slots import Slot, plan
from mxcy.dist.worlds import collectives

__all__ = ["Exchange"]

_MOST_BUCKETS = 256
_FEW_RANKS = 2  # in elastic jobs, each would update everything if two held each part
#: sums up to this size are polled so often once they started, more often on the program's thread
_SMALL_BYTES, _POLLS, _POLLS_HERE = 1 << 14, 8, 32
_MOST_CHANNELS = 1900  # MPICH has 2,046 communicators


class Exchange:
    """The keys of a store, all-reduced in buckets.

    All ranks create their exchanges in the same order and add the same keys. Pushes and pulls come
    from any thread; those of one key in program order.

    Parameters
    ----------
    progress : ProgressThread
    bound : int
        Bytes at which a bucket is closed; the first bucket at an eighth of that.
    reduction : AllReduce or CompressedAllReduce, optional
        How arrays are all-reduced.

    Attributes
    ----------
    state_source : object or None
        Provider of the values, queried on the progress thread when ranks join: ``obstacle()`` is
        the reason why none can, or None; ``spread(world)`` gives all ranks all optimizer states,
        also when ranks have died;
        ``snapshot()`` returns the state for new ranks, where it becomes `inherited`.
    updating : object or None
        See `share_updates`.
    inherited : object or None
        State from `state_source`, in a rank that has joined a running job.
    """

    def __init__(self, progress, bound, reduction=None):
        self._progress, self.bound = progress, bound
        self.reduction = reduction or AllReduce()
        self.state_source = self.inherited = None
        self.number = progress.next_exchange()
        self.slots, self.closing = [], False
        self.in_flight = False  # whether a session is in flight
        self.factor = 1.0  # of sums; see `Membership`
        self.unplaced = []  # slots without a bucket
        self._entering, self._held = False, []  # pushes that came while keys are being added
        self.buckets, self.channels, self._active = [], [], set()
        self._reason = None
        #: called on the progress thread with each bucket whose session has ended
        self.on_session = None
        self._every, self._digest = 0, None
        self.updating = None
        if progress.joined:
            handover.restore(self, progress)
        progress.submit(lambda: progress.exchanges.append(self))

    # -- keys --------------------------------------------------------------------------------------

    def init(self, entries, delivers, still=()):
        """Add keys with rank 0's values, in its order; collective.

        Parameters
        ----------
        entries : list of (key, numpy.ndarray)
            New keys, in the order of a network's layers, with values, which are overwritten; sums
            have the same dtype.
        delivers : list of callable
            See `Slot`.
        still : container
            Keys that are rarely pushed, such as parameters without gradients.

        Returns
        -------
        list of Slot

        Raises
        ------
        MXNetError
            When keys, shapes or dtypes differ between ranks.
        """
        what = f"init of key {entries[0][0]!r}" if entries else "init"
        return self._progress.call(self._enter(entries, delivers, still), what)

    def _enter(self, entries, delivers, still):
        world = self._progress.world
        self._entering = True
        try:
            keys = [[key, list(one.shape), one.dtype.str, key in still] for key, one in entries]
            lists = yield from collectives.gather_texts(world, [keys, not self.unplaced])
            if any(sealed for _, sealed in lists):
                self.seal()
            order = common_order([keys for keys, _ in lists], world.rank)
            yield from collectives.broadcast(world, [entries[i][1] for i in order])
            added = self.add([entries[i] for i in order], [delivers[i] for i in order], still)
            by_key = {slot.key: slot for slot in added}
            return [by_key[key] for key, _ in entries]
        finally:
            self._entering = False
            held, self._held = self._held, []
            for push in held:
                self._push(*push)

    def add(self, entries, delivers, still=()):
        """Add keys that all ranks are known to have; see `init`."""
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
                f"a store of several processes can have {most} buckets of keys; initialize "
                "keys with few calls of init, before the first push"
            )
        while len(self.channels) < needed:
            self.channels.append(self._progress.world.new_channel())
        return added

    def _planned(self):
        most = max(1, _MOST_BUCKETS - len(self.buckets))
        apart = len(set(self._progress.world.hosts)) > 1
        return plan(self.unplaced, self.bound, self.bound // 8, most, apart)

    def seal(self):
        """Assign buckets to all keys that have none."""
        for group in self._planned():
            channel = self.channels[len(self.buckets)]
            bucket = Bucket(group, channel, self._progress.world.size, self.reduction)
            self.configure(bucket)
            self.buckets.append(bucket)
        self.unplaced = []

    def configure(self, bucket):
        """Apply the settings of the exchange to a bucket."""
        bucket.check = self._compare_values if self._every else None
        bucket.keeps, bucket.factor = self._progress.elastic, self.factor
        bucket.look_at_memory()
        self._have_update(bucket)

    def check_values(self, every, digest):
        """Check periodically that all ranks have the same values.

        Parameters
        ----------
        every : int
            Rounds between checks of a key; 0: never. The same on all ranks, set before any push.
        digest : callable
            Maps a key to a digest of its value below 2**32; called on the progress thread.
        """
        self._every, self._digest = every, digest
        for bucket in self.buckets:
            self.configure(bucket)

    def share_updates(self, updating):
        """Shard updates: each rank updates its share of the values, and all gather the results.

        Parameters
        ----------
        updating : object or None
            ``suits(bucket)`` decides whether a bucket is sharded, alike on all ranks.
            ``update(parts, slots, current)`` updates parts of a session with these keys: each has
            shares, sums, and an array for their new values, which has the old ones if `current` is
            true; it returns a request. Sessions then deliver new values, not sums. In elastic jobs
            ranks update two parts, of which the first is their own; see `Mirrors`. A call of
            ``begin(shares, values, slots, current)`` precedes updates in pieces; see `FlatUpdate`.
        """
        self._progress.submit(lambda: self._share_updates(updating))

    def _share_updates(self, updating):
        self.updating = updating
        for bucket in self.buckets:
            self._have_update(bucket)

    def _have_update(self, bucket):
        world, updating = self._progress.world, self.updating
        able = updating is not None and not bucket.counted and updating.suits(bucket)
        able = able and world.size > (_FEW_RANKS if bucket.keeps else 1)
        mirrors = Mirrors(world.rank, world.hosts) if able and bucket.keeps else None
        bucket.share_updates(updating if able else None, mirrors)

    def _compare_values(self, bucket, slots):
        if (slots[0].rounds + 1) % self._every:
            return
        ranks, name = self._progress.world.size, self._progress.control.name
        texts = yield from differences(bucket.channel, ranks, slots, self._digest, name)
        for slot, text in texts.items():
            self.fail_key(slot, text)

    # -- values ------------------------------------------------------------------------------------

    def push(self, slot, array, done, priority=0):
        """Contribute an array to the next sum of a key.

        Parameters
        ----------
        slot : Slot
            The caller has incremented its `submitted`.
        array : numpy.ndarray
            In an exchange with a `CompressedAllReduce` the packed levels.
        done : callable
            Called when `array` is no longer needed.
        priority : int
            Buckets with larger priorities start first.
        """
        self._progress.submit(lambda: self._push(slot, array, done, priority))

    def push_bucket(self, bucket, new_push, priority=0, here=False):
        """Contribute arrays to the next sums of all keys of a bucket, and receive these.

        Parameters
        ----------
        bucket : Bucket
            The caller has incremented its ``rounds.submitted``, and pushes nothing else to it
            before its ``on_done`` is called.
        new_push : callable
            Returns the BucketPush; called on the thread that does the work.
        priority : int
            See `push`.
        here : bool
            Whether this thread may do the work of the progress thread if that one is at rest and
            the bucket is small.
        """
        if here and bucket.nbytes <= _SMALL_BYTES:
            if self._progress.turn.run_here(lambda: self._push_here(bucket, new_push(), priority)):
                return
        self._progress.submit(lambda: self.take_bucket(bucket, new_push(), priority))

    def _push_here(self, bucket, push, priority):
        self.take_bucket(bucket, push, priority)
        now = self._progress.now()
        if bucket.ready(now):
            self._begin(bucket, now, _POLLS_HERE)
        if bucket in self._active:  # the progress thread continues
            self._progress.submit(lambda: self._progress.polling.expect(now, bucket.nbytes))

    def take_bucket(self, bucket, push, priority):
        """Contribute arrays to a bucket, on the progress thread; see `push_bucket`."""
        bucket.push_bucket(push, self._progress.now(), priority)
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
        """Call ``on_done(error)`` when all pushes of a key so far have been reduced and delivered.

        Parameters
        ----------
        slot : Slot
        on_done : callable
            Called on the progress thread with an error message or None.
        """
        self._progress.submit(lambda: self._pull(slot, on_done))

    def _pull(self, slot, on_done):
        slot.failed = slot.failed or self._why(slot)
        slot.pulls.append((slot.arrived, on_done, self._progress.now()))
        slot.complete_pulls()

    # -- on the progress thread --------------------------------------------------------------------

    def step(self, now):
        """Advance sessions; return whether any advanced, and whether any work is left."""
        moved = False
        starting = []
        for bucket in list(self._active):
            if bucket.in_flight:
                moved |= self._advance(bucket, now)
            if not bucket.in_flight:
                if bucket.ready(now, self.closing):
                    starting.append(bucket)
                elif not bucket.pending:
                    self._active.discard(bucket)
        for bucket in sorted(starting, key=lambda bucket: -bucket.priority):
            self._start(bucket, now)
        self.in_flight = any(bucket.in_flight for bucket in self._active)
        return moved or bool(starting), bool(self._active)

    def _start(self, bucket, now):
        self._begin(bucket, now, _POLLS)
        if bucket.in_flight:
            self._progress.polling.expect(now, bucket.nbytes)

    def _begin(self, bucket, now, polls):
        """Start a session; if it is small, poll it so often."""
        bucket.start()
        if self._progress.joining.ranks:
            number = self.buckets.index(bucket)
            self._progress.joining.note_session(self, number, bucket.sessions)
        if bucket.nbytes > _SMALL_BYTES:
            return
        for _ in range(polls):  # if all ranks are ready, it takes less time than a step
            if self._advance(bucket, now) and not bucket.in_flight:
                break
        if not bucket.in_flight and not bucket.pending:
            self._active.discard(bucket)

    def in_flight_polls(self):
        """For each session in flight, a function that returns whether it can advance."""
        return [bucket.can_advance for bucket in self._active if bucket.in_flight]

    def _advance(self, bucket, now):
        moved = bucket.advance(now)
        for slot in bucket.failures:
            self._progress.control.to_all(
                "key_failed", exchange=self.number, slot=slot.number, text=slot.failed
            )
        bucket.failures.clear()
        if not bucket.in_flight and self.on_session is not None:
            self.on_session(bucket)
        return moved

    def sessions(self):
        """The number of sessions that each bucket has started on this rank."""
        return [bucket.sessions for bucket in self.buckets]

    def participate(self, number, count):
        """Contribute zeros to sessions of a bucket until it has had `count`; for joined ranks."""
        bucket = self.buckets[number]
        bucket.wanted = max(bucket.wanted, count)
        self._active.add(bucket)

    def participates(self):
        """Whether this rank has sessions in flight or to start for others."""
        return any(bucket.in_flight or bucket.wanted > bucket.sessions for bucket in self.buckets)

    def submitted(self):
        """The largest number of pushes that the program has submitted for a key."""
        counts = [
            slot.submitted + (slot.bucket.rounds.submitted if slot.bucket else 0)
            for slot in self.slots
        ]
        return max(counts, default=0)

    def shrink(self, factor):
        """Continue with fewer ranks, all with the same completed sessions; collective, blocks."""
        self.factor, loss = factor, None
        try:
            recovery.shrink(self, self._progress.world)
        except MXNetError as error:  # the job is about to fail, but its buckets fit its ranks
            loss = error
        for bucket in self.buckets:
            self.configure(bucket)
            self._active.add(bucket)
        if loss is not None:
            raise loss
        self.report_failures()

    def report_failures(self):
        """Send the failures of keys to all ranks."""
        for slot in self.slots:
            if slot.failed:
                self._progress.control.to_all(
                    "key_failed", exchange=self.number, slot=slot.number, text=slot.failed
                )

    def obstacle(self):
        """The reason why no rank can join, or None."""
        return handover.obstacle(self)

    def quiet(self):
        """Whether all pushes of this rank have been reduced."""
        return handover.quiet(self)

    def snapshot(self):
        """The state that joining ranks need; collective."""
        return handover.snapshot(self, self._progress.world)

    def resize(self, factor):
        """Continue with more ranks."""
        self.factor = factor
        handover.resize(self, self._progress.world)

    def timings(self):
        """The `Timing` of each bucket."""
        return [bucket.timing for bucket in self.buckets]

    def arrived(self):
        """The number of pushes of each key on this rank."""
        return [slot.arrived for slot in self.slots]

    def check_left(self):
        """Fail keys that wait for pushes of ranks that have left."""
        for slot in self.slots:
            self._check(slot)

    def _check(self, slot):
        doubtful = self._progress.control.left or self._reason
        if doubtful and slot.arrived > slot.rounds and not slot.failed:
            text = self._why(slot) or self._progress.control.gone(self, slot)
            if text:
                self.fail_key(slot, text)

    def fail_key(self, slot, text):
        """Fail a key: it gets no more sums."""
        slot.failed = slot.failed or text
        if slot.bucket is not None:
            slot.bucket.split_push()
        slot.complete_pulls()

    def longest_wait(self):
        """The longest wait for a sum: (start time, this exchange, slot), or None."""
        return statistics.longest_wait(self, self._active)

    def fail(self, text):
        """Fail all keys."""
        self._reason = text
        for slot in self.slots:
            self.fail_key(slot, self._why(slot))

    def _why(self, slot):
        """The reason why all keys have failed, for one key; or None."""
        return self._reason and f"{self._reason}, in round {slot.rounds + 1} of key {slot.key!r}"

    def stats(self):
        """Statistics of buckets for `KVStore.stats`."""
        return [statistics.of_bucket(bucket) for bucket in self.buckets]

    def stats_of_keys(self):
        """Statistics of keys for `KVStore.stats`."""
        return {slot.key: statistics.of_key(slot) for slot in self.slots}
