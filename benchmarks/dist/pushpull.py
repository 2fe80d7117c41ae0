"""Times of pushpull and of MPI's Allreduce of the same bytes, interleaved; rank 0 prints JSON.

python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/pushpull.py
"""

import argparse

import numpy as np
from interleaved import measured, report
from mpi4py import MPI

import mxcy as mx


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--bytes", type=int, nargs="*", default=[4, 2**12, 2**16, 2**20, 2**22])
    parser.add_argument(
        "--updated", type=int, nargs="*", default=[2**22], help="bytes, with SGD with momentum"
    )
    parser.add_argument("--keys", type=int, default=1000, help="of 4 KB, in one step")
    arguments = parser.parse_args()
    store = mx.kv.create("dist_sync")
    comm = MPI.COMM_WORLD.Dup()
    for number, size in enumerate(arguments.bytes):
        one_key(store, number, size, comm, arguments.rounds, "")
    updating = mx.kv.create("dist_sync")
    updating.set_optimizer(mx.optimizer.SGD(learning_rate=1e-6, momentum=0.9))
    for number, size in enumerate(arguments.updated):
        one_key(updating, number, size, comm, arguments.rounds, ", with update")
    keys = list(range(10**6, 10**6 + arguments.keys))
    values = [mx.nd.ones(1024) for _ in keys]
    store.init(keys, values)
    raw = np.ones(1024 * arguments.keys, "float32")
    total = np.empty_like(raw)

    def step():
        store.pushpull(keys, values)
        for value in values:
            value.wait_to_read()

    seconds = measured(step, lambda: comm.Allreduce(raw, total), arguments.rounds)
    report(store, f"{arguments.keys} keys of 4 KB", seconds)


def one_key(store, number, size, comm, rounds, how):
    """Measure a key of that many bytes."""
    value, raw = mx.nd.ones(size // 4), np.ones(size // 4, "float32")
    out, total = value if not how else mx.nd.empty(size // 4), np.empty_like(raw)
    store.init(number, value)

    def pushpull():
        store.pushpull(number, value, out=out)
        out.wait_to_read()

    report(
        store,
        f"one key of {size} B{how}",
        measured(pushpull, lambda: comm.Allreduce(raw, total), rounds),
    )


if __name__ == "__main__":
    main()
