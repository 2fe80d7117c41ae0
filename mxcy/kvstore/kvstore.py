"""`KVStore`, the user interface: single keys or lists, values on one or several devices."""

import pickle

from mxcy import env
from mxcy._library.api_calls import api_call
from mxcy.base import MXNetError
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.compression import GradientCompression
from mxcy.ndarray import NDArray
from mxcy.optimizer import Optimizer, state_files

__all__ = ["KVStore"]

_KEYS = int, str
_WORKERS = 4  # MXNet's bit for the group of workers


class KVStore(KVStoreBase):
    """A mapping from keys to arrays that sums the values pushed to a key.

    Created by `create`.

    Parameters
    ----------
    handle : LocalStore
        The backend that holds the values.
    """

    def __init__(self, handle):
        self.handle = handle
        self._updater = None
        self._compression = None

    # -- values -----------------------------------------------------------------------------------

    def init(self, key, value):
        """Initialize new keys with values.

        Parameters
        ----------
        key : int, str or list
            The key or keys; the keys of a store are all ints or all strings.
        value : NDArray or list of NDArray
            The value of each key.

        Raises
        ------
        MXNetError
            If a key exists already.
        """
        self.handle.init_all([(each_key, arrays[0]) for each_key, arrays in _pairs(key, value)])

    @api_call("MXKVStorePushEx")
    def push(self, key, value, priority=0):
        """Sum the values of each key; store the sum, or pass it to the updater.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        value : NDArray, list of NDArray or list of list of NDArray
            For each key one array, or one per device.
        priority : int
            Priority hint; higher values may run first.

        Raises
        ------
        MXNetError
            If a key is unknown, or a shape differs from the stored value's.
        """
        pushed = {}
        for each_key, arrays in _pairs(key, value):
            pushed.setdefault(each_key, []).extend(arrays)  # values of duplicate keys are summed
        for each_key, arrays in pushed.items():
            if self._compression is not None:
                if any(array.stype != "default" for array in arrays):
                    raise MXNetError(
                        f"key {each_key}: gradient compression takes dense arrays only"
                    )
                arrays = [self._compression(each_key, i, array) for i, array in enumerate(arrays)]
            self.handle.push(each_key, arrays, priority)

    @api_call("MXKVStorePullEx")
    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copy the values of keys to arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        out : NDArray, list of NDArray or list of list of NDArray
            For each key the array or arrays to fill.
        priority : int
            Priority hint; higher values may run first.
        ignore_sparse : bool
            Skip row_sparse values and arrays, which `row_sparse_pull` handles; otherwise copy all
            rows.

        Raises
        ------
        MXNetError
            If a key is unknown, or a shape differs from the stored value's.
        """
        assert out is not None, "pull needs arrays to put the values into: out"
        for each_key, arrays in _pairs(key, out):
            if ignore_sparse:
                dense = not self.handle.is_sparse(each_key)
                arrays = [array for array in arrays if dense and array.stype == "default"]
            self.handle.pull(each_key, arrays, priority)

    @api_call("MXKVStorePullRowSparseEx")
    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copy rows of row_sparse values to row_sparse arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        out : RowSparseNDArray, list of them or list of list of them
            For each key the array or arrays to fill; their previous rows are dropped.
        priority : int
            Priority hint; higher values may run first.
        row_ids : NDArray, list of NDArray or list of list of NDArray
            Row indices, in any order and integer dtype: one for all arrays of a key, or one each.

        Raises
        ------
        MXNetError
            If a value or an array is not row_sparse, a key is unknown, or a row out of bounds.
        """
        assert out is not None, "row_sparse_pull needs arrays to put the rows into: out"
        assert row_ids is not None, "row_sparse_pull needs the rows to get: row_ids"
        for each_key, arrays, ids in _with_ids(key, out, row_ids):
            for array, rows in zip(arrays, ids, strict=True):
                self.handle.pull_rows(each_key, array, rows)

    @api_call("MXKVStorePushPullEx")
    def pushpull(self, key, value, out=None, priority=0):
        """`push`, then `pull` into `out`, by default into the arrays that were pushed."""
        out = value if out is None else out
        if self._compression is None:
            if isinstance(key, _KEYS):
                calls = self.handle.single_calls.get(key) or self.handle.new_single_call(key)
                if calls is not None and calls.push([value], [out], priority):
                    return
            elif isinstance(key, list | tuple):
                left = self.handle.push_and_pull(key, value, out, priority)
                if left == []:
                    return
                if left is not None:
                    key, value, out = ([of[i] for i in left] for of in (key, value, out))
        self.push(key, value, priority)
        self.pull(key, out, priority, ignore_sparse=False)

    def broadcast(self, key, value, out, priority=0):
        """`init`, then `pull` into `out`."""
        self.init(key, value)
        self.pull(key, out, priority)

    def _init_parameters(self, keys, values, outs, still):
        """`broadcast` parameters; those in `still` have no gradients and will not be pushed."""
        pairs = [(key, arrays[0]) for key, arrays in _pairs(keys, values)]
        self.handle.init_all(pairs, frozenset(still))
        self.pull(keys, outs)

    # -- the optimizer ----------------------------------------------------------------------------

    @staticmethod
    def is_capable(capability):
        """Return whether the store has a capability, see `KVStoreBase.is_capable`."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"Unknown capability: {capability}")

    def set_optimizer(self, optimizer):
        """Update stored values with pushed gradients by an optimizer.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer; keys are the indices of its weights.
        """
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                "set_optimizer: optimizer: expected an Optimizer such as mx.optimizer.SGD(), "
                f"got {optimizer!r}"
            )
        self._set_updater(self.handle.updater_of(optimizer, self._updater))

    def _set_updater(self, updater):
        """Set ``updater(key, pushed, stored)``, which updates stored values."""
        self.handle.settle()
        self._updater = updater
        self.handle.updater = updater

    def set_gradient_compression(self, compression_params):
        """Quantize pushed gradients, adding the residual to the next push.

        Distributed stores then send bits, for keys initialized afterwards.

        Parameters
        ----------
        compression_params : dict
            ``{'type': '1bit' or '2bit', 'threshold': 0.5}``.

        Raises
        ------
        Exception
            If the store is neither ``'device'`` nor distributed.
        MXNetError
            If the type is unknown.
        """
        if not self.handle.compresses:
            raise Exception("Gradient compression is not supported for this type of kvstore")
        self._compression = self.handle.compress(GradientCompression(**compression_params))

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the optimizer to a file, see `KVStoreBase`."""
        assert self._updater is not None, "Cannot save states: the store has no optimizer"
        self.handle.check_states()
        self.handle.settle()
        if self.rank != 0:  # the same states in all workers
            return
        with self.handle.whole_states(self._updater):
            state_files.save(fname, self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        """Read the states of the optimizer from a file that `save_optimizer_states` wrote."""
        assert self._updater is not None, "Cannot load states: the store has no optimizer"
        self.handle.check_states()
        self.handle.settle()
        state_files.load(fname, self._updater)
        self.handle.states_read()

    def stats(self):
        """Return statistics of sums.

        Returns
        -------
        dict
            ``reduce_threads`` (MXNET_KVSTORE_REDUCTION_NTHREADS; if not 1, arrays of at least
            ``bigarray_bound`` elements use all threads), ``sums``, the counts of ``serial``,
            ``parallel`` and ``tree`` sums, and ``trees`` for each group of devices
            (MXNET_KVSTORE_USETREE): one tree per root, as lists of the devices at each level. A
            distributed store adds its communication library, ``engine``, and ``buckets``: the
            ``keys`` of each, its ``length`` in bytes, the number of ``sessions``, their ``bytes``
            and ``seconds``, the seconds it was ``held`` back for other keys, and the ``hidden``
            fraction of the time, in which other threads of the process computed; ``last`` are the
            times (`time.monotonic`) of the last session's first push, start and end. ``keys`` has
            ``sums``, ``bytes``, ``seconds`` and ``hidden`` of each key.
            A store with values on servers adds their ``partition``: server, first element and
            length of each part of each key.
        """
        return self.handle.stats()

    # -- workers ----------------------------------------------------------------------------------

    @property
    def type(self):
        """str: type of the store."""
        return self.handle.type

    @property
    def rank(self):
        """int: rank of this worker, from 0."""
        return self.handle.rank

    @property
    def num_workers(self):
        """int: number of workers."""
        return self.handle.num_workers

    @property
    def is_recovery(self):
        """bool: whether the launcher has restarted the job after a failure."""
        return env.get("DMLC_NUM_ATTEMPT") > 0

    @property
    def joined_at(self):
        """int: number of steps of the job before this worker joined; 0 for initial workers."""
        return self.handle.joined_at

    def on_change(self, function):
        """Register a function to call when workers have died (and the job continues) or joined.

        Parameters
        ----------
        function : callable
            ``function(old, new)`` gets the numbers of workers. It runs in the program's thread,
            when all workers start the same round of pushes or have ended the same step; `rank` and
            `num_workers` already have their new values.
        """
        self.handle.on_change(function)

    def join(self, trainer=None):
        """Signal the end of data: contribute zeros to the others' sums until all workers join.

        All workers call it at the end of each epoch; those with fewer batches wait here. The
        store's values stay the same in all workers.

        Parameters
        ----------
        trainer : gluon.Trainer, optional
            Trainer that uses the store, which must run its optimizer; its parameters get the
            stored values.

        Returns
        -------
        int
            Rank of the last worker to join.

        Raises
        ------
        MXNetError
            If the store has row_sparse or compressed values or servers, which do not support it, or
            the trainer updates its parameters itself.
        """
        if trainer is not None and trainer._update_on_kvstore is False:
            raise MXNetError("join: only a store that runs the optimizer has the weights")
        last = self.handle.join()
        if trainer is not None:
            for i, parameter in enumerate(trainer._params):
                if parameter.grad_req != "null" and i in self.handle.keys():
                    self.pull(i, parameter.list_data(), priority=-i)
        return last

    def _barrier(self):
        """Wait until all workers reach this call."""
        self.handle.barrier()

    def _send_command_to_servers(self, head, body):
        """Send a command to all servers of the job, and wait for its completion.

        Parameters
        ----------
        head : int
            The command; servers print and ignore those unknown to MXNet.
        body : str
            Argument of the command.
        """
        self.handle.send_command(head, body)

    def _note_samples(self, count):
        """Count trained samples of this worker."""
        self.handle.note_samples(count)

    def _settle(self):
        """Wait until all pushes have been applied to the stored values."""
        self.handle.settle()

    def get_num_dead_node(self, node_id, timeout=60):
        """Return the number of dead processes in the job.

        Parameters
        ----------
        node_id : int
            Group of processes: 1 scheduler, 2 servers, 4 workers, or a sum of these.
        timeout : int
            Seconds without a response after which a worker counts as dead, e.g. because it is
            stopped or its machine is unreachable. Servers are never dead: MPI aborts the job if a
            process dies.

        Returns
        -------
        int
        """
        return self.handle.dead_workers(timeout) if node_id & _WORKERS else 0

    def __reduce__(self):
        raise pickle.PicklingError("a KVStore cannot be pickled: it belongs to its process")


def _with_ids(keys, outs, row_ids):
    """Pair each key with its arrays and equally many row index arrays."""
    for i, (key, arrays) in enumerate(_pairs(keys, outs)):
        ids = row_ids[i] if isinstance(keys, list | tuple) and _several(row_ids) else row_ids
        ids = list(ids) if _several(ids) else [ids] * len(arrays)
        assert len(ids) in (1, len(arrays)), f"key {key}: {len(arrays)} arrays, {len(ids)} row_ids"
        yield key, arrays, ids if len(ids) == len(arrays) else ids * len(arrays)


def _several(value):
    return isinstance(value, list | tuple)


def _pairs(keys, values):
    """Pair each key with the list of its arrays.

    Raises
    ------
    AssertionError
        If keys have different types, or the number of values differs.
    TypeError
        If a value is not an NDArray.
    """
    if not isinstance(keys, list | tuple):
        assert isinstance(keys, int | str), f"unexpected type for keys: {type(keys)}"
        keys, values = [keys], [values]
    assert len(keys) == len(values), f"there are {len(keys)} keys, but {len(values)} values"
    assert len({type(key) for key in keys}) < 2, "inconsistent types of keys detected."
    for key, value in zip(keys, values, strict=True):
        arrays = [value] if isinstance(value, NDArray) else value
        if not isinstance(arrays, list | tuple) or not all(isinstance(a, NDArray) for a in arrays):
            raise TypeError(f"key {key}: expected an NDArray or a list of them, got {value!r}")
        yield key, arrays
