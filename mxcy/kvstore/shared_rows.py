"""Distributed row_sparse values: each row is summed and updated by its owner."""

import threading

import numpy as np

from mxcy import env
from mxcy import ndarray as nd
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.servers.key_server import KeyServer
from mxcy.dist.servers.row_client import RowClient
from mxcy.kvstore.engine_calls import SUM_DTYPES, operation
from mxcy.kvstore.server_rules import ServerRules

__all__ = ["SharedRows", "host_server"]


class SharedRows:
    """The row_sparse keys of a store.

    Parameters
    ----------
    progress : ProgressThread
    waits : bool
        Whether sums wait for the pushes of all workers.
    among_workers : bool
        See `KeyClient`.
    """

    def __init__(self, progress, waits, among_workers):
        self.client = RowClient(progress, waits, 0, among_workers=among_workers)
        self._vars = {}  # key -> engine variable that orders this worker's pushes and pulls

    def init(self, pairs, name_of):
        """Initialize new keys with the first worker's values; all workers call it."""
        entries, weights = [], []
        for key, value in pairs:
            if value.stype != "row_sparse":
                raise MXNetError(
                    f"key {key!r}: values of storage type {value.stype!r} cannot be shared"
                )
            weights.append(name_of(value.dtype))
            dense = value.tostype("default")
            entries.append((key, dense.astype(SUM_DTYPES.get(weights[-1], weights[-1])).asnumpy()))
        self.client.init(entries, weights)
        self._vars.update((key, front.Var()) for key, _ in pairs)

    def order(self):
        """Engine variables that order the pushes and pulls of each key."""
        return list(self._vars.values())

    def __contains__(self, key):
        return key in self._vars

    def push(self, key, total, priority):
        """Send the rows of a row_sparse array."""
        served = self.client.keys[key]
        if total.stype != "row_sparse":
            total = total.tostype("row_sparse")
        ids, rows = total.indices, total.data

        def start(completion):
            taken = rows.asnumpy().astype(served.dtype, copy=False)
            numbers = ids.asnumpy().astype(np.int64, copy=False)
            self.client.push_rows(served, numbers, taken, completion, priority)

        # Reading ids and rows waits for the gradient, so do it in the program's thread.
        ids.wait_to_read()
        rows.wait_to_read()
        operation(start, [], [self._vars[key]], f"KVStore.push({key!r})", "async", priority)

    def rows(self, key, ids):
        """Fetch rows of a value, sorted and unique, and their indices."""
        served = self.client.keys[key]
        if ids is None:
            ids = np.arange(served.shape[0], dtype=np.int64)
        if ids.size and not 0 <= ids[0] <= ids[-1] < served.shape[0]:
            raise MXNetError(f"key {key!r} has rows 0 to {served.shape[0] - 1}, got {ids}")
        over, answers = threading.Event(), []

        def on_done(error, rows):
            answers.append((error, rows))
            over.set()

        read = front.Var()

        def start(completion):
            completion()
            self.client.pull_rows(served, ids, on_done)

        operation(start, [self._vars[key]], [read], f"KVStore.pull({key!r})", "async")
        read.wait_to_read()  # raises errors of pushes
        over.wait()
        error, rows = answers[0]
        if error:
            raise MXNetError(error)
        return ids, rows

    def pull(self, key, array, ids=None):
        """Fill a row_sparse or dense array with the given rows, or all."""
        if ids is not None:
            ids = np.unique(ids.asnumpy().astype(np.int64).reshape(-1))
        ids, rows = self.rows(key, ids)
        content = nd.array(rows, cpu(), rows.dtype).astype(array.dtype)
        if array.stype == "default":
            content.copyto(array)
            return
        parts = (content, nd.array(ids, cpu(), "int64"))
        nd.sparse.row_sparse_array(parts, shape=array.shape, dtype=array.dtype).copyto(array)


def host_server(progress, number):
    """Return the server of this process, created on first use; on the progress thread."""
    if progress.messenger.server is None:
        return KeyServer(progress.messenger, env.get("MXCY_DIST_TIMEOUT"), ServerRules(number))
    return progress.messenger.server
