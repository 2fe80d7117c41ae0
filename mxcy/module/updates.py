"""Gradient aggregation over devices, and parameter updates."""

from mxcy import optimizer as optimizers
from mxcy.kvstore import KVStore
from mxcy.kvstore.choice import choose_store
from mxcy.optimizer import state_files

__all__ = ["Updates", "choose_store", "start_store", "update_on_store", "update_with"]


class Updates:
    """An optimizer together with the store that sums its gradients.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    store : KVStoreBase or None
        Store that sums gradients.
    on_store : bool
        Whether the store runs the optimizer.
    compression_params : dict, optional
        See `KVStore.set_gradient_compression`.
    """

    def __init__(self, optimizer, store, on_store, compression_params=None):
        self.optimizer, self.store, self.on_store = optimizer, store, on_store
        self.pulls_rows = False  # whether `Module.prepare` pulls rows of row_sparse weights
        self.updater = None if on_store else optimizers.get_updater(optimizer)
        if store is not None and compression_params:
            store.set_gradient_compression(compression_params)
        if on_store:
            store.set_optimizer(optimizer)

    def start(self, names, param_arrays, arg_params):
        """Initialize the store with the parameters; with `on_store`, pull them to the devices."""
        if self.store is not None:
            start_store(self.store, param_arrays, arg_params, names, self.on_store)

    def step(self, names, param_arrays, grad_arrays):
        """Update parameters with their gradients, given as lists of one array per device."""
        if self.on_store:
            update_on_store(param_arrays, grad_arrays, self.store, names, not self.pulls_rows)
        elif param_arrays:
            devices = len(param_arrays[0])
            update_with(param_arrays, grad_arrays, self.updater, devices, self.store, names)

    def pull_rows(self, names, param_arrays, row_ids):
        """Pull the rows ``{name: ids}`` of row_sparse weights."""
        self.pulls_rows = True
        for name, ids in row_ids.items():
            i = names.index(name)
            self.store.row_sparse_pull(name, param_arrays[i], row_ids=ids, priority=-i)

    def pull_all_rows(self, arg_params):
        """Pull all rows of row_sparse weights."""
        if not self.on_store:
            return
        for name, array in arg_params.items():
            if array.stype != "default":
                self.store.pull(name, array, ignore_sparse=False)

    def save_states(self, fname):
        """Write the optimizer's states to a file."""
        if self.on_store:
            self.store.save_optimizer_states(fname)
            return
        state_files.save(fname, self.updater.get_states())

    def load_states(self, fname):
        """Read the optimizer's states from a file that `save_states` wrote."""
        if self.on_store:
            self.store.load_optimizer_states(fname)
            return
        state_files.load(fname, self.updater)


def start_store(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Initialize a store with parameters, and pull them to the devices if it updates them.

    Parameters
    ----------
    kvstore : KVStoreBase
    param_arrays : list of list of NDArray
        For each parameter, one array per device.
    arg_params : dict of str to NDArray
        The values.
    param_names : list of str
    update_on_kvstore : bool
    """
    # All workers start from the same values, even if the store does not update them.
    shared = isinstance(kvstore, KVStore) and kvstore.num_workers > 1
    outs = []
    for name, arrays in zip(param_names, param_arrays, strict=True):
        out = arrays if update_on_kvstore or shared else []
        outs.append(out if update_on_kvstore else [*out, arg_params[name]])
    if isinstance(kvstore, KVStore):
        kvstore.broadcast(list(param_names), [arg_params[name] for name in param_names], out=outs)
        return
    for name, out in zip(param_names, outs, strict=True):
        kvstore.broadcast(name, arg_params[name], out=out)


def update_on_store(param_arrays, grad_arrays, kvstore, param_names, pull_sparse=True):
    """Push gradients to a store that runs the optimizer, and pull the parameters.

    Parameters
    ----------
    param_arrays, grad_arrays : list of list of NDArray
        For each parameter, its array and gradient (or None) per device.
    kvstore : KVStoreBase
    param_names : list of str
    pull_sparse : bool
        Whether to pull row_sparse parameters too, with all rows.
    """
    together = _pushed_together(kvstore, param_names, param_arrays, grad_arrays)
    if together:
        weights = [param_arrays[i] for i in together]
        _push_together(kvstore, param_names, grad_arrays, together, weights)
    for i, (name, weights, grads) in enumerate(
        zip(param_names, param_arrays, grad_arrays, strict=True)
    ):
        if grads[0] is None or i in together:
            continue
        if weights[0].stype == "default":  # the next forward pass needs the first layers first
            kvstore.pushpull(name, grads, out=weights, priority=-i)
            continue
        kvstore.push(name, grads, priority=-i)
        if pull_sparse:
            kvstore.pull(name, weights, priority=-i, ignore_sparse=False)


def _pushed_together(kvstore, names, weights, grads):
    """Indices of the parameters that the store accepts in one list."""
    if not isinstance(kvstore, KVStore) or "dist" not in kvstore.type or names is None:
        return {}
    return {
        i: None
        for i, (weight, grad) in enumerate(zip(weights, grads, strict=True))
        if grad[0] is not None and weight[0].stype == grad[0].stype == "default"
    }


def _push_together(kvstore, names, grads, numbers, outs=None):
    kvstore.pushpull([names[i] for i in numbers], [grads[i] for i in numbers], outs)


def update_with(param_arrays, grad_arrays, updater, num_device, kvstore=None, param_names=None):
    """Update each device's parameters by an updater, after a store has summed the gradients.

    Parameters
    ----------
    param_arrays, grad_arrays : list of list of NDArray
        For each parameter, its array and gradient (or None) per device.
    updater : callable
        ``updater(indices, grads, weights)``.
    num_device : int
    kvstore : KVStoreBase, optional
    param_names : list of str, optional
        Keys in the store.
    """
    together = _pushed_together(kvstore, param_names, param_arrays, grad_arrays)
    if together:
        _push_together(kvstore, param_names, grad_arrays, together)
    updates = [([], [], []) for _ in range(num_device)]
    for i, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=True)):
        if grads[0] is None:
            continue
        if kvstore is not None and i not in together:
            kvstore.pushpull(param_names[i], grads, priority=-i)
        for k, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
            for items, item in zip(updates[k], (i * num_device + k, grad, weight), strict=True):
                items.append(item)
    for indices, grads, weights in updates:
        if indices:
            updater(indices, grads, weights)
