"""Times of an asynchronous push and pull, and of MPI's Send, Recv and an addition; prints JSON.

    python -m mxcy.tools.launch -n 2 -s 1 python benchmarks/dist/asynchronous.py

The server of MPI's part adds the received array, times a factor, to the weights and sends these
back. It runs first: a server of mxcy does nothing else from the import on.
"""

import argparse
import os
import time

import numpy as np
from mpi4py import MPI

FACTOR = np.float32(-1e-6)
STEPS = 10  # per round


def serve(comm, size, requests):
    """Be the server of MPI's part."""
    weights, gradient, status = np.ones(size, "float32"), np.empty(size, "float32"), MPI.Status()
    for _ in range(requests):
        comm.Recv(gradient, MPI.ANY_SOURCE, MPI.ANY_TAG, status)
        gradient *= FACTOR
        weights += gradient
        comm.Send(weights, status.source)


def measured(work, rounds, barrier):
    """Mean seconds of a function in each of some rounds, while all workers call it."""
    seconds = []
    for _ in range(rounds):
        barrier()
        began = time.perf_counter()
        for _ in range(STEPS):
            work()
        barrier()
        seconds.append((time.perf_counter() - began) / STEPS)
    return seconds


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bytes", type=int, default=1 << 22)
    arguments = parser.parse_args()
    comm, size = MPI.COMM_WORLD.Dup(), arguments.bytes // 4
    server = comm.size - 1
    workers = comm.Split(comm.rank == server)
    if os.environ["DMLC_ROLE"] == "server":
        serve(comm, size, server * arguments.rounds * STEPS)
    else:
        gradient, weights = np.ones(size, "float32"), np.empty(size, "float32")

        def exchange():
            comm.Send(gradient, server)
            comm.Recv(weights, server)

        raw = measured(exchange, arguments.rounds, workers.Barrier)
    from interleaved import report

    import mxcy as mx  # here a server serves, and does not return

    store = mx.kv.create("dist_async")
    value, out = mx.nd.ones(size), mx.nd.empty(size)
    store.init(0, value)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1e-6))
    store._barrier()

    def step():
        store.push(0, value)
        store.pull(0, out)
        out.wait_to_read()

    ours = measured(step, arguments.rounds, store._barrier)
    report(store, f"push and pull of {arguments.bytes} B, one server", (ours, raw))


if __name__ == "__main__":
    main()
