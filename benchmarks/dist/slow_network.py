"""The gain of priorities and compression on a slow network; rank 0 prints JSON.

python benchmarks/dist/two_hosts.py --rate 1gbit python benchmarks/dist/slow_network.py

Compression: sums of many keys with and without `set_gradient_compression`, interleaved. Priorities
(with --env DMLC_PS_VAN_TYPE=p3): steps of a network like VGG, whose last layers have most of the
weights, with slices sent by priority and first come, first served, interleaved. Computation is
replaced by sleeping.
"""

import argparse
import json
import time

import mxcy as mx

#: elements of 13 convolutions and three dense layers of a VGG-16, each an eighth
_LAYERS = [220, 4600, 9200, 18400, 36900, 73700, 73700, *[147500] * 3, *[295000] * 3]
_DENSE = [12_850_000, 2_097_000, 512_000]


def timed(work, rounds):
    """Minimum seconds of each of several interleaved functions."""
    least = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, function in work.items():
            began = time.perf_counter()
            function()
            least[name] = min(least[name], time.perf_counter() - began)
    return least


def by_priority(store, arguments):
    """Time steps with slices sent by priority, and first come, first served."""
    sizes = [*(size for size in _LAYERS), *_DENSE]
    keys = list(range(len(sizes)))
    weights, gradients = ([mx.nd.zeros(size) for size in sizes] for _ in range(2))
    store.init(keys, weights)
    convolutions = len(_LAYERS)

    def step(by):
        for key in reversed(keys):
            if key < convolutions:
                time.sleep(2 * arguments.forward / convolutions)
            store.pushpull(key, gradients[key], out=weights[key], priority=-key * by)
        for key in keys:
            weights[key].wait_to_read()
            if key < convolutions:
                time.sleep(arguments.forward / convolutions)

    def steps(by):
        for _ in range(arguments.steps):
            step(by)

    work = {"priority": lambda: steps(1), "first come": lambda: steps(0)}
    return timed(work, arguments.rounds)


def by_bits(store, arguments):
    """Time sums sent as floats, and as bits."""
    keys = list(range(arguments.megabytes // 4))
    first = store, keys, [mx.nd.ones(1 << 20) for _ in keys]
    packed = mx.kv.create("dist_sync")
    packed.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    second = packed, keys, [mx.nd.ones(1 << 20) for _ in keys]

    def add_up(kept, its_keys, values):
        kept.push(its_keys, values)
        kept.pull(its_keys, out=values)
        for value in values:
            value.wait_to_read()

    for kept, its_keys, values in (first, second):
        kept.init(its_keys, values)
    work = {"floats": lambda: add_up(*first), "2bit": lambda: add_up(*second)}
    return timed(work, arguments.rounds)


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3, help="of the network, in each round")
    parser.add_argument("--forward", type=float, default=0.15, help="its seconds; backward: twice")
    parser.add_argument("--megabytes", type=int, default=100, help="of what is sent as bits")
    arguments = parser.parse_args()
    store = mx.kv.create("dist_sync")
    slices = not store.is_capable("optimizer")
    seconds = (by_priority if slices else by_bits)(store, arguments)
    if store.rank == 0:
        fast, slow = seconds.values() if slices else reversed(seconds.values())
        print(json.dumps({"seconds": seconds, "gain": slow / fast}), flush=True)


if __name__ == "__main__":
    main()
