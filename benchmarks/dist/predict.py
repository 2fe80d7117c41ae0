"""Measured steps compared with the simulation's prediction; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/predict.py

The steps have an idle backward pass, which pushes gradients one after the other. The simulation's
parameters are measured in the same run, interleaved with the steps: the time of a sum of four
bytes, and the time per byte of large and of small keys that are pushed all at once.

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


class Measured:
    """Keys of one size in a separate store, pushed last first."""

    def __init__(self, count, size, pause):
        self.pause, self.seconds = pause, []
        self.store = mx.kv.create("dist_sync")
        self._keys = list(range(count))
        self.values = [mx.nd.ones(size // 4) for _ in self._keys]
        self.store.init(self._keys, self.values)
        self._groups = [[key] for key in self._keys]

    def group(self):
        """Request the keys of a bucket together, as overlapping trainers do."""
        self.store.pushpull(self._keys, self.values)
        mx.nd.waitall()
        self._groups = [bucket["keys"] for bucket in self.store.stats()["buckets"]]

    def run(self):
        """Run a step and record its time."""
        self.store._barrier()
        began = time.perf_counter()
        for group in self._groups:
            if self.pause:
                time.sleep(self.pause * len(group))
            values = [self.values[key] for key in group]
            self.store.pushpull(group, values, priority=-min(group))
        for value in self.values:
            value.wait_to_read()
        self.seconds.append(time.perf_counter() - began)


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
    message, large, small = Measured(1, 4, 0), Measured(16, 4 << 20, 0), Measured(60, 1 << 20, 0)
    if options.trace:
        steps = {options.network: Training(options)}
        played = {options.network: Step(**json.loads(Path(options.trace).read_text()))}
    else:
        steps = {what: Measured(*terms) for what, terms in STEPS.items()}
        played = {what: _played(*terms) for what, terms in STEPS.items()}
    for one in (message, large, small, *steps.values()):
        one.group()
    for _ in range(options.rounds):
        for one in (message, large, small, *steps.values()):
            one.run()
    ranks = message.store.num_workers
    if message.store.rank or ranks == 1:
        return
    alpha, beta = min(message.seconds), min(large.seconds) / (16 * (4 << 20))
    copy = max(0.0, min(small.seconds) / (60 << 20) - beta) / 2
    levels, others = 2 * math.ceil(math.log2(ranks)), 2 * (ranks - 1) / ranks
    links = Links(ranks, ranks, 0, 0, alpha / levels, beta / others, copy)
    told = {"ranks": ranks, "alpha": alpha, "beta": beta, "copy": copy}
    print(json.dumps(told), flush=True)
    for what, step in played.items():
        told = simulate(step, links, env.get("MXCY_DIST_BUCKET_BYTES"), steps=1)["seconds"]
        measured = min(steps[what].seconds)
        line = {"what": what, "ms": measured * 1e3, "predicted_ms": told * 1e3}
        print(json.dumps({**line, "ratio": told / measured}), flush=True)


def _played(count, size, pause):
    """Simulate synthetic gradients."""
    ready = [pause * (count - number) for number in range(count)]
    return Step([size] * count, ready, pause * count)


if __name__ == "__main__":
    main()
