"""Write ``zoo.json.gz``: what real MXNet 1.9.1's classifiers look like and compute.

With a Python that has MXNet 1.9.1: ``python tests/gluon/golden/zoo.py``
"""

import gzip
import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "zoo.json.gz"
#: models that are also run: name, and whether for thumbnails
COMPUTED = (("resnet18_v1", True), ("resnet50_v2", True), ("resnet34_v2", False))


def filled(mx, net):
    """Give every parameter its own reproducible values."""
    for number, parameter in enumerate(net.collect_params().values()):
        random = np.random.RandomState(number)
        if parameter.name.endswith(("gamma", "var")):
            values = random.uniform(0.5, 1, parameter.shape)
        else:
            fan = float(np.prod(parameter.shape[1:]))
            values = random.standard_normal(parameter.shape) / np.sqrt(fan)
        parameter.set_data(mx.nd.array(values))
    return net


def computed(mx, name, thumbnail):
    """The outputs of a network of ten classes for two small images."""
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10, thumbnail=thumbnail)
    net.initialize(mx.init.Zero())
    images = np.random.RandomState(7).standard_normal((2, 3, 32, 32)).astype("float32")
    net(mx.nd.array(images))
    return filled(mx, net)(mx.nd.array(images)).asnumpy()


#: models whose operators' names are compared
NAMED = ("alexnet", "vgg11_bn", "resnet50_v1", "resnet18_v2", "inceptionv3")


def internals(mx, name):
    """The names of all outputs in a model's graph, in a scope where nothing has been named."""
    with mx.name.NameManager():
        net = mx.gluon.model_zoo.vision.get_model(name)
        return net(mx.sym.Variable("data")).get_internals().list_outputs()


def _described(mx, name):
    net = mx.gluon.model_zoo.vision.get_model(name)
    height = 299 if name.startswith("inception") else 224
    symbol = net(mx.sym.Variable("data"))
    arguments, _, auxiliary = symbol.infer_shape(data=(1, 3, height, height))
    shapes = dict(zip(symbol.list_arguments(), arguments, strict=True))
    shapes.update(zip(symbol.list_auxiliary_states(), auxiliary, strict=True))
    paths = {p.name: path for path, p in net._collect_params_with_prefix().items()}
    own = len(net.prefix)
    return [
        [parameter.name[own:], paths[parameter.name], shapes[parameter.name]]
        for parameter in net.collect_params().values()
    ]


def _names():
    yield "alexnet"
    yield from (f"vgg{layers}{bn}" for layers in (11, 13, 16, 19) for bn in ("", "_bn"))
    yield from (f"resnet{n}_v{version}" for n in (18, 34, 50, 101, 152) for version in (1, 2))
    yield "inceptionv3"


def main():
    """Ask the original and write the file."""
    import mxnet as mx

    content = {
        "parameters": {name: _described(mx, name) for name in _names()},
        "internals": {name: internals(mx, name) for name in NAMED},
        "outputs": {name: computed(mx, name, small).tolist() for name, small in COMPUTED},
    }
    packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 9, mtime=0)
    FILE.write_bytes(packed)
    print({name: np.abs(values).max() for name, values in content["outputs"].items()})


if __name__ == "__main__":
    main()
