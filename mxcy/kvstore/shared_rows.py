"""Distributed row_sparse values: each row is summed and updated by its owner."""

import numpy as np

from mxcy import autograd, env
from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.servers.key_server import KeyServer
from mxcy.dist.servers.row_client import RowClient
from mxcy.dist.servers.row_shares import is_ascending
from mxcy.kvstore.engine_calls import SUM_DTYPES
from mxcy.kvstore.server_rules import ServerRules
from mxcy.kvstore.shared import name_of

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

    def init(self, pairs):
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

    def __contains__(self, key):
        return key in self.client.keys

    def push(self, key, total, priority):
        """Send the rows of a row_sparse array, once they are computed."""
        served = self.client.keys[key]
        if total.stype != "row_sparse":
            total = total.tostype("row_sparse")
        parts, kind = total._ordered, served.dtype.name
        rows = parts.data if name_of(parts.data.dtype) == kind else parts.data.astype(kind)
        ids = parts.indices.read_view()
        _check(key, ids, served.shape[0])
        self.client.push_rows(served, ids, rows.read_view(), priority)

    def pull(self, key, array, ids=None):
        """Fill a row_sparse or dense array with the given rows, or all."""
        served = self.client.keys[key]
        if ids is None:
            ids = np.arange(served.shape[0], dtype=np.int64)
        else:
            ids = ids.asnumpy().astype(np.int64, copy=False).reshape(-1)
            ids = ids if is_ascending(ids) else np.unique(ids)
        _check(key, ids, served.shape[0])
        rows = nd.empty((ids.size, *served.shape[1:]), cpu(), served.dtype.name)
        with autograd.pause():  # this thread may run updates
            self.client.pull_rows(served, ids, rows.numpy_view())
        rows = rows.astype(array.dtype, copy=False)
        if array.stype == "default":
            rows.copyto(array)
        else:
            array._take(rows, nd.array(ids, cpu(), "int64"))


def _check(key, ids, rows):
    """Check ascending row numbers."""
    if ids.size and not 0 <= ids[0] <= ids[-1] < rows:
        raise MXNetError(f"key {key!r} has rows 0 to {rows - 1}, got {ids}")


def host_server(progress, number):
    """Return the server of this process, created on first use; on the progress thread."""
    if progress.messenger.server is None:
        return KeyServer(progress.messenger, env.get("MXCY_DIST_TIMEOUT"), ServerRules(number))
    return progress.messenger.server
