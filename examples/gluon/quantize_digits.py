"""Quantize digit classifiers to 8 bits, with calibration and a table of layers.

LeNet, a ResNet of eight convolutions or ResNet-18 is trained on 4,000 digits in float32, then
quantized with ranges calibrated on 500 of them, by extremes and by entropy, and both are tested on
1,000 held-out digits. Run ``python examples/gluon/quantize_digits.py``; ``--help`` lists the
options. ResNet-18 takes some minutes for an epoch.

It prints the range of each layer, the accuracies, how often the predictions of float32 and 8 bits
agree, and the difference of their scores.
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy.contrib import quantization
from mxcy.examples.train_mnist import lenet, load_digits, train_epoch
from mxcy.gluon.model_zoo import vision

MODES = ("naive", "entropy")


def resnet():
    """ResNet with three stages of 16, 32 and 64 channels."""
    return vision.ResNetV1(
        vision.BasicBlockV1, [1, 1, 1], [16, 16, 32, 64], classes=10, thumbnail=True
    )


def resnet18():
    """ResNet-18 with its stem for small images."""
    return vision.ResNetV1(
        vision.BasicBlockV1, [2, 2, 2, 2], [64, 64, 128, 256, 512], classes=10, thumbnail=True
    )


NETWORKS = {"lenet": lenet, "resnet": resnet, "resnet18": resnet18}


def trained(options, learned):
    """Train a network in float32."""
    mx.random.seed(options.seed)
    np.random.seed(options.seed)
    net = NETWORKS[options.network]()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    batches = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(*learned), 50, shuffle=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.001})
    for epoch in range(options.epochs):
        with tqdm(
            desc=f"epoch {epoch + 1}", total=len(learned[0]), unit=" images", disable=None
        ) as bar:
            for _ in train_epoch(net, trainer, batches, bar):
                pass
    return net


def scores_of(net, images, size=250):
    """Scores of images, NumPy (n, 10)."""
    parts = np.split(images, range(size, len(images), size))
    return np.concatenate([net(mx.nd.array(part)).asnumpy() for part in parts])


def quantized(net, images, mode):
    """Quantize the network; return it and the seconds of calibration."""
    start = time.perf_counter()
    batches = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images), 100)
    narrow = quantization.quantize_net(
        net, quantize_mode="smart", calib_mode=mode, calib_data=batches
    )
    narrow.hybridize()
    return narrow, time.perf_counter() - start


def layers_of(net):
    """[(name, minimum, maximum)] of the layers of a quantized network."""
    attributes = net(mx.sym.var("data")).attr_dict()
    return [
        (name, float(kept["min_calib_range"]), float(kept["max_calib_range"]))
        for name, kept in attributes.items()
        if "min_calib_range" in kept
    ]


def main(arguments=None):
    """Train, quantize, compare: {mode: (accuracy in float32, in 8 bits, agreement, error)}."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, default="lenet")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=4000, help="training images")
    parser.add_argument("--calibration", type=int, default=500, help="images for calibration")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    (images, digits), (unseen, answers) = load_digits()
    order = np.random.RandomState(options.seed).permutation(len(images))[: options.images]
    images, digits = images[order], digits[order]
    net = trained(options, (images, digits))
    floats = scores_of(net, unseen)
    results = {}
    for mode in MODES:
        narrow, seconds = quantized(net, images[: options.calibration], mode)
        scores = scores_of(narrow, unseen)
        print(f"\n{mode}, calibrated in {seconds:.2f} s; ranges of the layers")
        for name, low, high in layers_of(narrow):
            print(f"  {name:50} {low:10.4f} ... {high:.4f}")
        accuracies = [float((each.argmax(1) == answers).mean()) for each in (floats, scores)]
        agreement = float((floats.argmax(1) == scores.argmax(1)).mean())
        error = float(np.sqrt(np.mean((scores - floats) ** 2) / np.var(floats)))
        print(
            f"accuracy {accuracies[0]:.1%} in float32, {accuracies[1]:.1%} in 8 bits; "
            f"same class {agreement:.1%}, score error {error:.2%}"
        )
        results[mode] = (*accuracies, agreement, error)
    return results


if __name__ == "__main__":
    main()
