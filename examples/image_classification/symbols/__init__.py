"""Image classification networks as symbols; each module has ``get_symbol(num_classes, ...)``.

`get_network` creates any of them, and models of Gluon's zoo, by the names used in benchmarks.
"""

import mxcy as mx

from . import alexnet, inception_bn, inception_v3, mobilenet_v2, resnet, vgg

__all__ = ["NETWORKS", "get_network", "image_shape"]

#: name -> module and arguments of its get_symbol
NETWORKS = {
    "alexnet": (alexnet, {}),
    "vgg-16": (vgg, {"num_layers": 16}),
    "inception-bn": (inception_bn, {}),
    "inception-v3": (inception_v3, {}),
    "resnet-50": (resnet, {"num_layers": 50}),
    "resnet-152": (resnet, {"num_layers": 152}),
    "mobilenet-v2": (mobilenet_v2, {}),
}


def image_shape(name):
    """Return channels, height and width of a network's images.

    Parameters
    ----------
    name : str
        See `get_network`.

    Returns
    -------
    tuple of int
    """
    return (3, 299, 299) if name.startswith("inception") and "v3" in name else (3, 224, 224)


def get_network(name, num_classes=1000):
    """Create a network by name.

    Parameters
    ----------
    name : str
        One of `NETWORKS`, or a model of Gluon's zoo such as "resnet50_v1".
    num_classes : int
        Number of outputs.

    Returns
    -------
    Symbol
        Symbol from "data" to class probabilities.

    Raises
    ------
    ValueError
        If there is no such network.
    """
    if name in NETWORKS:
        module, arguments = NETWORKS[name]
        return module.get_symbol(num_classes, **arguments)
    net = mx.gluon.model_zoo.vision.get_model(name, classes=num_classes, prefix="")
    return mx.sym.SoftmaxOutput(net(mx.sym.Variable("data")), name="softmax")
