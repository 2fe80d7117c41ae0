"""Latency and seconds per byte of MPI's Allreduce, by least squares over sizes; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/alpha_beta.py

The time of a sum of S bytes is modelled as alpha + beta * S seconds. Errors are relative, so that
small sizes count as much as large ones.
"""

import argparse
import json
import time

import numpy as np
from mpi4py import MPI


def least_seconds(comm, size, rounds):
    """Minimum time of several sums of that many bytes, on the slowest rank."""
    source = np.ones(max(size // 4, 1), "float32")
    target = np.empty_like(source)
    least = float("inf")
    for _ in range(rounds):
        comm.Barrier()
        began = time.perf_counter()
        comm.Allreduce(source, target)
        least = min(least, time.perf_counter() - began)
    return comm.allreduce(least, MPI.MAX)


def fit(sizes, seconds):
    """Fit alpha and beta, both nonnegative."""
    sizes, seconds = np.asarray(sizes, float), np.asarray(seconds, float)
    columns = np.stack([np.ones_like(sizes), sizes], 1) / seconds[:, None]
    alpha, beta = np.linalg.lstsq(columns, np.ones_like(seconds), rcond=None)[0]
    return max(alpha, 0.0), max(beta, 0.0)


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--bytes", type=int, nargs="*", default=[4**k for k in range(1, 13)])
    arguments = parser.parse_args()
    comm = MPI.COMM_WORLD.Dup()
    seconds = [least_seconds(comm, size, arguments.rounds) for size in arguments.bytes]
    alpha, beta = fit(arguments.bytes, seconds)
    if comm.rank == 0:
        told = {"ranks": comm.size, "alpha": alpha, "beta": beta}
        told["seconds"] = dict(zip(map(str, arguments.bytes), seconds, strict=True))
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
