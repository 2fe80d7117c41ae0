"""Write ``zoo.json.gz``: structure and outputs of real MXNet 1.9.1's classifiers.

With a Python that has MXNet 1.9.1: ``python tests/gluon/golden/zoo.py``
"""

import gzip
import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "zoo.json.gz"
#: models that are also run: name, options, height of the images
COMPUTED = {
    "resnet18_v1": ({"thumbnail": True}, 32),
    "resnet50_v2": ({"thumbnail": True}, 32),
    "resnet34_v2": ({}, 32),
    "resnet50_v1": ({}, 48),
    "alexnet": ({}, 67),
    "vgg11": ({}, 32),
    "vgg13_bn": ({}, 32),
    "densenet121": ({}, 224),
    "inceptionv3": ({}, 299),
    "mobilenet0.25": ({}, 64),
    "mobilenet0.75": ({}, 48),
    "mobilenetv2_0.5": ({}, 64),
    "squeezenet1.0": ({}, 224),
    "squeezenet1.1": ({}, 213),
}


def values(name, number, shape):
    """Reproducible values for the parameter of that number."""
    random = np.random.RandomState(number)
    if name.endswith(("gamma", "var")):
        return random.uniform(0.5, 1, shape)
    scale = np.sqrt(3 / float(np.prod(shape[1:])))  # of variance 1 / inputs
    return random.uniform(-scale, scale, shape)


def filled(mx, net):
    """Give every parameter its own reproducible values."""
    for number, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(mx.nd.array(values(parameter.name, number, parameter.shape)))
    return net


def images(height):
    """Two images of noise."""
    return np.random.RandomState(7).standard_normal((2, 3, height, height)).astype("float32")


def computed(mx, name, options, height):
    """The outputs of a network of ten classes for two small images."""
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10, **options)
    net.initialize(mx.init.Zero())
    batch = mx.nd.array(images(height))
    net(mx.nd.zeros(batch.shape))
    return filled(mx, net)(batch).asnumpy()


#: models whose operators' names are compared
NAMED = (
    "alexnet",
    "vgg11_bn",
    "resnet50_v1",
    "resnet18_v2",
    "inceptionv3",
    "densenet121",
    "mobilenet1.0",
    "mobilenetv2_1.0",
    "squeezenet1.0",
    "squeezenet1.1",
)


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
    yield from (f"densenet{layers}" for layers in (121, 161, 169, 201))
    yield from (f"mobilenet{v}{m}" for v in ("", "v2_") for m in ("1.0", "0.75", "0.5", "0.25"))
    yield from ("squeezenet1.0", "squeezenet1.1")


def main():
    """Run MXNet and write the file."""
    import mxnet as mx

    content = {
        "parameters": {name: _described(mx, name) for name in _names()},
        "internals": {name: internals(mx, name) for name in NAMED},
        "outputs": {
            name: computed(mx, name, options, height).tolist()
            for name, (options, height) in COMPUTED.items()
        },
    }
    packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 9, mtime=0)
    FILE.write_bytes(packed)
    print({name: np.abs(values).max() for name, values in content["outputs"].items()})


if __name__ == "__main__":
    main()
