"""Store of values shared by the workers of a job, which sums pushes over all workers."""

import contextlib
import zlib

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base.dtypes import CODES, code_of
from mxcy._base.lru_cache import LRUCache
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist import shutdown
from mxcy.dist.job import job
from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.reductions import CompressedAllReduce
from mxcy.dist.worlds import collectives
from mxcy.kvstore.compression import PackedCompression
from mxcy.kvstore.engine_calls import SUM_DTYPES
from mxcy.kvstore.group_call import GroupCalls
from mxcy.kvstore.grouped import groups_of
from mxcy.kvstore.job_store import JobStore
from mxcy.kvstore.joining import StateSource, restore_keys, restore_optimizer, restore_values
from mxcy.kvstore.key_calls import delivering, pull_key, push_key, settling
from mxcy.kvstore.lanes import Lanes
from mxcy.kvstore.optimizer_settings import agree, settings_of
from mxcy.kvstore.shared import SharedKey, name_of
from mxcy.kvstore.shared_rows import SharedRows, host_server
from mxcy.kvstore.shared_updates import SharedUpdates
from mxcy.optimizer import get_updater

__all__ = ["DistStore"]


class DistStore(JobStore):
    """Holds an array per key, identical in all workers of the job.

    Each push of a worker contributes to the key's next sum. Pushes and pulls are asynchronous
    operations of the engine, which start when their arrays are ready.

    Parameters
    ----------
    kind : str
        Type of the store, containing 'dist'.

    Raises
    ------
    MXNetError
        If the process cannot join the job.
    """

    exchange = updates = None
    sums = True  # whether pushes are only summed: there is no updater

    def __init__(self, kind):
        super().__init__(kind)
        self._compression = self._compressing = None
        self._packings = {}  # exchange -> PackedCompression
        self._rows = None  # SharedRows, for row_sparse keys
        self._lanes = Lanes()
        self._membership, self._admission = self._progress.membership, self._progress.admission
        self.shared = {}
        self.exchange = self._observed(job.new_exchange())
        inherited = self.exchange.inherited or {}
        self._inherited_optimizer = inherited.get("optimizer")
        self._inherited_compression = inherited.get("compression")
        self.steps_before += inherited.get("before", 0)
        self._first_step = self._progress.admission.steps.get(self.exchange.number, 0)
        self._bucket_vars = {}  # bucket -> engine variable that orders its grouped calls
        self._overlaps = env.get("MXCY_DIST_OVERLAP")
        self._calls = LRUCache(8)  # keys of a call -> its GroupCalls
        self._progress.submit(_hurry)
        shutdown.before_close(front.wait_all)

    def submit(self, slot, counter):
        """Count a push of a key, or of all keys of a bucket."""
        membership = self._membership
        with membership.lock:
            if membership.last is not None:
                alone, bucket = slot.submitted, slot.bucket
                membership.begin(alone + (bucket.rounds.submitted if bucket else 0))
            counter.submitted += 1
        self._admission.arriving = False

    # -- compression ------------------------------------------------------------------------------

    @property
    def compresses(self):
        return True

    def compress(self, compression):
        """Compress keys initialized from now on; all workers call it."""
        what = "set_gradient_compression()"
        own_settings = [compression.type, compression.threshold]
        if self.arriving:
            settings = [self._inherited_compression, own_settings]
        else:
            settings = self._progress.call(
                collectives.gather_texts(self._progress.world, own_settings), what
            )
        if any(setting != settings[0] for setting in settings):
            raise MXNetError(f"{what}: the workers' settings differ: {settings}")
        self._compression = compression
        self._compress(Levels(*own_settings))

    def _compress(self, levels):
        self._compressing = self._observed(job.new_exchange(CompressedAllReduce(levels)))
        self._packings[self._compressing] = PackedCompression(levels)

    def _rounded(self, key, total):
        """Quantize a sum over devices for sending, if the key is compressed."""
        exchange = self.shared[key].exchange
        if exchange is self.exchange:
            return total
        self._check_float32(key)
        return self._packings[exchange](key, total)

    def _check_float32(self, key):
        kind = name_of(self._value(key).dtype)
        if kind != "float32":
            raise MXNetError(f"key {key!r}: gradient compression takes float32, not {kind}")

    # -- keys -------------------------------------------------------------------------------------

    def init_all(self, pairs, still=()):
        """Initialize new keys with the first worker's values; all workers call it."""
        known = dict.fromkeys(self._values)
        for key, _ in pairs:
            self._check_new(key, known)
            known[key] = None
        if self.arriving and restore_values(self, self._exchanges, pairs):
            return
        dense = [(key, value) for key, value in pairs if value.stype == "default"]
        exchange = self._compressing or self.exchange
        entries, delivers = [], []
        for key, value in dense:
            sum_dtype = SUM_DTYPES.get(name_of(value.dtype), name_of(value.dtype))
            same_dtype = sum_dtype == name_of(value.dtype) and exchange is self.exchange
            self.shared[key] = SharedKey(sum_dtype, same_dtype, exchange)
            entries.append((key, value.as_nd_ndarray().astype(sum_dtype).asnumpy()))
            delivers.append(delivering(self, key))
        try:
            slots = exchange.init(entries, delivers, still)
        except MXNetError:
            for key, _ in dense:
                del self.shared[key]
            raise
        for (key, value), (_, array), slot in zip(dense, entries, slots, strict=True):
            self.shared[key].slot = slot
            self._put(key, nd.array(array, cpu(), array.dtype).astype(value.dtype))
        self._init_rows([(key, value) for key, value in pairs if value.stype != "default"])

    def _init_rows(self, pairs):
        if not pairs:
            return
        if self.num_workers > 1:
            if self._rows is None:
                self._share_rows()
            self._rows.init(pairs)
        for key, value in pairs:
            empty = nd.sparse.zeros(value.stype, value.shape, cpu(), value.dtype)
            self._put(key, empty if self.num_workers > 1 else value.copy())

    def _share_rows(self):
        """Distribute the ownership of rows; owners run this store's updater on them."""
        self._rows = SharedRows(self._progress, waits=True, among_workers=True)
        number = self._rows.client.number

        def host():
            rules = host_server(self._progress, self.rank).rules
            rules.follow(number, lambda: self.updater)

        self._progress.submit(host)

    def is_sparse(self, key):
        return self._value(key).stype != "default"

    def pull_rows(self, key, array, ids):
        """Copy rows of a row_sparse value from their owners to a row_sparse array."""
        if self._rows is None or key not in self._rows:
            super().pull_rows(key, array, ids)
            return
        if array.stype != "row_sparse":
            raise MXNetError(
                f"row_sparse_pull: key {key}: out must be row_sparse, it is {array.stype}"
            )
        self._rows.pull(key, array, ids)

    def _check_new(self, key, known):
        super()._check_new(key, known)
        if isinstance(key, int) and not 0 <= key < 2**31:
            raise MXNetError(f"key {key}: expected 0 to {2**31 - 1}, or a str")

    # -- values -----------------------------------------------------------------------------------

    def push(self, key, arrays, priority=0):
        """Add arrays to this worker's contribution to the key's next sum."""
        if self._rows is not None and key in self._rows:
            stored = self._value(key)
            self._check_shapes(key, arrays, stored)
            self._rows.push(key, self._sum(key, arrays, stored.context), priority)
            return
        if key not in self.shared:
            super().push(key, arrays)
            return
        push_key(self, key, self._rounded(key, self._total(key, arrays)), priority)

    def bucket_var(self, bucket):
        """Engine variable that orders grouped calls of a bucket with calls of its single keys."""
        return self._bucket_vars.get(bucket) or self._bucket_vars.setdefault(bucket, front.Var())

    def _total(self, key, arrays):
        """Sum over this worker's devices, in the dtype of the sums."""
        stored, sum_dtype = self._value(key), self.shared[key].sum_dtype
        self._check_shapes(key, arrays, stored)
        total = self._sum(key, [array.as_nd_ndarray() for array in arrays], stored.context)
        if total.stype != "default":
            self.shared[key].by_rows = True
            total = total.tostype("default")
        if name_of(total.dtype) != sum_dtype:
            total = total.astype(sum_dtype)
        return total.detach()  # the gradient's memory may change before this call runs

    def put(self, key, value):
        """Set a key's value to an array."""
        self._values[key] = value
        if key in self.shared:
            self.shared[key].latest = None

    def dtype_of(self, key):
        """Return the dtype of a key's value."""
        return self._values[key].dtype

    def current(self, key):
        """Return a key's value; on the progress thread."""
        shared = self.shared[key]
        if shared.latest is not None:
            total, lease = shared.latest
            array, shared.latest = total[shared.slot.span], None
            code, shape = code_of(shared.sum_dtype), shared.slot.shape
            self._values[key] = front.from_memory(
                array.ctypes.data, (array, lease), shape, code, cpu()
            )
        return self._values[key]

    def replace(self, key):
        """Make the buffer of in-place sums the key's value; on the progress thread."""
        self.shared[key].latest, self._values[key] = None, self.shared[key].buffer

    def pull(self, key, arrays, priority=0):
        """Copy a value to arrays after all pushes of this worker have been summed."""
        if self._rows is not None and key in self._rows:
            self._check_outs(key, arrays, self._value(key))
            for array in arrays:
                self._rows.pull(key, array)
            return
        if key not in self.shared:
            super().pull(key, arrays)
            return
        self._check_outs(key, arrays, self._value(key))
        if arrays:
            pull_key(self, key, arrays, priority)

    def push_and_pull(self, keys, values, outs, priority=0):
        """Push and pull, bucket by bucket, the keys whose buckets are complete in the call.

        Returns
        -------
        list of int or None
            Positions of the keys to process one by one; None for all.
        """
        if len(keys) > 1 and not self._overlaps:
            _await_all(values)
        calls, left = self._calls_of(keys)
        if calls is None or not len(keys) == len(values) == len(outs):
            return None
        for call in calls:
            if not call.push(values, outs, priority, wakes=False):
                left = left + call.group.positions
        self._progress.inbox.wake.set()
        return left

    def new_single_call(self, key):
        """Prepare calls of a key with a bucket of its own; None for others."""
        known = self.shared.get(key)
        if known is None or known.slot is None or known.slot.bucket is None:
            return None
        calls = self._new_calls([key])[0] if len(known.slot.bucket.slots) == 1 else None
        if calls:
            self.single_calls[key] = calls[0]
        return self.single_calls.get(key)

    def _calls_of(self, keys):
        """The `GroupCalls` of a call with these keys, if they have buckets, and the other keys."""
        try:
            called = tuple(keys)
            calls = self._calls.get(called)
        except TypeError:
            return None, []
        if calls is None:
            calls = self._new_calls(called)
            if calls[0] is not None:
                self._calls.put(called, calls)
        return calls

    def _new_calls(self, keys):
        groups, left = groups_of(keys, self.shared, lambda name: CODES[name])
        return groups and [GroupCalls(self, group) for group in groups], left

    def check_states(self):
        if self._rows is not None:
            raise MXNetError(
                "the states of row_sparse values are kept by the workers, and cannot be saved or "
                "loaded yet"
            )

    def settle(self):
        """Wait until all pushes of this worker have been summed and applied."""
        waits = [settling(self, shared) for shared in self.shared.values() if shared.slot]
        for wait in waits:
            wait.wait_to_read()

    # -- workers --------------------------------------------------------------------------------

    def join(self):
        """Contribute zeros to sums until all workers do; return the last worker to join."""
        if self._rows is not None:
            raise MXNetError(
                "join: row_sparse values are held by the workers, all of which must push rows"
            )
        if self._compression is not None and self._compression.type == "1bit":
            raise MXNetError("join: 1bit compression cannot represent zeros")
        self.settle()
        return self._progress.join()

    @property
    def updater(self):
        """Updater, callable or None: applies sums to values."""
        return self._updater

    @updater.setter
    def updater(self, updater):
        self._updater = updater
        if self.exchange is not None:
            self.sums = updater is None
            self.updates = SharedUpdates.of(self, updater, self.updates)
            self.exchange.share_updates(self.updates)

    def whole_states(self, updater):
        if self.updates is None:
            return super().whole_states(updater)
        return self.updates.whole_states()

    def states_read(self):
        if self.updates is not None:
            self.updates.states_read()

    def updater_of(self, optimizer, before):
        """The updater with the first worker's settings, keeping states of the same optimizer."""
        if self._inherited_optimizer is not None:
            state, self._inherited_optimizer = self._inherited_optimizer, None
            return restore_optimizer(state, optimizer)
        self.settle()
        optimizer = self._progress.call(agree(self._progress.world, optimizer), "set_optimizer()")
        updater = get_updater(optimizer)
        if type(getattr(before, "optimizer", None)) is type(optimizer):
            updater.states, updater.states_synced = before.states, before.states_synced
        return updater

    def note_samples(self, count):
        """Report the end of a step with this many samples, after which workers may join."""
        super().note_samples(count)
        self._progress.admission.end_step(self.exchange.number)

    @property
    def joined_at(self):
        """int: number of steps of the job before this worker joined."""
        return self._first_step

    @property
    def has_rows(self):
        """bool: whether some values are row_sparse, with rows owned by workers."""
        return self._rows is not None

    @property
    def compression(self):
        """list or None: compression of keys initialized from now on."""
        used = self._compression
        return used and [used.type, used.threshold]

    @property
    def _exchanges(self):
        return [exchange for exchange in (self.exchange, self._compressing) if exchange is not None]

    def _observed(self, exchange):
        exchange.on_session = self._lanes.trace
        exchange.state_source = StateSource(self, exchange)
        exchange.check_values(env.get("MXCY_DIST_CHECK_EVERY"), self._digest)
        if exchange.inherited is not None:
            restore_keys(self, exchange)
        return exchange

    def _digest(self, key):
        """Checksum of a key's value; on the progress thread."""
        try:
            content = self.current(key).asnumpy().tobytes()
            if self.shared[key].slot.bucket.updating is not None:  # depends on others' settings too
                content += repr(settings_of(self.updater.optimizer)["settings"]).encode()
            return zlib.crc32(content)
        except MXNetError:  # raised to readers
            return 0

    def stats(self):
        """Statistics of sums; see `KVStore.stats`."""
        exchanges = self._exchanges
        return {
            **super().stats(),
            "engine": self._progress.world.engine,
            "buckets": [bucket for exchange in exchanges for bucket in exchange.stats()],
            "keys": {k: v for exchange in exchanges for k, v in exchange.stats_of_keys().items()},
        }


def _await_all(values):
    """Wait until arrays are computed; errors are raised when they are read."""
    for value in values:
        for array in value if isinstance(value, list | tuple) else [value]:
            with contextlib.suppress(Exception):
                array.wait_to_read()


def _hurry():
    """Start the progress thread's operations immediately, as other workers wait for them."""
    front.set_bulk_size(0)
    front.run_ahead()
