"""Pushes and pulls of one key of a store over several processes, as operations of the engine."""

from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.kvstore.engine_calls import complete, operation, window

__all__ = ["delivering", "pull_key", "push_key", "settling"]


def push_key(store, key, total, priority):
    """Add an array to this worker's part of a key's next sum.

    Parameters
    ----------
    store : DistStore
    key : int or str
    total : NDArray
        Nobody else's, of the type that travels.
    priority : int
    """
    shared = store.shared[key]
    store.submit(shared.slot, shared.slot)

    def start(completion):
        shared.exchange.push(shared.slot, window(total).numpy_view(), completion, priority)

    reads = [total, *_order(store, shared)]
    operation(start, reads, [shared.var], f"KVStore.push({key!r})", "async", priority)


def pull_key(store, key, arrays, priority):
    """Copy a value to arrays when all that this worker has pushed to it is in.

    Parameters
    ----------
    store : DistStore
    key : int or str
    arrays : list of NDArray
    priority : int
    """
    outs = [array.detach() for array in arrays]  # with the memory that they have now
    targets = [window(array) for array in outs]
    shared = store.shared[key]

    def start(completion):
        shared.exchange.pull(shared.slot, lambda error: take(completion, error))

    def take(completion, error):
        try:
            if error:
                raise MXNetError(error)
            for target in targets:
                store.current(key).copyto(target)
        except Exception as failure:
            completion(str(failure))
            return
        name = f"KVStore.pull({key!r})"
        operation(lambda: complete(completion, targets), targets, [], name, "noskip")

    reads = [shared.var, *_order(store, shared)]
    operation(start, reads, outs, f"KVStore.pull({key!r})", "async", priority)
    for array in arrays:
        array.touch()


def settling(store, shared):
    """What is written when all pushes to a key have changed its value."""
    over = front.Var()

    def start(completion):
        def on_done(error):
            completion(error) if error else completion()

        shared.exchange.pull(shared.slot, on_done)

    reads = [shared.var, *_order(store, shared)]
    operation(start, reads, [over], "KVStore.settle", "async")
    return over


def delivering(store, key):
    """What is called on the progress thread with each sum of a key."""

    def deliver(array, lease):
        stored, shared = store.current(key), store.shared[key]
        code = code_of(shared.travels)
        total = front.from_memory(array.ctypes.data, (array, lease), array.shape, code, cpu())
        if total.dtype != stored.dtype:
            total = total.astype(stored.dtype)
        if store.updater is None or shared.slot.bucket.updating is not None:
            store.put(key, total)
        else:
            total = total.tostype("row_sparse") if shared.by_rows else total
            store.updater(key, total, stored)

    return deliver


def _order(store, shared):
    """What a call of one key reads, so that calls of its whole bucket wait for it."""
    bucket = shared.slot.bucket
    if bucket is None:
        shared.early = True
        return []
    return [store.bucket_var(bucket)]
