"""Measured steps compared with the simulation's prediction; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/predict.py

The steps have an idle backward pass, which pushes gradients one after the other. The simulation's
parameters are measured in the same run, interleaved with the steps: the time of the pass alone; the
time of pushing a little key, and that of its sum, after idle time; the time per byte of large keys,
and of small ones, which are copied, when all are pushed at once; that of keys of which the store
keeps a copy, when they are pushed a millisecond apart: else copies are made after the last sum.

With a trace, recorded by one rank on one core, the steps are those of the recorded network:

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/dist/record_step.py > step.json
    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/predict.py --trace step.json
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import mxcy as mx
from mxcy import env
from mxcy.dist.simulated.links import Links
from mxcy.dist.simulated.simulation import Step, simulate

#: title -> number of gradients, bytes of each, seconds of backward for each
STEPS = {
    "16 of 4 MiB, 8 ms each": (16, 4 << 20, 8e-3),
    "16 of 4 MiB, 1 ms each": (16, 4 << 20, 1e-3),
    "8 of 16 MiB, 2 ms each": (8, 16 << 20, 2e-3),
    "60 of 1 MiB, 1 ms each": (60, 1 << 20, 1e-3),
}


BUCKET_BYTES = env.get("MXCY_DIST_BUCKET_BYTES")
LITTLE = 1 << 17  # bytes: little, but summed in shared memory by the progress thread
KEPT = 8 << 20  # bytes: the store has its own copy of the sums of larger keys


class Measured:
    """Keys of one size in a separate store, pushed last first.

    Parameters
    ----------
    count, size : int
        Number of keys, and bytes of each.
    pause : float
        Seconds of backward for each key.
    alone : bool
        Whether each key has a bucket of its own, whatever its size.
    """

    def __init__(self, count, size, pause, alone=False):
        self.pause, self.count, self.size = pause, count, size
        self.seconds, self.computing, self.pushing, self.waiting = [], [], [], []
        os.environ["MXCY_DIST_BUCKET_BYTES"] = str(1 if alone else BUCKET_BYTES)
        self.store = mx.kv.create("dist_sync")
        self._keys = list(range(count))
        self.values = [mx.nd.ones(size // 4) for _ in self._keys]
        self.store.init(self._keys, self.values)
        self.groups = [[key] for key in self._keys]

    def group(self):
        """Request the keys of a bucket together, as overlapping trainers do."""
        self.store.pushpull(self._keys, self.values)
        mx.nd.waitall()
        self.groups = [bucket["keys"] for bucket in self.store.stats()["buckets"]]

    def run(self):
        """Run a step and record its time, and that of the same pauses alone."""
        self.store._barrier()
        began = time.perf_counter()
        for group in self.groups:
            self._compute(group)
        self.computing.append(time.perf_counter() - began)
        self.store._barrier()
        pushing, began = 0.0, time.perf_counter()
        for group in self.groups:
            self._compute(group)
            pushed = time.perf_counter()
            key = group[0] if len(group) == 1 else group
            values = [self.values[key] for key in group] if len(group) > 1 else self.values[key]
            self.store.pushpull(key, values, priority=-min(group))
            last = time.perf_counter()
            pushing += last - pushed
        for value in self.values:
            value.wait_to_read()
        ended = time.perf_counter()
        self.seconds.append(ended - began)
        self.pushing.append(pushing / len(self.groups))
        self.waiting.append(ended - last)

    def _compute(self, group):
        if self.pause:
            time.sleep(self.pause * len(group))

    def played(self, push):
        """The step for the simulation, given the seconds of a push."""
        computed = min(self.computing)
        ready = [computed * (self.count - key) / self.count for key in range(self.count)]
        return Step([self.size] * self.count, ready, computed, push=push)


class Training:
    """Steps of a network, as in record_step.py."""

    def __init__(self, options):
        self.store, self.seconds = mx.kv.create("dist_sync"), []
        os.sched_setaffinity(0, {self.store.rank % (os.cpu_count() or 1)})
        self._net = mx.gluon.model_zoo.vision.get_model(options.network)
        self._net.initialize(mx.init.Xavier())
        self._net.hybridize(static_alloc=True, static_shape=True)
        shape = (options.batch_size, 3, options.size, options.size)
        self._data = mx.nd.random.normal(shape=shape)
        self._label = mx.nd.random.randint(0, 1000, shape=shape[:1]).astype("float32")
        self._loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        self._net(self._data)
        settings = {"learning_rate": 1e-6}
        self._trainer = mx.gluon.Trainer(
            self._net.collect_params(), "sgd", settings, kvstore=self.store
        )

    def run(self):
        """Run a step and record its time."""
        self.store._barrier()
        began = time.perf_counter()
        with mx.autograd.record():
            loss = self._loss(self._net(self._data), self._label)
        loss.backward()
        self._trainer.step(len(self._label) * self.store.num_workers)
        mx.nd.waitall()
        self.seconds.append(time.perf_counter() - began)

    def group(self):
        """Create the state of all later steps."""
        for _ in range(2):
            self.run()
        self.seconds.clear()


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--trace", help="output of record_step.py")
    parser.add_argument("--network", default="resnet50_v1", help="of the trace")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--size", type=int, default=224)
    options = parser.parse_args()
    single = Measured(16, LITTLE, 4e-3, alone=True)
    large, small = Measured(16, 4 << 20, 0), Measured(60, 1 << 20, 0)
    larger = Measured(4, 16 << 20, 1e-3)
    if options.trace:
        steps = {options.network: Training(options)}
    else:
        steps = {what: Measured(*terms) for what, terms in STEPS.items()}
    measured = (single, large, larger, small)
    for one in (*measured, *steps.values()):
        one.group()
    for _ in range(options.rounds):
        for one in (*measured, *steps.values()):
            one.run()
    ranks = single.store.num_workers
    if single.store.rank or ranks == 1:
        return
    push, links, told = costs(ranks, *measured)
    print(json.dumps(told), flush=True)
    for what, step in steps.items():
        if options.trace:
            played = Step(**json.loads(Path(options.trace).read_text()))
        else:
            played = step.played(push)
        told = simulate(played, links, BUCKET_BYTES, steps=1)["seconds"]
        taken = min(step.seconds)
        line = {"what": what, "ms": taken * 1e3, "predicted_ms": told * 1e3}
        print(json.dumps({**line, "ratio": told / taken}), flush=True)


def costs(ranks, single, large, larger, small):
    """Parameters of the simulation: seconds of a push, links, and these as a dict."""
    push, latency = min(single.pushing), min(single.waiting)

    def exposed(one):
        """Seconds after the first gradient, without those of a push and of latency."""
        return min(one.seconds) - min(one.computing) / one.count - push - latency

    beta = max(0.0, exposed(large)) / (large.count * large.size)
    alpha = max(0.0, latency - beta * LITTLE)
    copy = max(0.0, exposed(small) / (small.count * small.size) - beta) / 2
    copies = exposed(larger) - beta * larger.count * larger.size  # the last one delays nothing
    keep = max(0.0, copies) / ((larger.count - 1) * larger.size)
    levels, others = 2 * math.ceil(math.log2(ranks)), 2 * (ranks - 1) / ranks
    per_message = (0, 0, alpha / levels, beta / others)
    links = Links(ranks, ranks, *per_message, copy, kept=KEPT, keep=keep)
    told = {"ranks": ranks, "push": push, "alpha": alpha, "beta": beta, "copy": copy}
    return push, links, {**told, "keep": keep}


if __name__ == "__main__":
    main()
