"""Sharded updates: each worker updates a part of the weights and holds its states."""

import contextlib
import pickle
import threading

import numpy as np

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.keys.pushes import failure_text
from mxcy.ndarray import NDArray
from mxcy.optimizer import Updater, get_updater

__all__ = ["SharedUpdates"]

# smaller buckets are updated by every worker, which is cheaper than a second exchange
_LEAST_BYTES = 1 << 16


class SharedUpdates:
    """Sharded updates of a store; see `Exchange.share_updates`.

    Parameters
    ----------
    store : DistStore
    updater : Updater
        Updater of an elementwise optimizer, which also holds the states of all other keys.
    """

    def __init__(self, store, updater):
        self._store, self._updater = store, updater
        self._parts = get_updater(updater.optimizer)  # holds the states of this worker's parts
        self._rows = {}  # key -> first and last row of this worker's part
        messenger = store.progress.messenger
        self._kind = f"states {store.exchange.number}"
        store.progress.submit(lambda: messenger.handlers.update({self._kind: self._send_states}))

    @classmethod
    def of(cls, store, updater, before):
        """Create the sharding of an updater, if possible.

        Parameters
        ----------
        store : DistStore
        updater : object
        before : SharedUpdates or None
            Predecessor, whose states are kept if the optimizer class is the same.

        Returns
        -------
        SharedUpdates or None
        """
        if type(updater) is not Updater or not env.get("MXCY_DIST_SHARED_UPDATES"):
            return None
        if store.elastic or not vars(type(updater.optimizer)).get("elementwise", False):
            return None
        new = cls(store, updater)
        if before is not None and type(before._updater.optimizer) is type(updater.optimizer):
            new._parts.states, new._rows = before._parts.states, before._rows
            new._parts.states_synced = before._parts.states_synced
        return new

    def suits(self, bucket):
        """Whether a bucket's updates are sharded; the same in all workers."""
        large = bucket.length * bucket.dtype.itemsize > _LEAST_BYTES
        shared = self._store.shared
        return (
            large
            and bucket.dtype.kind == "f"
            and all(shared[slot.key].same_dtype for slot in bucket.slots)
        )

    # -- the progress thread ----------------------------------------------------------------------

    def update(self, shares, sums, values, others, current):
        """Update this worker's part of a bucket; see `Exchange.share_updates`."""
        self._parts.optimizer = self._updater.optimizer
        self._count(others)
        changed, start = [], 0
        for share in shares:
            place = slice(start, start + share.length)
            start = place.stop
            weight = self._part(share, values[place])
            try:
                if not current:
                    self._weight_of(share).copyto(weight)
                self._change(share, self._part(share, sums[place]), weight)
            except Exception as error:
                self._fail(share.slot, failure_text(error))
            changed.append((share.slot, weight))
        for slot, weight in changed:  # wait here: at program exit other workers may be gone
            try:
                weight.wait_to_read()
            except Exception as error:
                self._fail(slot, str(error))
        return _Done

    def _count(self, others):
        """Count updates of keys of which this worker has no part."""
        optimizer = self._updater.optimizer
        optimizer._set_current_context(0)
        for slot in others:
            optimizer._update_count(slot.key)
            self._updater.states.pop(slot.key, None)

    def _change(self, share, gradient, weight):
        key = share.slot.key
        if self._store.shared[key].by_rows:
            gradient = gradient.tostype("row_sparse")
        if key in self._updater.states:  # loaded from a file, or from before the sharding
            state = self._updater.states.pop(key)
            self._parts.states[key] = _cut(state, share)
            self._parts.states_synced[key] = False
        self._rows[key] = (share.begin, share.end)
        self._parts(key, gradient, weight)

    def _fail(self, slot, text):
        slot.failed = f"key {slot.key!r}, round {slot.rounds + 1}: {text}"
        slot.bucket.failures.append(slot)

    def _weight_of(self, share):
        return _rows_of(self._store.current(share.slot.key), share)

    @staticmethod
    def _part(share, memory):
        """An array over the memory of the rows."""
        shape = (share.end - share.begin, *share.slot.shape[1:])
        code = code_of(memory.dtype.name)
        return front.from_memory(memory.ctypes.data, memory, shape, code, cpu())

    # -- states -----------------------------------------------------------------------------------

    def _send_states(self, place, body, ticket):
        """Send this worker's states to another worker."""
        content = np.frombuffer(pickle.dumps(self._mine()), np.uint8)
        self._store.progress.messenger.answer(place, ticket, body=content)

    def states_read(self):
        """Handle states loaded from a file into the updater."""
        self._parts.states.clear()
        self._rows.clear()

    @contextlib.contextmanager
    def whole_states(self):
        """Context in which the updater has all workers' states."""
        keys = self._put_together(self._gather())
        try:
            yield
        finally:
            for key in keys:
                del self._updater.states[key]

    def spread(self, world):
        """Copy all states to all workers, which extract their parts; on the progress thread."""
        everybody = world.allgather(pickle.dumps(self._mine()))
        self._put_together([pickle.loads(one) for one in everybody])
        self.states_read()

    def _mine(self):
        return {key: (*rows, self._parts.states.get(key)) for key, rows in self._rows.items()}

    def _put_together(self, everybody):
        """Combine the workers' parts of states in the updater; return their keys."""
        keys = {key for terms in everybody for key in terms}
        shapes = {key: shared.slot.shape for key, shared in self._store.shared.items()}
        for key in keys:
            parts = sorted(
                (terms[key] for terms in everybody if key in terms), key=lambda one: one[0]
            )
            rows = parts[-1][1] - parts[0][0]
            self._updater.states[key] = _joined([part[2] for part in parts], shapes[key], rows)
            self._updater.states_synced[key] = False
        return keys

    def _gather(self):
        """Collect the states of all workers, which may be busy with anything else meanwhile."""
        progress = self._store.progress
        places = [i for i, role in enumerate(progress.world.roles) if role == "worker"]
        others = [place for place in places if place != progress.world.place]
        answers, over = [], threading.Event()

        def on_done(error, form, body):
            answers.append((error, body))
            if len(answers) == len(others):
                over.set()

        def ask():
            for place in others:
                progress.messenger.ask(place, self._kind, [], on_done, "states of the optimizer")

        own_states = self._mine()
        if not others:
            return [own_states]
        progress.submit(ask)
        over.wait()
        error = next((error for error, _ in answers if error), None)
        if error:
            raise MXNetError(error)
        return [own_states, *(pickle.loads(body.tobytes()) for _, body in answers)]


class _Done:
    """A completed request."""

    @staticmethod
    def done():
        """Return True."""
        return True


def _rows_of(array, share):
    """The rows of an array that belong to a share."""
    return array.reshape((1,)) if not array.shape else array[share.begin : share.end]


def _cut(state, share):
    """The part of a state for a share of its weight."""
    if isinstance(state, tuple | list):
        return type(state)(_cut(one, share) for one in state)
    if isinstance(state, NDArray) and state.shape == share.slot.shape:
        return _rows_of(state, share).copy()
    return state


def _joined(parts, shape, rows):
    """Combine the workers' parts of a state."""
    first = parts[0]
    if isinstance(first, tuple | list):
        return type(first)(_joined(list(each), shape, rows) for each in zip(*parts, strict=True))
    if not isinstance(first, NDArray) or sum(part.shape[0] for part in parts) != rows:
        return first
    return nd.concat(*parts, dim=0).reshape(shape) if len(parts) > 1 else first.reshape(shape)
