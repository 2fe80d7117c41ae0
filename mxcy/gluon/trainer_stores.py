"""The choice of a trainer's store, and of whether it runs the optimizer."""

from mxcy.dist.job import job
from mxcy.kvstore import KVStoreBase
from mxcy.kvstore.choice import choose_store, create
from mxcy.kvstore.local import kinds, why_not

__all__ = ["check_kind", "joins_job", "spans_processes", "store_for"]


def check_kind(kvstore):
    """Raise now for a store that `choose_store` would reject at the first step."""
    if kvstore is None or isinstance(kvstore, KVStoreBase):
        return
    if isinstance(kvstore, str) and kvstore.lower() in (*kinds(), *KVStoreBase.kv_registry):
        return
    if isinstance(kvstore, str) and "dist" in kvstore.lower():
        return
    why = why_not(kvstore.lower()) if isinstance(kvstore, str) else ""
    raise ValueError(
        "kvstore must be None, a KVStoreBase, the name of a registered one or one of "
        f"{kinds()}, got {kvstore!r}{why}"
    )


def spans_processes(store):
    """Whether a store (or None) sums gradients over several processes."""
    try:
        return store is not None and "dist" in store.type
    except NotImplementedError:  # custom stores may lack a type
        return False


def joins_job(kvstore):
    """Whether a store (or its name) belongs to a running job that this process just joined."""
    if isinstance(kvstore, str):
        return "dist" in kvstore.lower() and job.arriving
    return spans_processes(kvstore) and job.arriving


def _sparse_store(kvstore, update_on_kvstore):
    """The store that holds the rows of row_sparse parameters and updates them."""
    if not isinstance(kvstore, str | KVStoreBase):
        raise TypeError(
            f"Cannot create '{kvstore}' KVStore with row_sparse parameters. The type must be "
            "KVStore or str."
        )
    if update_on_kvstore is False:
        raise ValueError("Cannot set update_on_kvstore=False when sparse weights are present.")
    store = kvstore if isinstance(kvstore, KVStoreBase) else create(kvstore)
    if not hasattr(store, "row_sparse_pull"):
        raise ValueError(f"{type(store).__name__} cannot hold row_sparse parameters")
    return store


def store_for(params, contexts, kvstore, update_on_kvstore):
    """Return the store of a trainer, and whether it runs the optimizer.

    Parameters
    ----------
    params : list of Parameter
    contexts : int
        Number of contexts.
    kvstore, update_on_kvstore
        Arguments of `Trainer`.

    Returns
    -------
    store : KVStoreBase or None
    on_store : bool

    Raises
    ------
    TypeError, ValueError
        If the arguments are incompatible with the parameters or the store.
    """
    if any(parameter._stype != "default" for parameter in params):
        store, on_store = _sparse_store(kvstore, update_on_kvstore), True
    else:
        named = {parameter.name: parameter for parameter in params}
        store, on_store = choose_store(kvstore, contexts, named)
        if any(parameter._grad_stype != "default" for parameter in params):
            on_store = spans_processes(store)
            if on_store and update_on_kvstore is False:
                raise ValueError(
                    "Cannot set update_on_kvstore=False on dist kvstore when sparse gradients "
                    "are present."
                )
    if store is not None and update_on_kvstore is not None:
        on_store = update_on_kvstore
        if on_store and not store.is_capable(KVStoreBase.OPTIMIZER):
            raise ValueError(f"Please set update_on_kvstore=False when training with {type(store)}")
    if spans_processes(store) and "async" in store.type and not on_store:
        raise ValueError("Please set update_on_kvstore=True when training in async mode.")
    return store, on_store
