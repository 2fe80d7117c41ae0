"""The share of 16 sums of 4 MB hidden behind an idle backward pass; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/overlap.py

Four variants are interleaved: the pass alone, the sums alone, MPI's Allreduce of the same arrays
alone, and a pass that pushes each gradient as soon as it is ready. Hidden is the part of the sums'
time, or of MPI's, by which the last does not exceed the first; of the fastest rounds and of the
medians.
"""

import argparse
import json
import statistics
import time

import numpy as np
from mpi4py import MPI

import mxcy as mx


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keys", type=int, default=16)
    parser.add_argument("--bytes", type=int, default=4 << 20)
    parser.add_argument("--pause", type=float, default=0.008, help="seconds of backward per key")
    arguments = parser.parse_args()
    store = mx.kv.create("dist_sync")
    keys = list(range(arguments.keys))
    values = [mx.nd.ones(arguments.bytes // 4) for _ in keys]
    store.init(keys, values)

    raw = [np.ones(arguments.bytes // 4, "float32") for _ in keys]
    comm = MPI.COMM_WORLD.Dup()

    def step(pause, sums):
        for key, value in zip(keys, values, strict=True):
            if pause:
                time.sleep(arguments.pause)
            if sums:
                store.pushpull(key, value, priority=-key)
        for value in values:
            value.wait_to_read()

    def mpi():
        for array in raw:
            comm.Allreduce(MPI.IN_PLACE, array)

    ways = {
        "backward": lambda: step(True, False),
        "sums": lambda: step(False, True),
        "mpi": mpi,
        "both": lambda: step(True, True),
    }
    seconds = {way: [] for way in ways}
    for _ in range(arguments.rounds):
        for way, run in ways.items():
            store._barrier()
            began = time.perf_counter()
            run()
            seconds[way].append(time.perf_counter() - began)
    if store.rank == 0:
        for name, of in (("least", min), ("median", statistics.median)):
            of_way = {way: of(taken) for way, taken in seconds.items()}
            longer = of_way["both"] - of_way["backward"]
            shares = {f"hidden_of_{way}": 1 - longer / of_way[way] for way in ("sums", "mpi")}
            print(json.dumps({"what": name, **of_way, **shares}), flush=True)


if __name__ == "__main__":
    main()
