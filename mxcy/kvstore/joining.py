"""Transfer of a store's state to workers that join a running job."""

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.kvstore.key_calls import delivering
from mxcy.kvstore.optimizer_settings import apply_settings, settings_of
from mxcy.kvstore.shared import SharedKey, name_of
from mxcy.optimizer import Updater, get_updater

__all__ = ["StateSource", "restore_keys", "restore_optimizer", "restore_values"]


class StateSource:
    """Provides the state of one exchange of a store; see `Exchange`. Runs on the progress thread.

    Parameters
    ----------
    store : DistStore
    exchange : Exchange
    """

    def __init__(self, store, exchange):
        self._store, self._exchange = store, exchange

    def obstacle(self):
        """The reason why workers cannot join, or None."""
        if self._store.has_rows:
            return "its row_sparse values are owned by workers"
        if self._store.updater is None and self._exchange.slots:
            return "its optimizer runs in the workers instead of the store"
        return None

    def spread(self, world):
        """Copy all optimizer states to all workers."""
        if self._store.updates is not None:
            self._store.updates.spread(world)

    def snapshot(self):
        """The state that new workers need."""
        store, values = self._store, {}
        for slot in self._exchange.slots:
            shared, value = store.shared[slot.key], store.current(slot.key)
            array = value.astype(shared.sum_dtype).asnumpy()
            dtypes = name_of(value.dtype), shared.sum_dtype
            values[slot.key] = array, *dtypes, shared.same_dtype, shared.by_rows
        state = {"values": values, "compression": store.compression, "before": store.steps_before}
        if type(store.updater) is Updater:
            optimizer = store.updater.optimizer
            state["optimizer"] = {
                "settings": settings_of(optimizer),
                "states": store.updater.get_states(),
                "updates": optimizer.num_update,
                "counts": optimizer._all_index_update_counts,
            }
        return state


def restore_keys(store, exchange):
    """Create all keys of an exchange of the job; `restore_values` sets their values.

    Parameters
    ----------
    store : DistStore
    exchange : Exchange
    """
    for slot in exchange.slots:
        _, _, sum_dtype, same_dtype, by_rows = exchange.inherited["values"][slot.key]
        shared = store.shared[slot.key] = SharedKey(sum_dtype, same_dtype, exchange)
        shared.by_rows, shared.slot = by_rows, slot
        slot.deliver = delivering(store, slot.key)


def restore_values(store, exchanges, pairs):
    """Set keys to the job's values; return whether the job has them.

    Parameters
    ----------
    store : DistStore
    exchanges : list of Exchange
    pairs : list of (key, NDArray)

    Returns
    -------
    bool

    Raises
    ------
    MXNetError
        If the job has only some of the keys, or other shapes or dtypes.
    """
    exchange_of = {
        key: exchange
        for exchange in exchanges
        if exchange.inherited is not None
        for key in exchange.inherited["values"]
    }
    there = [key in exchange_of for key, _ in pairs]
    if not any(there):
        return False
    missing = next((key for (key, _), known in zip(pairs, there, strict=True) if not known), None)
    if missing is not None:
        raise MXNetError(f"init: the job that this worker has joined has no key {missing!r}")
    for key, value in pairs:
        array, dtype, *_ = exchange_of[key].inherited["values"][key]
        if value.shape != array.shape or name_of(value.dtype) != dtype:
            raise MXNetError(
                f"init: the job that this worker has joined has key {key!r} of shape "
                f"{array.shape} and dtype {dtype}, not {value.shape} and {name_of(value.dtype)}"
            )
    for key, value in pairs:
        array = exchange_of[key].inherited["values"].pop(key)[0]
        store.put(key, nd.array(array, cpu(), array.dtype).astype(value.dtype))
    return True


def restore_optimizer(state, optimizer):
    """Recreate the job's updater with this worker's optimizer.

    Parameters
    ----------
    state : dict
        See `StateSource.snapshot`.
    optimizer : Optimizer
        Optimizer, which gets the job's settings.

    Returns
    -------
    Updater
    """
    optimizer = apply_settings(optimizer, state["settings"])
    optimizer.num_update = state["updates"]
    for device, counts in state["counts"].items():
        optimizer._set_current_context(device)
        optimizer._index_update_count.update(counts)
    optimizer._set_current_context(0)
    updater = get_updater(optimizer)
    updater.set_states(state["states"])
    return updater
