"""Times of pushing and pulling rows, and of MPI's Alltoallv of the same rows; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/rows.py

Each rank pushes its own random rows of a table and pulls the same rows. MPI sends the rows and
their numbers to their owners, and the rows back.
"""

import argparse
import time

import numpy as np
from interleaved import measured, report
from mpi4py import MPI

import mxcy as mx


class RawRows:
    """MPI's exchange of the same rows, already in order of their owners."""

    def __init__(self, comm, ids, width):
        self._comm, self._width = comm, width
        owners = ids % comm.size
        self._sent = np.bincount(owners, minlength=comm.size)
        self._taken = np.empty_like(self._sent)
        comm.Alltoall(self._sent, self._taken)
        self._ids = ids[np.argsort(owners, kind="stable")]
        self._rows = np.ones((ids.size, width), "float32")
        count = int(self._taken.sum())
        self._their_ids = np.empty(count, np.int64)
        self._their_rows = np.empty((count, width), "float32")

    def __call__(self):
        sent, taken, width = self._sent, self._taken, self._width
        self._comm.Alltoallv([self._ids, sent], [self._their_ids, taken])
        self._comm.Alltoallv([self._rows, sent * width], [self._their_rows, taken * width])
        self._comm.Alltoallv([self._their_rows, taken * width], [self._rows, sent * width])


def measure(store, key, arguments, comm):
    """The seconds of both."""
    shape = (arguments.rows, arguments.width)
    store.init(key, mx.nd.sparse.zeros("row_sparse", shape))
    draw = np.random.RandomState(store.rank)
    ids = np.sort(draw.choice(arguments.rows, arguments.pushed, replace=False))
    rows = np.ones((arguments.pushed, arguments.width), "float32")
    gradient = mx.nd.sparse.row_sparse_array((rows, ids), shape=shape)
    out, wanted = mx.nd.sparse.zeros("row_sparse", shape), mx.nd.array(ids, dtype="int64")

    def ready(way):
        time.sleep(0.3)  # the store expects further messages for a while, and disturbs MPI
        way()
        comm.Barrier()

    def step():
        store.push(key, gradient)
        store.row_sparse_pull(key, out, row_ids=wanted)
        out.wait_to_read()

    return measured(step, RawRows(comm, ids, arguments.width), arguments.rounds, ready)


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--rows", type=int, default=10**6, help="of the table")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--pushed", type=int, default=10**4, help="rows per rank and step")
    arguments = parser.parse_args()
    comm = MPI.COMM_WORLD.Dup()
    what = f"{arguments.pushed} of {arguments.rows} rows of {arguments.width}"
    store = mx.kv.create("dist_sync")
    report(store, what, measure(store, "sums", arguments, comm))
    updating = mx.kv.create("dist_sync")
    updating.set_optimizer(mx.optimizer.SGD(learning_rate=1e-6, lazy_update=True))
    report(updating, f"{what}, with update", measure(updating, "updated", arguments, comm))


if __name__ == "__main__":
    main()
