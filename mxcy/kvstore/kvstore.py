"""The store that users see: keys one by one or in lists, values on one device or several."""

import pickle

from mxcy import env
from mxcy._library.api_calls import api_call
from mxcy.base import MXNetError
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.compression import GradientCompression
from mxcy.ndarray import NDArray
from mxcy.optimizer import state_files

__all__ = ["KVStore"]

_WORKERS = 4  # the group of processes in MXNet's numbers


class KVStore(KVStoreBase):
    """A mapping from keys to arrays that adds up what is pushed to a key.

    Make one by `create`.

    Parameters
    ----------
    handle : LocalStore
        What keeps the values.
    """

    def __init__(self, handle):
        self.handle = handle
        self._updater = None
        self._compression = None

    # -- values -----------------------------------------------------------------------------------

    def init(self, key, value):
        """Put new keys with their first values into the store.

        Parameters
        ----------
        key : int, str or list
            The key or keys; all keys of a store are ints, or all are strings.
        value : NDArray or list of NDArray
            The value of each key.

        Raises
        ------
        MXNetError
            When a key is there already.
        """
        self.handle.init_all([(one, arrays[0]) for one, arrays in _pairs(key, value)])

    @api_call("MXKVStorePushEx")
    def push(self, key, value, priority=0):
        """Add up the values of each key, and put the sum into the store or through the updater.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        value : NDArray, list of NDArray or list of list of NDArray
            For each key one array, or one per device.
        priority : int
            Higher ones may be done first.

        Raises
        ------
        MXNetError
            When a key is unknown, or a shape differs from that of the stored value.
        """
        pushed = {}
        for one, arrays in _pairs(key, value):
            pushed.setdefault(one, []).extend(arrays)  # a key that comes twice is added up
        for one, arrays in pushed.items():
            if self._compression is not None:
                if any(array.stype != "default" for array in arrays):
                    raise MXNetError(f"key {one}: gradient compression takes dense arrays only")
                arrays = [self._compression(one, i, array) for i, array in enumerate(arrays)]
            self.handle.push(one, arrays, priority)

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
            Higher ones may be done first.
        ignore_sparse : bool
            Leave out row_sparse values and arrays, for which there is `row_sparse_pull`; otherwise
            all rows are copied.

        Raises
        ------
        MXNetError
            When a key is unknown, or a shape differs from that of the stored value.
        """
        assert out is not None, "pull needs arrays to put the values into: out"
        for one, arrays in _pairs(key, out):
            if ignore_sparse:
                dense = not self.handle.is_sparse(one)
                arrays = [array for array in arrays if dense and array.stype == "default"]
            self.handle.pull(one, arrays, priority)

    @api_call("MXKVStorePullRowSparseEx")
    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copy rows of row_sparse values to row_sparse arrays.

        Parameters
        ----------
        key : int, str or list
            The key or keys.
        out : RowSparseNDArray, list of them or list of list of them
            For each key the array or arrays that take the rows; others of their rows go.
        priority : int
            Higher ones may be done first.
        row_ids : NDArray, list of NDArray or list of list of NDArray
            The rows, in any order and of any number type: for all arrays of a key, or for each.

        Raises
        ------
        MXNetError
            When a value or an array is not row_sparse, a key is unknown, or a row out of bounds.
        """
        assert out is not None, "row_sparse_pull needs arrays to put the rows into: out"
        assert row_ids is not None, "row_sparse_pull needs the rows to get: row_ids"
        for one, arrays, ids in _with_ids(key, out, row_ids):
            for array, rows in zip(arrays, ids, strict=True):
                self.handle.pull_rows(one, array, rows)

    @api_call("MXKVStorePushPullEx")
    def pushpull(self, key, value, out=None, priority=0):
        """`push`, then `pull` into `out`, by default into the arrays that were pushed."""
        out = value if out is None else out
        if self._compression is None:
            several = isinstance(key, list | tuple)
            all_of_it = (key, value, out) if several else ([key], [value], [out])
            left = self.handle.push_and_pull(*all_of_it, priority)
            if left == []:
                return
            if left is not None:
                key, value, out = ([of[i] for i in left] for of in all_of_it)
        self.push(key, value, priority)
        self.pull(key, out, priority, ignore_sparse=False)

    def broadcast(self, key, value, out, priority=0):
        """`init`, then `pull` into `out`."""
        self.init(key, value)
        self.pull(key, out, priority)

    def _init_parameters(self, keys, values, outs, still):
        """`broadcast` of parameters; of those `still`, which have no gradients, no pushes come."""
        pairs = [(key, arrays[0]) for key, arrays in _pairs(keys, values)]
        self.handle.init_all(pairs, frozenset(still))
        self.pull(keys, outs)

    # -- the optimizer ----------------------------------------------------------------------------

    @staticmethod
    def is_capable(capability):
        """Whether the store can do something, see `KVStoreBase.is_capable`."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"Unknown capability: {capability}")

    def set_optimizer(self, optimizer):
        """Let an optimizer change the stored values by what is pushed.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer; keys are the indices of its weights.
        """
        self._set_updater(self.handle.updater_of(optimizer, self._updater))

    def _set_updater(self, updater):
        """Let ``updater(key, pushed, stored)`` change the stored values."""
        self.handle.settle()
        self._updater = updater
        self.handle.updater = updater

    def set_gradient_compression(self, compression_params):
        """Round what is pushed to a few levels; what is lost is made up for by the next push.

        Stores over several processes send bits then, for keys that are put in afterwards.

        Parameters
        ----------
        compression_params : dict
            ``{'type': '1bit' or '2bit', 'threshold': 0.5}``.

        Raises
        ------
        Exception
            When the store is not of kind ``'device'``, and not over several processes.
        MXNetError
            When there is no such type.
        """
        if not self.handle.compresses:
            raise Exception("Gradient compression is not supported for this type of kvstore")
        self._compression = self.handle.compress(GradientCompression(**compression_params))

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the optimizer to a file, see `KVStoreBase`."""
        assert self._updater is not None, "Cannot save states: the store has no optimizer"
        self.handle.check_states()
        self.handle.settle()
        if self.rank != 0:  # all workers have the same states
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
        """How values of several devices are added up.

        Returns
        -------
        dict
            ``reduce_threads`` (MXNET_KVSTORE_REDUCTION_NTHREADS: 1, or the team works on arrays of
            at least ``bigarray_bound`` elements), ``sums``, the numbers of ``serial``, ``parallel``
            and ``tree`` ones so far, and ``trees`` for each group of devices
            (MXNET_KVSTORE_USETREE): one tree per root, as lists of the devices at each level. A
            store over several processes also tells the library that they reach each other by,
            ``engine``, and its ``buckets``: the ``keys`` of each, its ``length`` in bytes, how many
            ``sessions`` it has had, the ``bytes`` of them, the ``seconds`` that they took, those in
            which it was ``held`` back for other keys, and the ``hidden`` share of the seconds in
            which the process's other threads computed; ``last`` is when, by `time.monotonic`, the
            last session's first push came, it began and it ended. ``keys`` has ``sums``, ``bytes``,
            ``seconds`` and ``hidden`` of each key.
            One with values on servers tells their ``partition``: of each key the server, the first
            element and the length of each part.
        """
        return self.handle.stats()

    # -- workers ----------------------------------------------------------------------------------

    @property
    def type(self):
        """str: the kind of the store."""
        return self.handle.type

    @property
    def rank(self):
        """int: the number of this worker, from 0."""
        return self.handle.rank

    @property
    def num_workers(self):
        """int: how many workers there are."""
        return self.handle.num_workers

    @property
    def is_recovery(self):
        """bool: whether the launcher has started the job again after a failure."""
        return env.get("DMLC_NUM_ATTEMPT") > 0

    @property
    def joined_at(self):
        """int: how many steps the job had made when this worker joined it; 0 from its start on."""
        return self.handle.joined_at

    def on_change(self, function):
        """Have a function called when workers have died, and the others go on, or have joined.

        Parameters
        ----------
        function : callable
            ``function(old, new)`` gets the numbers of workers, in the program's thread, when all of
            them begin the same round of pushes, or have ended the same step; `rank` and
            `num_workers` have changed then.
        """
        self.handle.on_change(function)

    def join(self, trainer=None):
        """Have no more data: take part in the others' sums with zeros, until all workers join.

        All workers call it, at the end of each epoch. Those with fewer batches get there first; the
        store's values follow in all of them.

        Parameters
        ----------
        trainer : gluon.Trainer, optional
            The trainer that has used the store; its parameters get the stored values. Its optimizer
            runs in the store.

        Returns
        -------
        int
            The worker that joined last.

        Raises
        ------
        MXNetError
            When the store has rows, servers or bits for values, which cannot be joined, or the
            trainer updates its parameters itself.
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
        """Wait until all workers come here."""
        self.handle.barrier()

    def _send_command_to_servers(self, head, body):
        """Have all servers of a job do something, and wait until they have.

        Parameters
        ----------
        head : int
            What it is; servers print others than those of MXNet, and do nothing.
        body : str
            More about it.
        """
        self.handle.send_command(head, body)

    def _note_samples(self, count):
        """Count samples that this worker has trained with."""
        self.handle.note_samples(count)

    def _settle(self):
        """Wait until what has been pushed has changed the stored values."""
        self.handle.settle()

    def get_num_dead_node(self, node_id, timeout=60):
        """How many processes of the job have died.

        Parameters
        ----------
        node_id : int
            Which are meant: 1 the scheduler, 2 servers, 4 workers, or a sum of these.
        timeout : int
            Seconds without a sign of life after which a worker counts as dead: such as it is
            stopped, or its machine does not answer. MPI ends the job when a process dies, so there
            are no dead servers that anybody could count.

        Returns
        -------
        int
        """
        return self.handle.dead_workers(timeout) if node_id & _WORKERS else 0

    def __reduce__(self):
        raise pickle.PicklingError("a KVStore cannot be pickled: it belongs to its process")


def _with_ids(keys, outs, row_ids):
    """Each key with its arrays and as many lists of rows."""
    for i, (key, arrays) in enumerate(_pairs(keys, outs)):
        ids = row_ids[i] if isinstance(keys, list | tuple) and _several(row_ids) else row_ids
        ids = list(ids) if _several(ids) else [ids] * len(arrays)
        assert len(ids) in (1, len(arrays)), f"key {key}: {len(arrays)} arrays, {len(ids)} row_ids"
        yield key, arrays, ids if len(ids) == len(arrays) else ids * len(arrays)


def _several(value):
    return isinstance(value, list | tuple)


def _pairs(keys, values):
    """Each key with the list of its arrays.

    Raises
    ------
    AssertionError
        When keys are of several types, or there are not as many values as keys.
    TypeError
        When a value is no NDArray.
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
