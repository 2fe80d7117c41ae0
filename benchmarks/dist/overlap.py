"""The share of 16 sums of 4 MB hidden behind an idle backward pass; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/overlap.py

Three variants are interleaved: the pass alone, the sums alone, and a pass that pushes each gradient
as soon as it is ready. The hidden share is the part of the sums' time by which the third does not
exceed the first.
"""

import argparse
import json
import time

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

    def step(pause, sums):
        for key, value in zip(keys, values, strict=True):
            if pause:
                time.sleep(arguments.pause)
            if sums:
                store.pushpull(key, value, priority=-key)
        for value in values:
            value.wait_to_read()

    ways = {"backward": (True, False), "sums": (False, True), "both": (True, True)}
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(arguments.rounds):
        for way, settings in ways.items():
            store._barrier()
            began = time.perf_counter()
            step(*settings)
            least[way] = min(least[way], time.perf_counter() - began)
    if store.rank == 0:
        hidden = 1 - (least["both"] - least["backward"]) / least["sums"]
        print(json.dumps({**least, "hidden": hidden}), flush=True)


if __name__ == "__main__":
    main()
