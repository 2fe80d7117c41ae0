"""Inception-v3, after Szegedy et al. 2015."""

import mxcy as mx


def _unit(data, filters, kernel=(1, 1), stride=(1, 1), pad=(0, 0), name=""):
    """Convolution, batch normalization and ReLU."""
    data = mx.sym.Convolution(
        data,
        num_filter=filters,
        kernel=kernel,
        stride=stride,
        pad=pad,
        no_bias=True,
        name=f"{name}_conv2d",
    )
    data = mx.sym.BatchNorm(data, eps=0.001, fix_gamma=True, name=f"{name}_batchnorm")
    return mx.sym.Activation(data, act_type="relu", name=f"{name}_relu")


def _chain(data, name, *links):
    """A sequence of units, each (filters, kernel, stride, pad) or a prefix; named by position."""
    for place, link in enumerate(links):
        data = _unit(data, *link, name=name if place == 0 else f"{name}_{place}")
    return data


def _pooled(data, pool_type, name):
    return mx.sym.Pooling(
        data,
        kernel=(3, 3),
        stride=(1, 1),
        pad=(1, 1),
        pool_type=pool_type,
        name=f"{pool_type}_pool_{name}_pool",
    )


def _halved(data, name):
    return mx.sym.Pooling(data, kernel=(3, 3), stride=(2, 2), pool_type="max", name=name)


def _concat(name, *branches):
    return mx.sym.Concat(*branches, name=f"ch_concat_{name}_chconcat")


ALL, ONE, TWO = (3, 3), (1, 1), (2, 2)  # kernel 3x3; stride or pad 1; stride 2
WIDE, TALL = ((1, 7), ONE, (0, 3)), ((7, 1), ONE, (3, 0))  # kernel, stride, pad
SHORT_WIDE, SHORT_TALL = ((1, 3), ONE, (0, 1)), ((3, 1), ONE, (1, 0))


def _mixed_35(data, projected, name):
    """At 35x35: 1x1, 5x5, two 3x3, and a projection of the average."""
    return _concat(
        name,
        _chain(data, f"{name}_conv", (64,)),
        _chain(data, f"{name}_tower_conv", (48,), (64, (5, 5), ONE, (2, 2))),
        _chain(data, f"{name}_tower_1_conv", (64,), (96, ALL, ONE, ONE), (96, ALL, ONE, ONE)),
        _chain(_pooled(data, "avg", name), f"{name}_tower_2_conv", (projected,)),
    )


def _mixed_to_17(data, name):
    return _concat(
        name,
        _chain(data, f"{name}_conv", (384, ALL, TWO)),
        _chain(data, f"{name}_tower_conv", (64,), (96, ALL, ONE, ONE), (96, ALL, TWO)),
        _halved(data, f"max_pool_{name}_pool"),
    )


def _mixed_17(data, inner, name):
    """At 17x17: 1x1, 7x7 and two 7x7, factorized into rows and columns, and a projection."""
    return _concat(
        name,
        _chain(data, f"{name}_conv", (192,)),
        _chain(data, f"{name}_tower_conv", (inner,), (inner, *WIDE), (192, *TALL)),
        _chain(
            data,
            f"{name}_tower_1_conv",
            (inner,),
            (inner, *TALL),
            (inner, *WIDE),
            (inner, *TALL),
            (192, *WIDE),
        ),
        _chain(_pooled(data, "avg", name), f"{name}_tower_2_conv", (192,)),
    )


def _mixed_to_8(data, name):
    return _concat(
        name,
        _chain(data, f"{name}_tower_conv", (192,), (320, ALL, TWO)),
        _chain(data, f"{name}_tower_1_conv", (192,), (192, *WIDE), (192, *TALL), (192, ALL, TWO)),
        _halved(data, f"max_pool_{name}_pool"),
    )


def _mixed_8(data, pool_type, name):
    """At 8x8: branches that end in parallel 1x3 and 3x1 convolutions."""
    tower = _chain(data, f"{name}_tower_conv", (384,))
    double = _chain(data, f"{name}_tower_1_conv", (448,), (384, ALL, ONE, ONE))
    return _concat(
        name,
        _chain(data, f"{name}_conv", (320,)),
        _unit(tower, 384, *SHORT_WIDE, name=f"{name}_tower_mixed_conv"),
        _unit(tower, 384, *SHORT_TALL, name=f"{name}_tower_mixed_conv_1"),
        _unit(double, 384, *SHORT_WIDE, name=f"{name}_tower_1_mixed_conv"),
        _unit(double, 384, *SHORT_TALL, name=f"{name}_tower_1_mixed_conv_1"),
        _chain(_pooled(data, pool_type, name), f"{name}_tower_2_conv", (192,)),
    )


def get_symbol(num_classes=1000, **kwargs):
    """Build the network.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    **kwargs
        Arguments of other networks; ignored.

    Returns
    -------
    Symbol
        Symbol from "data" (N, 3, 299, 299) to class probabilities (N, num_classes).
    """
    data = mx.sym.Variable("data")
    data = _chain(data, "conv", (32, ALL, TWO), (32, ALL), (64, ALL, ONE, ONE))
    data = _halved(data, "pool")
    data = _unit(data, 80, name="conv_3")
    data = _halved(_unit(data, 192, ALL, name="conv_4"), "pool1")
    for name, projected in (("mixed", 32), ("mixed_1", 64), ("mixed_2", 64)):
        data = _mixed_35(data, projected, name)
    data = _mixed_to_17(data, "mixed_3")
    for name, inner in (("mixed_4", 128), ("mixed_5", 160), ("mixed_6", 160), ("mixed_7", 192)):
        data = _mixed_17(data, inner, name)
    data = _mixed_to_8(data, "mixed_8")
    data = _mixed_8(data, "avg", "mixed_9")
    data = _mixed_8(data, "max", "mixed_10")
    data = mx.sym.Pooling(data, kernel=(8, 8), stride=(1, 1), pool_type="avg", name="global_pool")
    data = mx.sym.Flatten(data, name="flatten")
    data = mx.sym.FullyConnected(data, num_hidden=num_classes, name="fc1")
    return mx.sym.SoftmaxOutput(data, name="softmax")
