"""Sharded updates: each worker updates a part of the weights and holds its states."""

import contextlib
import itertools
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
from mxcy.kvstore.flat_updates import FlatUpdates
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
        #: states of this worker's parts, and in elastic jobs of those of the worker it mirrors
        self._held = _Held(updater.optimizer), _Held(updater.optimizer)
        self._flat = {}  # first share of this worker's part -> FlatUpdates
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
        if not vars(type(updater.optimizer)).get("elementwise", False):
            return None
        new = cls(store, updater)
        if before is not None and type(before._updater.optimizer) is type(updater.optimizer):
            new._held = before._held
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

    def begin(self, shares, values, slots, current):
        """Prepare an update of this worker's part in pieces; see `Exchange.share_updates`."""
        whole, held, weights = self._count(slots), self._held[0], []
        for share, place in _places(shares):
            weights.append(self._part(share, values[place]))
            try:
                self._bring(held, share, weights[-1], whole, current)
                held.prepare(self._updater.optimizer, share, weights[-1])
                weights[-1].wait_to_read()
            except Exception as error:
                self._fail(share.slot, failure_text(error))
        keys = [share.slot.key for share in shares]
        if not shares or any(share.slot.failed for share in shares):
            return None
        if any(self._store.shared[key].by_rows for key in keys):
            return None
        updates = self._flat.get(shares[0]) or self._flat.setdefault(shares[0], FlatUpdates(keys))
        with self._uncounted(keys):
            return updates.next(self._updater.optimizer, weights, held.states_of(keys))

    def update(self, parts, slots, current):
        """Update parts of a bucket, or pieces of them; see `Exchange.share_updates`."""
        whole = self._count(slots)
        changed = []
        for held, (shares, sums, values) in zip(self._held, parts, strict=False):
            for share, place in _places(shares):
                weight = self._part(share, values[place])
                try:
                    self._bring(held, share, weight, whole, current)
                    self._change(held, share, self._part(share, sums[place]), weight)
                except Exception as error:
                    self._fail(share.slot, failure_text(error))
                changed.append((share.slot, weight))
        for slot, weight in changed:  # wait here: at program exit other workers may be gone
            try:
                weight.wait_to_read()
            except Exception as error:
                self._fail(slot, str(error))
        return _Done

    def _count(self, slots):
        """Count an update of keys; return their states that are not in parts yet."""
        self._updater.optimizer._set_current_context(0)
        for slot in slots:
            self._updater.optimizer._update_count(slot.key)
        states = self._updater.states  # loaded from a file, or from before the sharding
        return {slot.key: states.pop(slot.key) for slot in slots if slot.key in states}

    def _bring(self, held, share, weight, whole, current):
        """Have a share's weight, unless it is `current`, and its part of a whole state."""
        if not current:
            self._weight_of(share).copyto(weight)
        if share.slot.key in whole:
            held.put(share, whole[share.slot.key])

    def _change(self, held, share, gradient, weight):
        key = share.slot.key
        if self._store.shared[key].by_rows:
            gradient = gradient.tostype("row_sparse")
        with self._uncounted([key]):
            held.update(self._updater.optimizer, share, gradient, weight)

    @contextlib.contextmanager
    def _uncounted(self, keys):
        """Context in which the optimizer counts an update that is counted already."""
        counts = self._updater.optimizer._index_update_count
        counted = {key: counts[key] for key in keys}
        counts.update((key, count - 1) for key, count in counted.items())
        yield
        counts.update(counted)

    def _fail(self, slot, text):
        if slot.failed:  # all workers know
            return
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
        content = np.frombuffer(pickle.dumps(self._held[0].pieces()), np.uint8)
        self._store.progress.messenger.answer(place, ticket, body=content)

    def states_read(self):
        """Handle states loaded from a file into the updater."""
        for held in self._held:
            held.clear()

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
        """Copy all states to all workers, which extract their parts; on the progress thread.

        Parts of workers that have died come from those that mirror them. If another worker dies
        meanwhile, some have extracted nothing yet and some have all states: either can be repeated.

        Raises
        ------
        MXNetError
            When nobody has a part.
        """
        owned, mirrored = (held.pieces() for held in self._held)
        ranges = world.allgather([[piece[:3] for piece in pieces] for pieces in (owned, mirrored)])
        spans = {}  # key -> ranges that have owners
        for owners, others in ranges:
            for key, begin, end in owners:
                spans.setdefault(key, []).append((begin, end))
            for key, _, _ in others:
                spans.setdefault(key, [])
        lacking = {key for key, known in spans.items() if not _cover(known, self._rows_of(key))}
        states = self._updater.states
        whole = [(key, 0, self._rows_of(key), states[key]) for key in lacking if key in states]
        sent = [*owned, *(piece for piece in mirrored if piece[0] in lacking), *whole]
        everybody = world.allgather(pickle.dumps(sent))
        self._put_together([pickle.loads(one) for one in everybody])
        self.states_read()

    def _rows_of(self, key):
        shape = self._store.shared[key].slot.shape
        return shape[0] if shape else 1

    def _put_together(self, everybody):
        """Combine the workers' pieces of states in the updater; return their keys."""
        pieces = {}
        for key, *piece in itertools.chain.from_iterable(everybody):
            pieces.setdefault(key, []).append(piece)
        whole = {}
        for key, known in pieces.items():
            rows, shape = self._rows_of(key), self._store.shared[key].slot.shape
            parts = _cover(known, rows)
            if not parts:
                raise MXNetError(
                    f"states of the optimizer for key {key!r} died with both workers that had "
                    "them; start again from a checkpoint"
                )
            cut = [
                _sliced(state, start - begin, stop - begin, end - begin)
                for begin, end, state, start, stop in parts
            ]
            whole[key] = _joined(cut, shape, rows)
        self._updater.states.update(whole)
        self._updater.states_synced.update(dict.fromkeys(whole, False))
        return list(whole)

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

        own_states = self._held[0].pieces()
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


