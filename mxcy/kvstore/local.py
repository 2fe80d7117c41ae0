"""Store of a single process, which sums over its devices."""

import contextlib

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base.suggestions import did_you_mean
from mxcy.base import MXNetError
from mxcy.context import num_gpus
from mxcy.kvstore.tree_sum import TreeSum
from mxcy.optimizer import get_updater

__all__ = ["LocalStore", "kinds", "why_not"]

_KINDS = ("local", "local_update_cpu", "local_allreduce_cpu", "device", "local_allreduce_device")
#: part of the name of MXNet's other stores -> their purpose
_ELSEWHERE = {"p3": "add up over several machines", "nccl": "add up on NVIDIA's GPUs"}


def kinds():
    """Names of the stores available on this machine."""
    return (*_KINDS, "nccl") if num_gpus() else _KINDS


def why_not(kind):
    """Explain why a store of MXNet is not available."""
    purpose_of = next((purpose for part, purpose in _ELSEWHERE.items() if part in kind), None)
    return f": mxcy works in one process on CPUs, and cannot {purpose_of}" if purpose_of else ""


class LocalStore:
    """Holds an array per key, and sums pushes over devices.

    The backend of `KVStore`; `DistStore` also sums over processes.

    Parameters
    ----------
    kind : str
        One of `kinds`, or a type of a subclass. They differ in where sums are computed, which is
        irrelevant on CPUs; "nccl" holds values on GPUs only.

    Attributes
    ----------
    single_calls : dict
        See `new_single_call`.

    Raises
    ------
    MXNetError
        If `kind` is unknown.
    """

    rank = 0
    num_workers = 1

    def __init__(self, kind):
        known = kinds()
        if kind not in known and "dist" not in kind:
            raise MXNetError(
                f"there is no key-value store {kind!r}{why_not(kind)}; choose one of {known}"
                f"{did_you_mean(kind, known)}"
            )
        self.type, self.single_calls = kind, {}
        self.updater = None
        self._values = {}
        self._numbers = {}  # key -> index, in order of initialization
        self._threads = env.get("MXNET_KVSTORE_REDUCTION_NTHREADS")
        self._bound = env.get("MXNET_KVSTORE_BIGARRAY_BOUND")
        self._sums = {"serial": 0, "parallel": 0, "tree": 0}
        self._uses_trees = self.compresses and env.get("MXNET_KVSTORE_USETREE")
        self._trees = {}  # devices -> TreeSum

    @property
    def compresses(self):
        """bool: whether gradient compression is supported."""
        return "device" in self.type

    def compress(self, compression):
        """Return the compression to apply to gradients before a push."""
        return compression

    def init_all(self, pairs, still=()):
        """Initialize new keys with copies of values; those in `still` are rarely pushed."""
        for key, value in pairs:
            self._check_new(key, self._values)
            self._put(key, value.copy())

    @staticmethod
    def _check_new(key, known):
        """Check that a key is new and of the same type as the known ones."""
        if key in known:
            raise MXNetError(
                f"duplicate init of key {key}. Please double check if you called kv.init or "
                "kv.broadcast with this key multiple times"
            )
        if any(isinstance(other, str) != isinstance(key, str) for other in known):
            raise MXNetError(f"Mixed key types are not allowed: {key!r} among others")

    def _put(self, key, value):
        if self.type == "nccl" and value.context.device_type != "gpu":
            raise MXNetError(f"key {key}: 'nccl' keeps values on GPUs, got one on {value.context}")
        self._values[key] = value
        self._numbers[key] = len(self._numbers)

    def push(self, key, arrays, priority=0):
        """Replace a value by the sum of arrays, or pass the sum to the updater."""
        stored = self._value(key)
        self._check_shapes(key, arrays, stored)
        total = self._sum(key, arrays, stored.context)
        if self.updater is None and total.stype != stored.stype:
            self._values[key] = total.tostype(stored.stype)
        elif self.updater is None:
            self._values[key] = total.copy() if total is arrays[0] else total
        else:
            self.updater(key, total, stored)

    @staticmethod
    def _check_shapes(key, arrays, stored):
        for array in arrays:
            if array.shape != stored.shape:
                raise MXNetError(
                    f"key {key} has a value of shape {stored.shape}, got {array.shape}"
                )

    def _sum(self, key, arrays, context):
        """Sum in the order of devices or along a tree; large arrays in several threads."""
        if any(array.stype != "default" for array in arrays):
            return _sparse_sum([array.as_in_context(context) for array in arrays])
        trees = self._joining(arrays)
        if trees is not None:
            self._sums["tree"] += 1
            return trees.sum(arrays, self._root(key, arrays)).as_in_context(context)
        arrays = [array.as_in_context(context) for array in arrays]
        if len(arrays) == 1:
            return arrays[0]
        threads = self._threads if arrays[0].size >= self._bound else 1
        self._sums["parallel" if threads > 1 else "serial"] += 1
        return nd._internal._kvstore_sum(*arrays, threads=threads)

    def _joining(self, arrays):
        """The TreeSum for the devices of arrays, or None."""
        contexts = tuple(array.context for array in arrays)
        if any(array.stype != "default" for array in arrays):
            return None
        if not self._uses_trees or len(contexts) < 2 or len(set(contexts)) < len(contexts):
            return None
        if contexts not in self._trees:
            self._trees[contexts] = TreeSum(contexts)
        return self._trees[contexts]

    def _root(self, key, arrays):
        """The device at which a key is summed; it varies with the key."""
        return self._numbers[key] % len(arrays)

    def stats(self):
        """Statistics of sums; see `KVStore.stats`."""
        return {
            "reduce_threads": self._threads,
            "bigarray_bound": self._bound,
            "sums": dict(self._sums),
            "trees": [joining.trees for joining in self._trees.values()],
        }

    @staticmethod
    def _check_outs(key, arrays, value):
        for array in arrays:
            if array.shape != value.shape:
                raise MXNetError(
                    f"key {key} has a value of shape {value.shape}, but the array to fill "
                    f"has shape {array.shape}"
                )

    def pull(self, key, arrays, priority=0):
        """Copy a value to arrays."""
        value = self._value(key)
        self._check_outs(key, arrays, value)
        trees = self._joining(arrays)
        if trees is not None:
            trees.spread(value, arrays, self._root(key, arrays))
            return
        for array in arrays:
            value.copyto(array)

    def push_and_pull(self, keys, values, outs, priority=0):
        """Push and pull grouped keys; return the positions of the others, or None for all."""
        return None

    def new_single_call(self, key):
        """Prepare calls that push and pull a key in one operation, in `single_calls`, if any."""
        return None

    def is_sparse(self, key):
        """Whether a value is row_sparse or csr."""
        return self._value(key).stype != "default"

    def pull_rows(self, key, array, ids):
        """Copy the rows `ids` of a row_sparse value to a row_sparse array, sorted and unique."""
        value = self._value(key)
        for what, stype in (("the stored value", value.stype), ("out", array.stype)):
            if stype != "row_sparse":
                raise MXNetError(
                    f"row_sparse_pull: key {key}: {what} must be row_sparse, it is {stype}"
                )
        ids = ids.as_in_context(value.context).reshape((-1,))
        if array.context == value.context and array.dtype == value.dtype:
            nd.sparse.retain(value, ids, out=array)  # avoids a copy
        else:
            nd.sparse.retain(value, ids).copyto(array)

    def dead_workers(self, seconds):
        """Number of dead workers: always 0."""
        return 0

    #: whether this worker has joined a running job, which a single process cannot
    arriving, steps_before = False, 0

    @property
    def joined_at(self):
        """int: number of steps of the job before this worker joined: 0."""
        return 0

    def note_samples(self, count):
        """Do nothing: there is no job to report to."""

    def keys(self):
        """The keys of all values."""
        return self._values.keys()

    def on_change(self, function):
        """Do nothing: the number of workers never changes."""

    def of_first(self, value):
        """Return the first worker's value, i.e. `value`."""
        return value

    def join(self):
        """Return the last worker to join: this one."""
        return 0

    def barrier(self):
        """Do nothing: there are no other workers."""

    #: number of server processes
    servers = 0

    def send_command(self, head, body):
        """Do nothing: there are no servers."""

    def check_states(self):
        """Raise if optimizer states are not in this process."""

    def whole_states(self, updater):
        """Context in which the first worker's updater has all states."""
        return contextlib.nullcontext()

    def states_read(self):
        """Handle states loaded from a file into the updater."""

    def settle(self):
        """Wait until pushes have been applied: immediately here."""

    def updater_of(self, optimizer, before):
        """Create the updater of an optimizer that replaces `before`."""
        return get_updater(optimizer)

    def _value(self, key):
        try:
            return self._values[key]
        except KeyError:
            raise MXNetError(f"key {key} has not been inited") from None


def _sparse_sum(arrays):
    """Sum arrays, some of them sparse."""
    if len(arrays) == 1:
        return arrays[0]
    if {array.stype for array in arrays} == {"row_sparse"}:
        return nd.add_n(*arrays)
    return nd.add_n(*(array.tostype("default") for array in arrays))
