"""Values that the workers of a job share: what each of them pushes is added up over all."""

import contextlib
import zlib

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base.dtypes import CODES, code_of
from mxcy._base.last_used import LastUsed
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist import shutdown
from mxcy.dist.job import job
from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.sums import CompressedSum
from mxcy.dist.worlds import collectives
from mxcy.kvstore.engine_calls import TRAVELS
from mxcy.kvstore.group_call import GroupCall
from mxcy.kvstore.grouped import groups_of
from mxcy.kvstore.job_store import JobStore
from mxcy.kvstore.key_calls import delivering, pull_key, push_key, settling
from mxcy.kvstore.lanes import Lanes
from mxcy.kvstore.newcomers import Keeper, take_keys, take_optimizer, take_values
from mxcy.kvstore.optimizer_terms import agree, terms_of
from mxcy.kvstore.shared import Shared, name_of
from mxcy.kvstore.shared_rows import SharedRows, host_server
from mxcy.kvstore.shared_updates import SharedUpdates
from mxcy.optimizer import get_updater

__all__ = ["DistStore"]


class DistStore(JobStore):
    """Keeps an array per key, the same in all workers of the job.

    Each push of a worker is part of the next sum of its key. Pushes and pulls are operations of the
    engine: they start when their arrays are ready, and nobody waits for them but who reads.

    Parameters
    ----------
    kind : str
        A name with 'dist' in it.

    Raises
    ------
    MXNetError
        When the job cannot be opened.
    """

    exchange = updates = None

    def __init__(self, kind):
        super().__init__(kind)
        self._compression = self._compressing = None
        self._rows = None  # of row_sparse keys
        self._lanes = Lanes()
        self.shared = {}
        self.exchange = self._observed(job.new_exchange())
        inherited = self.exchange.inherited or {}
        self._inherited_optimizer = inherited.get("optimizer")
        self._inherited_compression = inherited.get("compression")
        self.steps_before += inherited.get("before", 0)
        self._first_step = self._progress.admission.steps.get(self.exchange.number, 0)
        self._bucket_vars = {}  # order calls of all keys of a bucket
        self._overlaps = env.get("MXCY_DIST_OVERLAP")
        self._calls = LastUsed(8)  # keys of a call -> its groups
        self._progress.submit(_hurry)
        shutdown.before_close(front.wait_all)

    def submit(self, slot, counter):
        """Count a push that the program calls for: of a key, or of all of a bucket."""
        membership = self._progress.membership
        with membership.lock:
            membership.begin(slot.submitted + (slot.bucket.rounds.submitted if slot.bucket else 0))
            counter.submitted += 1
        self._progress.admission.arriving = False

    # -- compression ------------------------------------------------------------------------------

    @property
    def compresses(self):
        return True

    def compress(self, compression):
        """Send keys that are put in from now on as few bits; all workers call it."""
        what = "set_gradient_compression()"
        mine = [compression.type, compression.threshold]
        if self.arriving:
            settings = [self._inherited_compression, mine]
        else:
            settings = self._progress.call(
                collectives.gather_texts(self._progress.world, mine), what
            )
        if any(one != settings[0] for one in settings):
            raise MXNetError(f"{what}: the workers' settings differ: {settings}")
        self._compression = compression
        self._compress(Levels(*mine))

    def _compress(self, levels):
        self._compressing = self._observed(job.new_exchange(CompressedSum(levels)))

    def _rounded(self, key, total):
        """What travels of a sum over devices."""
        if self.shared[key].exchange is self.exchange:
            return total
        kind = name_of(self._value(key).dtype)
        if kind != "float32":
            raise MXNetError(f"key {key!r}: gradient compression takes float32, not {kind}")
        return self._compression(key, 0, total)

    # -- keys -------------------------------------------------------------------------------------

    def init_all(self, pairs, still=()):
        """Put in new keys with the first worker's values; all workers call it."""
        known = dict.fromkeys(self._values)
        for key, _ in pairs:
            self._check_new(key, known)
            known[key] = None
        if self.arriving and take_values(self, self._exchanges, pairs):
            return
        dense = [(key, value) for key, value in pairs if value.stype == "default"]
        exchange = self._compressing or self.exchange
        entries, delivers = [], []
        for key, value in dense:
            travels = TRAVELS.get(name_of(value.dtype), name_of(value.dtype))
            plain = travels == name_of(value.dtype) and exchange is self.exchange
            self.shared[key] = Shared(travels, plain, exchange)
            entries.append((key, value.as_nd_ndarray().astype(travels).asnumpy()))
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
            self._rows.init(pairs, name_of)
        for key, value in pairs:
            empty = nd.sparse.zeros(value.stype, value.shape, cpu(), value.dtype)
            self._put(key, empty if self.num_workers > 1 else value.copy())

    def _share_rows(self):
        """Have workers own rows: they run this store's updater on them."""
        self._rows = SharedRows(self._progress, waits=True, among_workers=True)
        number = self._rows.client.number

        def host():
            rules = host_server(self._progress, self.rank).rules
            rules.follow(number, lambda: self.updater)

        self._progress.submit(host)

    def is_sparse(self, key):
        return self._value(key).stype != "default"

    def pull_rows(self, key, array, ids):
        """Copy rows of a row_sparse value, which lie with their owners, to a row_sparse array."""
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
        """Add arrays to this worker's part of a key's next sum."""
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
        """What orders calls of all keys of a bucket, and of single ones."""
        return self._bucket_vars.get(bucket) or self._bucket_vars.setdefault(bucket, front.Var())

    def _total(self, key, arrays):
        """The sum over this worker's devices, of the type that travels."""
        stored, travels = self._value(key), self.shared[key].travels
        self._check_shapes(key, arrays, stored)
        total = self._sum(key, [array.as_nd_ndarray() for array in arrays], stored.context)
        if total.stype != "default":
            self.shared[key].by_rows = True
            total = total.tostype("default")
        if name_of(total.dtype) != travels:
            total = total.astype(travels)
        return total.detach()  # a gradient may get other memory before its turn

    def put(self, key, value):
        """Have an array as a key's value."""
        self._values[key] = value

    def current(self, key):
        """A key's value, on the progress thread."""
        shared = self.shared[key]
        if shared.latest is not None:
            total, lease = shared.latest
            array, shared.latest = total[shared.slot.place], None
            code, shape = code_of(shared.travels), shared.slot.shape
            self._values[key] = front.from_memory(
                array.ctypes.data, (array, lease), shape, code, cpu()
            )
        return self._values[key]

    def replace(self, key):
        """Have what the program's arrays are copied to be a key's value; on the progress thread."""
        self.shared[key].latest, self._values[key] = None, self.shared[key].kept

    def pull(self, key, arrays, priority=0):
        """Copy a value to arrays when all that this worker has pushed to it is in."""
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
        """Push and pull keys whose buckets the call has whole, bucket by bucket.

        Returns
        -------
        list of int or None
            The positions of the keys that are left to do one by one; None: all are.
        """
        if len(keys) > 1 and not self._overlaps:
            _await_all(values)
        groups, left = self._groups(keys)
        if groups is None or not len(keys) == len(values) == len(outs):
            return None
        left = list(left)
        for group in groups:
            sources = group.parts(values)
            here = outs is values or (len(keys) == 1 and outs[0] is values[0])
            targets = sources if here else group.parts(outs)
            if sources is None or targets is None:
                left += group.positions
            else:
                GroupCall(self, group, sources, targets).push(priority)
        return left

    def _groups(self, keys):
        if len(keys) == 1:
            known = self.shared.get(keys[0]) if isinstance(keys[0], int | str) else None
            if known is None or known.slot is None or known.slot.bucket is None:
                return None, []
            if len(known.slot.bucket.slots) > 1:
                return None, []
            if known.groups is None:
                known.groups = groups_of(keys, self.shared, lambda name: CODES[name])
            return known.groups
        try:
            called = tuple(keys)
            groups = self._calls.get(called)
        except TypeError:
            return None, []
        if groups is None:
            groups = groups_of(called, self.shared, lambda name: CODES[name])
            if groups[0] is not None:
                self._calls.put(called, groups)
        return groups

    def check_states(self):
        if self._rows is not None:
            raise MXNetError(
                "the states of row_sparse values are kept by the workers, and cannot be saved or "
                "loaded yet"
            )

    def settle(self):
        """Wait until all that this worker has pushed has been added up and has changed values."""
        waits = [settling(self, shared) for shared in self.shared.values() if shared.slot]
        for wait in waits:
            wait.wait_to_read()

    # -- workers --------------------------------------------------------------------------------

    def join(self):
        """Take part in sums with zeros until all workers do; the last one."""
        if self._rows is not None:
            raise MXNetError(
                "join: row_sparse values are kept by the workers, all of which push rows"
            )
        if self._compression is not None and self._compression.type == "1bit":
            raise MXNetError("join: no level of 1bit compression is zero")
        self.settle()
        return self._progress.join()

    @property
    def updater(self):
        """Updater, callable or None: what changes values by sums."""
        return self._updater

    @updater.setter
    def updater(self, updater):
        self._updater = updater
        if self.exchange is not None:
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
        """The updater with the first worker's settings; it keeps states of the same optimizer."""
        if self._inherited_optimizer is not None:
            state, self._inherited_optimizer = self._inherited_optimizer, None
            return take_optimizer(state, optimizer)
        self.settle()
        optimizer = self._progress.call(agree(self._progress.world, optimizer), "set_optimizer()")
        updater = get_updater(optimizer)
        if type(getattr(before, "optimizer", None)) is type(optimizer):
            updater.states, updater.states_synced = before.states, before.states_synced
        return updater

    def note_samples(self, count):
        """A step with that many samples has ended: workers may join after it."""
        super().note_samples(count)
        self._progress.admission.end_step(self.exchange.number)

    @property
    def joined_at(self):
        """int: how many steps the job had made when this worker joined it."""
        return self._first_step

    @property
    def has_rows(self):
        """bool: whether some values are row_sparse, and lie with their workers."""
        return self._rows is not None

    @property
    def compression(self):
        """list or None: how values that are put in from now on are rounded."""
        used = self._compression
        return used and [used.type, used.threshold]

    @property
    def _exchanges(self):
        return [one for one in (self.exchange, self._compressing) if one is not None]

    def _observed(self, exchange):
        exchange.on_session = self._lanes.trace
        exchange.keeper = Keeper(self, exchange)
        exchange.check_values(env.get("MXCY_DIST_CHECK_EVERY"), self._digest)
        if exchange.inherited is not None:
            take_keys(self, exchange)
        return exchange

    def _digest(self, key):
        """A number that tells a key's value from others; on the progress thread."""
        try:
            content = self.current(key).asnumpy().tobytes()
            if self.shared[key].slot.bucket.updating is not None:  # by others' settings as well
                content += repr(terms_of(self.updater.optimizer)["settings"]).encode()
            return zlib.crc32(content)
        except MXNetError:  # which those hear of who read it
            return 0

    def stats(self):
        """How values are added up; see `KVStore.stats`."""
        exchanges = self._exchanges
        return {
            **super().stats(),
            "engine": self._progress.world.engine,
            "buckets": [bucket for exchange in exchanges for bucket in exchange.stats()],
            "keys": {k: v for one in exchanges for k, v in one.stats_of_keys().items()},
        }


def _await_all(values):
    """Wait until arrays are computed; their errors stay for who reads them."""
    for value in values:
        for array in value if isinstance(value, list | tuple) else [value]:
            with contextlib.suppress(Exception):
                array.wait_to_read()


def _hurry():
    """Have the progress thread's operations start at once: others wait for them."""
    front.set_bulk_size(0)
    front.run_ahead()
