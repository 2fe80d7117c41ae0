"""Seconds of a training step of a network on one core per rank; rank 0 prints JSON.

python -m mxcy.tools.launch -n 1 -s 0 python benchmarks/dist/scaling.py
python -m mxcy.tools.launch -n 2 -s 0 python benchmarks/dist/scaling.py

The scaling efficiency is the samples per second of two ranks, divided by twice those of one.
"""

import argparse
import importlib
import json
import os
import statistics
import time


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="resnet50_v1")
    parser.add_argument("--batch-size", type=int, default=16, help="of each rank")
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    # Before the library starts its threads.
    os.sched_setaffinity(0, {int(os.environ.get("DMLC_WORKER_ID", 0)) % (os.cpu_count() or 1)})
    os.environ["OMP_NUM_THREADS"] = "1"
    mx = importlib.import_module("mxcy")
    autograd, gluon = mx.autograd, mx.gluon
    store = mx.kv.create("dist_sync")
    net = gluon.model_zoo.get_model(arguments.network, classes=1000)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    settings = {"learning_rate": 0.01, "momentum": 0.9}
    trainer = gluon.Trainer(net.collect_params(), "sgd", settings, kvstore=store)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data = mx.nd.random.uniform(shape=(arguments.batch_size, 3, 224, 224))
    # Constant labels are learnt in a few steps; gradients then become denormal numbers.
    label = mx.nd.random.randint(0, 1000, shape=(arguments.batch_size,)).astype("float32")
    seconds, computed = [], []
    for _ in range(arguments.steps + 2):
        store._barrier()
        began, used = time.perf_counter(), time.process_time()
        with autograd.record():
            error = loss(net(data), label)
        error.backward()
        trainer.step(arguments.batch_size * store.num_workers)
        mx.nd.waitall()
        seconds.append(time.perf_counter() - began)
        computed.append(time.process_time() - used)
    del seconds[:2], computed[:2]
    if store.rank == 0:
        least, middle = min(seconds), statistics.median(seconds)
        speed = arguments.batch_size * store.num_workers / least
        line = {"ranks": store.num_workers, "least": least, "median": middle, "samples/s": speed}
        line["least_cpu"] = min(computed)  # less affected by other work on the machine
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
