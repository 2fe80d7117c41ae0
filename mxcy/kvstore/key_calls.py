"""Push and pull of a single key in a distributed store, as operations of the engine."""

from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.kvstore.engine_calls import complete, operation, window

__all__ = ["delivering", "pull_key", "push_key", "settling"]


def push_key(store, key, total, priority):
    """Add an array to this worker's contribution to the key's next sum.

    Parameters
    ----------
    store : DistStore
    key : int or str
    total : NDArray
        Private array in the dtype of the sums.
    priority : int
    """
    shared = store.shared[key]
    store.submit(shared.slot, shared.slot)

    def start(completion):
        shared.exchange.push(shared.slot, window(total).numpy_view(), completion, priority)

    reads = [total, *_order(store, shared)]
    operation(start, reads, [shared.var], f"KVStore.push({key!r})", "async", priority)


def pull_key(store, key, arrays, priority):
    """Copy a value to arrays after all pushes of this worker have been summed.

    Parameters
    ----------
    store : DistStore
    key : int or str
    arrays : list of NDArray
    priority : int
    """
    outs = [array.detach() for array in arrays]  # private views of their current memory
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
    """Return an array that is written once all pushes to a key have been applied."""
    over = front.Var()

    def start(completion):
        def on_done(error):
            completion(error) if error else completion()

        shared.exchange.pull(shared.slot, on_done)

    reads = [shared.var, *_order(store, shared)]
    operation(start, reads, [over], "KVStore.settle", "async")
    return over


def delivering(store, key):
    """Return the callback for each sum of a key; on the progress thread."""

    def deliver(array, lease):
        shared, dtype = store.shared[key], store.dtype_of(key)
        code = code_of(shared.sum_dtype)
        total = front.from_memory(array.ctypes.data, (array, lease), array.shape, code, cpu())
        if total.dtype != dtype:
            total = total.astype(dtype)
        if store.updater is None or shared.slot.bucket.updating is not None:
            store.put(key, total)
        else:
            total = total.tostype("row_sparse") if shared.by_rows else total
            store.updater(key, total, store.current(key))

    return deliver


def _order(store, shared):
    """Variables read by a single-key call, which order it with grouped calls of its bucket."""
    bucket = shared.slot.bucket
    if bucket is None:
        shared.used_ungrouped = True
        return []
    return [store.bucket_var(bucket)]
