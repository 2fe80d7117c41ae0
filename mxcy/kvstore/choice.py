"""Creation of stores, and the choice of the store for a training."""

import math

from mxcy import env
from mxcy.base import MXNetError
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.kvstore import KVStore
from mxcy.kvstore.local import LocalStore
from mxcy.profiler.control import note_store

__all__ = ["LARGEST_UPDATE", "choose_store", "create"]

#: A 'local' store does not update larger weights, which would be copied twice per step.
LARGEST_UPDATE = 16 * 1024 * 1024

#: components of the names of distributed stores
_PARTS = frozenset(("dist", "sync", "async", "device", "p3", "p3store"))


def create(name="local"):
    """Create a store.

    Parameters
    ----------
    name : str
        ``'local'`` and ``'device'``, or ``'local_update_cpu'``, ``'local_allreduce_cpu'`` and
        ``'local_allreduce_device'``, sum in this process. ``'dist'``, ``'dist_sync'`` etc. sum over
        the processes of a job, which is this process alone unless started by MPI;
        ``'dist_async'`` updates values by an optimizer at each push. Other names are those of
        registered classes.

    Returns
    -------
    KVStoreBase

    Raises
    ------
    TypeError
        If the name is not a str.
    MXNetError
        If there is no such store.
    """
    if not isinstance(name, str):
        raise TypeError("name must be a string")
    registered = KVStoreBase.kv_registry.get(name.lower())
    if registered is not None:
        return registered()
    parts = name.lower().split("_")
    if "dist" in parts:
        if not _PARTS.issuperset(parts):
            raise MXNetError(
                f"key-value store {name!r}: expected 'dist_sync', 'dist_async', "
                "'dist_device_sync' or 'dist_device_async'"
            )
        store = _over_processes(name.lower())
        note_store(store.handle)
        return store
    return KVStore(LocalStore(name.lower()))


def _over_processes(kind):
    """Create a distributed store; imported lazily, for programs of a single process."""
    from mxcy.kvstore.dist_store import DistStore
    from mxcy.kvstore.served_store import ServedStore
    from mxcy.kvstore.sliced import SlicedKVStore

    if env.get("DMLC_PS_VAN_TYPE") == "p3":
        if "async" in kind:
            raise MXNetError(f"key-value store {kind!r}: with DMLC_PS_VAN_TYPE=p3, use 'dist_sync'")
        return SlicedKVStore(ServedStore(kind, env.get("MXNET_KVSTORE_SLICE_THRESHOLD")))
    return KVStore(ServedStore(kind) if "async" in kind else DistStore(kind))


def choose_store(store, num_device, arg_params):
    """Choose the key-value store, and whether it runs the optimizer.

    Parameters
    ----------
    store : str, KVStore or None
        The user's argument.
    num_device : int
        Number of devices.
    arg_params : dict of str to NDArray
        The parameters.

    Returns
    -------
    store : KVStoreBase or None
        None if gradients need not be summed.
    on_store : bool
        Whether it runs the optimizer.

    Raises
    ------
    TypeError
        If `store` has another type.
    """
    on_store = env.get("MXNET_UPDATE_ON_KVSTORE")
    if store is None:
        return None, False
    if isinstance(store, KVStoreBase):
        return store, on_store and store.is_capable(KVStoreBase.OPTIMIZER)
    if not isinstance(store, str):
        raise TypeError("kvstore must be KVStore, str or None")
    if num_device == 1 and "dist" not in store:
        return None, False
    if store == "local" and arg_params:
        largest = max(math.prod(array.shape) for array in arg_params.values())
        on_store = on_store and largest <= LARGEST_UPDATE
    created = create(store)
    return created, on_store and created.is_capable(KVStoreBase.OPTIMIZER)