class _Held:
    """States of one part of each bucket."""

    def __init__(self, optimizer):
        self._updater = get_updater(optimizer)
        self._rows = {}  # key -> first and last row of the part

    def update(self, optimizer, share, gradient, weight):
        """Update the weights of a share."""
        self._updater.optimizer = optimizer
        self._rows[share.slot.key] = (share.begin, share.end)
        self._updater(share.slot.key, gradient, weight)

    def prepare(self, optimizer, share, weight):
        """Have a state for a share."""
        self._updater.optimizer = optimizer
        self._rows[share.slot.key] = (share.begin, share.end)
        self._updater._prepare_state(share.slot.key, weight)

    def states_of(self, keys):
        """The states of shares of keys."""
        return [self._updater.states[key] for key in keys]

    def put(self, share, state):
        """Take the share's part of a whole state."""
        key = share.slot.key
        rows = share.slot.shape[0] if share.slot.shape else 1
        part = _sliced(state, share.begin, share.end, rows)
        self._updater.states[key] = _copied(part)
        self._updater.states_synced[key] = False

    def clear(self):
        """Forget all states."""
        self._updater.states.clear()
        self._rows.clear()

    def pieces(self):
        """List the key, first and last row and state of each part."""
        return [(key, *rows, self._updater.states.get(key)) for key, rows in self._rows.items()]


def _places(shares):
    """Shares, and where their elements are in the memory of their part."""
    start = 0
    for share in shares:
        yield share, slice(start, start + share.length)
        start += share.length


def _rows_of(array, share):
    """The rows of an array that belong to a share."""
    return array.reshape((1,)) if not array.shape else array[share.begin : share.end]


def _cover(pieces, rows):
    """Choose parts of pieces that together are all rows, without gaps; empty if some are missing.

    Each piece begins with its first and last row; to a chosen one those of its part are added.
    """
    chosen, position = [], 0
    for piece in sorted(pieces, key=lambda one: one[:2]):
        if piece[0] > position:
            break
        if piece[1] > position:
            chosen.append((*piece, position, piece[1]))
            position = piece[1]
    return chosen if position == rows else []


def _sliced(state, begin, end, rows):
    """Some rows of a state for `rows` rows of its weight."""
    if isinstance(state, tuple | list):
        return type(state)(_sliced(one, begin, end, rows) for one in state)
    if isinstance(state, NDArray) and (state.shape or (1,))[0] == rows:
        return state.reshape((1,)) if not state.shape else state[begin:end]
    return state


def _copied(state):
    """A copy of a state."""
    if isinstance(state, tuple | list):
        return type(state)(_copied(one) for one in state)
    return state.copy() if isinstance(state, NDArray) else state


def _joined(parts, shape, rows):
    """Combine the workers' parts of a state."""
    first = parts[0]
    if isinstance(first, tuple | list):
        return type(first)(_joined(list(each), shape, rows) for each in zip(*parts, strict=True))
    if not isinstance(first, NDArray) or sum(part.shape[0] for part in parts) != rows:
        return first
    return nd.concat(*parts, dim=0).reshape(shape) if len(parts) > 1 else first.reshape(shape)
