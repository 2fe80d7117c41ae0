"""The share of sums hidden behind a backward pass; rank 0 prints JSON.

    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/overlap.py
    python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/overlap.py --backward computing
    python benchmarks/dist/two_hosts.py --rate 1gbit python benchmarks/dist/overlap.py \\
        --backward computing

Four variants are interleaved: computation alone, the sums alone, MPI's Allreduce of the same arrays
alone, and computation that pushes each gradient as soon as it is ready. Hidden is the part of the
sums' time, or of MPI's, by which the last does not exceed the first; of the fastest rounds and of
the medians.

An idle backward pass sleeps, before each of 16 gradients of 4 MB. A computing one belongs to a
training step of a network, on one core per rank; the fifth variant, "after", pushes the gradients
once all are computed. The optimizer runs in the workers, so that steps with and without sums
compute the same; with --update store, ranks share its work.
"""

import argparse
import importlib
import json
import os
import statistics
import time

import numpy as np


class Idle:
    """Variants with an idle backward pass."""

    def __init__(self, mx, store, options):
        self._store, self._pause = store, options.pause
        self._keys = list(range(options.keys))
        self._values = [mx.nd.ones(options.bytes // 4) for _ in self._keys]
        store.init(self._keys, self._values)
        self.sizes = [options.bytes // 4] * options.keys
        self.ways = {
            "backward": lambda: self._step(True, False),
            "sums": lambda: self._step(False, True),
            "both": lambda: self._step(True, True),
        }

    def _step(self, pause, sums):
        for key, value in zip(self._keys, self._values, strict=True):
            if pause:
                time.sleep(self._pause)
            if sums:
                self._store.pushpull(key, value, priority=-key)
        for value in self._values:
            value.wait_to_read()


class Computing:
    """Variants with training steps of a network, each with a copy of it."""

    def __init__(self, mx, store, options):
        self._mx, self._workers = mx, store.num_workers
        shape = (options.batch_size, 3, options.size, options.size)
        self._data = mx.nd.random.uniform(shape=shape)
        self._label = mx.nd.random.randint(0, 1000, shape=shape[:1]).astype("float32")
        self._loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        along = self._new(options, store)
        os.environ["MXCY_DIST_OVERLAP"] = "0"  # read when a store or a plan is made
        after, sums = mx.kv.create("dist_sync"), mx.kv.create("dist_sync")
        alone, after = self._new(options, None), self._new(options, after)
        parameters = [one for one in alone[0].collect_params().values() if one.grad_req != "null"]
        values = [mx.nd.zeros(one.shape) for one in parameters]
        self.sizes = [value.size for value in values]
        sums.init(list(range(len(values))), values)

        def add_up():
            sums.pushpull(list(range(len(values))), values)
            mx.nd.waitall()

        self.ways = {
            "backward": lambda: self._step(*alone),
            "sums": add_up,
            "both": lambda: self._step(*along),
            "after": lambda: self._step(*after),
        }

    def _new(self, options, store):
        """A network and its trainer, after a step."""
        net = self._mx.gluon.model_zoo.get_model(options.network, classes=1000)
        net.initialize(self._mx.init.Xavier())
        net.hybridize(static_alloc=True, static_shape=True)
        settings = {"learning_rate": 1e-3, "momentum": 0.9}
        parameters = net.collect_params()
        update = False if store is not None and options.update == "workers" else None
        trainer = self._mx.gluon.Trainer(
            parameters, "sgd", settings, kvstore=store, update_on_kvstore=update
        )
        self._step(net, trainer)
        return net, trainer

    def _step(self, net, trainer):
        with self._mx.autograd.record():
            error = self._loss(net(self._data), self._label)
        error.backward()
        trainer.step(len(self._label) * self._workers)
        self._mx.nd.waitall()


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0])
    parser.add_argument("--backward", choices=("idle", "computing"), default="idle")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keys", type=int, default=16)
    parser.add_argument("--bytes", type=int, default=4 << 20)
    parser.add_argument("--pause", type=float, default=0.008, help="seconds of backward per key")
    parser.add_argument("--network", default="resnet18_v1")
    parser.add_argument("--batch-size", type=int, default=16, help="of each rank")
    parser.add_argument("--size", type=int, default=224, help="height and width of images")
    parser.add_argument("--update", choices=("workers", "store"), default="workers")
    options = parser.parse_args()
    idle = options.backward == "idle"
    if not idle:  # before the library starts its threads
        rank = os.environ.get("DMLC_WORKER_ID") or os.environ.get("PMI_RANK", "0")
        os.sched_setaffinity(0, {int(rank) % (os.cpu_count() or 1)})
        os.environ["OMP_NUM_THREADS"] = "1"
    mx = importlib.import_module("mxcy")
    store = mx.kv.create("dist_sync")
    variants = (Idle if idle else Computing)(mx, store, options)
    ways = {**variants.ways, "mpi": raw(variants.sizes)}
    seconds = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, run in ways.items():
            store._barrier()
            began = time.perf_counter()
            run()
            seconds[way].append(time.perf_counter() - began)
    if store.rank == 0:
        report(seconds)


def raw(sizes):
    """MPI's Allreduce of arrays of these sizes, the small ones together in arrays of 4 MB."""
    from mpi4py import MPI

    comm, arrays, most = MPI.COMM_WORLD.Dup(), [], 1 << 20
    for size in sizes:
        if arrays and arrays[-1] + size <= most:
            arrays[-1] += size
        else:
            arrays.append(size)
    arrays = [np.ones(size, "float32") for size in arrays]

    def add_up():
        for array in arrays:
            comm.Allreduce(MPI.IN_PLACE, array)

    return add_up


def report(seconds):
    """Print the seconds of each way, and the shares that are hidden."""
    for name, of in (("least", min), ("median", statistics.median)):
        of_way = {way: of(taken) for way, taken in seconds.items()}
        longer = of_way["both"] - of_way["backward"]
        shares = {f"hidden_of_{way}": 1 - longer / of_way[way] for way in ("sums", "mpi")}
        print(json.dumps({"what": name, **of_way, **shares}), flush=True)


if __name__ == "__main__":
    main()
