"""Train ResNet-18 on a RecordIO file of small colour images in several processes.

    tools/launch.py -n 4 -s 0 python examples/distributed/resnet_cifar.py --save four.params
    python examples/distributed/resnet_cifar.py --parts 4 --like four.params    # the same weights

Each process reads its part of the records. The images are synthetic, of the size of CIFAR-10's: ten
classes of waves in noise. A single process with ``--parts`` processes the parts of each batch
separately, so that batch normalization sees the same groups of images.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np

import mxcy as mx


def write_records(path, count):
    """Write images of 32 x 32 pixels with their classes, 0 to 9, as records with an index."""
    draw = np.random.RandomState(0)
    rows, columns = np.mgrid[:32, :32] / 32
    records = mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    for number in range(count):
        kind = number * 7 % 10
        wave = np.sin(2 * np.pi * ((kind % 5 + 1) * rows + (kind // 5 + 1) * 2 * columns))
        image = 128 + 70 * wave[:, :, None] * (1, 0.7, 0.4) + draw.randn(32, 32, 3) * 20
        header = mx.recordio.IRHeader(0, kind, number, 0)
        image = np.clip(image, 0, 255).astype("uint8")
        records.write_idx(number, mx.recordio.pack_img(header, image, quality=3, img_fmt=".png"))
    records.close()


def reader(path, parts, index, batch):
    """The batches of a part of the records."""
    return mx.io.ImageRecordIter(
        path_imgrec=path + ".rec",
        path_imgidx=path + ".idx",
        data_shape=(3, 32, 32),
        batch_size=batch,
        num_parts=parts,
        part_index=index,
        std_r=64,
        std_g=64,
        std_b=64,
        mean_r=128,
        mean_g=128,
        mean_b=128,
        preprocess_threads=1,
    )


def network():
    """ResNet-18 for small images, with the same initial weights in all processes."""
    mx.random.seed(1)
    net = mx.gluon.model_zoo.vision.resnet18_v1(thumbnail=True, classes=10)
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 3, 32, 32)))
    net.hybridize()
    return net


def train(net, store, readers, batch, epochs):
    """Train; `readers` read this process's parts."""
    parameters = net.collect_params()
    if len(readers) > 1:
        parameters.setattr("grad_req", "add")
        for name, parameter in parameters.items():
            if "running" in name:
                parameter.grad_req = "null"
    options = {"learning_rate": 0.01, "momentum": 0.9}
    trainer = mx.gluon.Trainer(parameters, "sgd", options, kvstore=store)
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(epochs):
        began, images = time.perf_counter(), 0
        for together in zip(*readers, strict=True):
            for one in together:
                with mx.autograd.record():
                    loss = cross_entropy(net(one.data[0]), one.label[0])
                loss.backward()
                images += len(one.label[0]) * store.num_workers
            trainer.step(batch)
            if len(readers) > 1:
                parameters.zero_grad()
        mean = loss.mean().asscalar()
        rate = images / (time.perf_counter() - began)
        if store.rank == 0:
            print(f"epoch {epoch}: loss {mean:.4f}, {rate:.0f} images/s of all workers", flush=True)
        for one in readers:
            one.reset()


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32, help="global batch size")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--parts", type=int, default=1, help="parts of each batch, in one process")
    parser.add_argument("--save", help="write the weights to this file")
    parser.add_argument("--like", help="compare the weights with those in this file")
    arguments = parser.parse_args()
    store = mx.kv.create("dist_sync")
    workers = store.num_workers * arguments.parts
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "waves")
        write_records(path, arguments.images)
        first = store.rank * arguments.parts
        readers = [
            reader(path, workers, part, arguments.batch // workers)
            for part in range(first, first + arguments.parts)
        ]
        net = network()
        train(net, store, readers, arguments.batch, arguments.epochs)
    weights = {
        name: parameter.data()
        for name, parameter in net._collect_params_with_prefix().items()
        if parameter.grad_req != "null"  # running statistics differ between processes
    }
    if arguments.save and store.rank == 0:
        mx.nd.save(arguments.save, weights)
    if arguments.like:
        others = mx.nd.load(arguments.like)
        most = max(float((weights[name] - others[name]).abs().max().asscalar()) for name in weights)
        print(f"largest difference between the weights of both runs: {most:.2g}")
        return int(not most < 1e-3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
