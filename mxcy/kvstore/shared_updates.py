"""Updates that workers share: each changes a part of the weights, and has the states of it."""

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

_LEAST_BYTES = 1 << 16  # of buckets: below, sending twice costs more than everybody's updates


class SharedUpdates:
    """What a store's workers do for each other; see `Exchange.share_updates`.

    Parameters
    ----------
    store : DistStore
    updater : Updater
        Of an optimizer that works elementwise. It has the states of all other keys.
    """

    def __init__(self, store, updater):
        self._store, self._updater = store, updater
        self._parts = get_updater(updater.optimizer)  # whose states are of this worker's parts
        self._rows = {}  # key -> the first and the last of its rows that are this worker's
        messenger = store.progress.messenger
        self._kind = f"states {store.exchange.number}"
        store.progress.submit(lambda: messenger.handlers.update({self._kind: self._send_states}))

    @classmethod
    def of(cls, store, updater, before):
        """What shares the updates of an updater, if they can be shared.

        Parameters
        ----------
        store : DistStore
        updater : object
        before : SharedUpdates or None
            The one that this one follows: states of the same class of optimizers stay.

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
        """Whether a bucket's values are changed by parts; alike in all workers."""
        large = bucket.length * bucket.dtype.itemsize > _LEAST_BYTES
        shared = self._store.shared
        return (
            large
            and bucket.dtype.kind == "f"
            and all(shared[slot.key].plain for slot in bucket.slots)
        )

    # -- the progress thread ----------------------------------------------------------------------

    def update(self, shares, sums, values, others):
        """Change this worker's part of a bucket; see `Exchange.share_updates`."""
        self._parts.optimizer = self._updater.optimizer
        self._count(others)
        changed, start = [], 0
        for share in shares:
            place = slice(start, start + share.length)
            start = place.stop
            weight = self._part(share, values[place])
            try:
                self._weight_of(share).copyto(weight)
                self._change(share, self._part(share, sums[place]), weight)
            except Exception as error:
                self._fail(share.slot, failure_text(error))
            changed.append((share.slot, weight))
        for slot, weight in changed:  # here: at the end of the program others may be gone
            try:
                weight.wait_to_read()
            except Exception as error:
                self._fail(slot, str(error))
        return _Done

    def _count(self, others):
        """Note that keys have changed of which nothing is this worker's."""
        optimizer = self._updater.optimizer
        optimizer._set_current_context(0)
        for slot in others:
            optimizer._update_count(slot.key)
            self._updater.states.pop(slot.key, None)

    def _change(self, share, gradient, weight):
        key = share.slot.key
        if self._store.shared[key].by_rows:
            gradient = gradient.tostype("row_sparse")
        if key in self._updater.states:  # of a file, or of another time
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
        """An array over the memory of some rows."""
        shape = (share.end - share.begin, *share.slot.shape[1:])
        code = code_of(memory.dtype.name)
        return front.from_memory(memory.ctypes.data, memory, shape, code, cpu())

    # -- states -----------------------------------------------------------------------------------

    def _send_states(self, place, body, ticket):
        """Tell another worker of the states that are here."""
        content = np.frombuffer(pickle.dumps(self._mine()), np.uint8)
        self._store.progress.messenger.answer(place, ticket, body=content)

    def states_read(self):
        """The updater has got all states from a file."""
        self._parts.states.clear()
        self._rows.clear()

    @contextlib.contextmanager
    def whole_states(self):
        """Have all workers' states in the updater for a while."""
        keys = self._put_together(self._gather())
        try:
            yield
        finally:
            for key in keys:
                del self._updater.states[key]

    def spread(self, world):
        """Have all states in all workers, which cut theirs from them; on the progress thread."""
        everybody = world.allgather(pickle.dumps(self._mine()))
        self._put_together([pickle.loads(one) for one in everybody])
        self.states_read()

    def _mine(self):
        return {key: (*rows, self._parts.states.get(key)) for key, rows in self._rows.items()}

    def _put_together(self, everybody):
        """Give the updater states of which each worker has parts; their keys."""
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
        """What each worker tells of its states; they may be at anything meanwhile."""
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

        mine = self._mine()
        if not others:
            return [mine]
        progress.submit(ask)
        over.wait()
        error = next((error for error, _ in answers if error), None)
        if error:
            raise MXNetError(error)
        return [mine, *(pickle.loads(body.tobytes()) for _, body in answers)]


class _Done:
    """A request that is done."""

    @staticmethod
    def done():
        """Whether it is."""
        return True


def _rows_of(array, share):
    """Some rows of an array."""
    return array.reshape((1,)) if not array.shape else array[share.begin : share.end]


def _cut(state, share):
    """The part of a state that belongs to some rows of its weight."""
    if isinstance(state, tuple | list):
        return type(state)(_cut(one, share) for one in state)
    if isinstance(state, NDArray) and state.shape == share.slot.shape:
        return _rows_of(state, share).copy()
    return state


def _joined(parts, shape, rows):
    """The state of which workers have parts."""
    first = parts[0]
    if isinstance(first, tuple | list):
        return type(first)(_joined(list(each), shape, rows) for each in zip(*parts, strict=True))
    if not isinstance(first, NDArray) or sum(part.shape[0] for part in parts) != rows:
        return first
    return nd.concat(*parts, dim=0).reshape(shape) if len(parts) > 1 else first.reshape(shape)
