"""Record a training step for `mxcy.tools.simulate_dist`: when each gradient was ready.

    python benchmarks/dist/record_step.py --network resnet50_v1 --batch-size 16 > step.json

Trainer pushes each gradient to a store of this process alone, in a separate bucket, whose times are
recorded. The fastest of several steps counts.
"""

import argparse
import json
import os
import time

os.environ["MXCY_DIST_BUCKET_BYTES"] = "1"  # read when the store is created

import mxcy as mx


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="resnet50_v1")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--size", type=int, default=224, help="height and width of images")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    net = mx.gluon.model_zoo.vision.get_model(options.network)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.random.normal(shape=(options.batch_size, 3, options.size, options.size))
    label = mx.nd.random.randint(0, 1000, shape=(options.batch_size,)).astype("float32")
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    net(data)
    store = mx.kv.create("dist_sync")
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 1e-6}, kvstore=store, update_on_kvstore=True
    )
    records = []
    for _ in range(options.rounds + 1):
        began = time.monotonic()
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(options.batch_size)
        mx.nd.waitall()
        records.append(_record(store, began, time.monotonic()))
    print(json.dumps(min(records[1:], key=lambda one: one["compute"] + one["update"])))


def _record(store, began, ended):
    ready = {}
    for bucket in store.stats()["buckets"]:
        for key in bucket["keys"] if bucket["sessions"] else ():  # means have no gradients
            ready[key] = bucket["length"] // len(bucket["keys"]), bucket["last"][0] - began
    sizes, times = zip(*(ready[key] for key in sorted(ready)), strict=True)
    compute = max(times)
    update = ended - began - compute
    return {"sizes": sizes, "ready": times, "compute": compute, "update": update}


if __name__ == "__main__":
    main()
