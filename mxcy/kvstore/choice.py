"""Making stores; which one a training uses, and whether that runs the optimizer."""

import math

from mxcy import env
from mxcy.base import MXNetError
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.kvstore import KVStore
from mxcy.kvstore.local import LocalStore
from mxcy.profiler.control import note_store

__all__ = ["LARGEST_UPDATE", "choose_store", "create"]

#: A 'local' store does not update weights with more elements: they would travel twice per step.
LARGEST_UPDATE = 16 * 1024 * 1024

#: What names of stores over several processes consist of.
_PARTS = frozenset(("dist", "sync", "async", "device", "p3", "p3store"))


def create(name="local"):
    """Make a store.

    Parameters
    ----------
    name : str
        ``'local'`` and ``'device'`` add up in this process, as do their longer names
        ``'local_update_cpu'``, ``'local_allreduce_cpu'``, ``'local_allreduce_device'``; other
        names are those of registered classes. ``'dist'``, ``'dist_sync'`` and the like add up over
        the processes of a job, which is this process alone unless MPI has started it;
        ``'dist_async'`` has an optimizer change values by each push at once.

    Returns
    -------
    KVStoreBase

    Raises
    ------
    TypeError
        When the name is no str.
    MXNetError
        When there is no such kind.
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
    """A store over several processes, of which programs of one process need not know."""
    from mxcy.kvstore.dist_store import DistStore
    from mxcy.kvstore.served_store import ServedStore
    from mxcy.kvstore.sliced import SlicedKVStore

    if env.get("DMLC_PS_VAN_TYPE") == "p3":
        if "async" in kind:
            raise MXNetError(f"key-value store {kind!r}: with DMLC_PS_VAN_TYPE=p3, use 'dist_sync'")
        return SlicedKVStore(ServedStore(kind, env.get("MXNET_KVSTORE_SLICE_THRESHOLD")))
    return KVStore(ServedStore(kind) if "async" in kind else DistStore(kind))


def choose_store(store, num_device, arg_params):
    """Find the key-value store to use, and whether it runs the optimizer.

    Parameters
    ----------
    store : str, KVStore or None
        What the user gave.
    num_device : int
        Number of devices.
    arg_params : dict of str to NDArray
        The parameters.

    Returns
    -------
    store : KVStoreBase or None
        None when gradients need not be added up.
    on_store : bool
        Whether it runs the optimizer.

    Raises
    ------
    TypeError
        When `store` is something else.
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
