"""Gradients rounded and packed to bits per second, on one core; prints JSON.

python benchmarks/dist/encode.py
"""

import argparse
import json
import time

import numpy as np

from mxcy.dist.keys.levels import Levels


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--megabytes", type=int, default=100, help="of float32 gradients")
    arguments = parser.parse_args()
    gradients = np.random.default_rng(0).normal(size=arguments.megabytes << 18).astype("float32")
    residuals = np.zeros_like(gradients)
    for kind in ("1bit", "2bit"):
        levels = Levels(kind, 0.5)
        packed = np.empty(levels.bytes_of(gradients.size), np.uint8)
        least = float("inf")
        for _ in range(arguments.rounds):
            began = time.perf_counter()
            levels.round(gradients, residuals, packed)
            least = min(least, time.perf_counter() - began)
        print(json.dumps({"kind": kind, "GB/s": gradients.nbytes / least / 1e9}), flush=True)


if __name__ == "__main__":
    main()
