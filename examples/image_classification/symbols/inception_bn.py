"""Inception with batch normalization, after Ioffe and Szegedy 2015, for ImageNet-sized images."""

import mxcy as mx


def _unit(data, filters, kernel=(1, 1), stride=(1, 1), pad=(0, 0), name=""):
    """Convolution, batch normalization and ReLU."""
    data = mx.sym.Convolution(
        data, num_filter=filters, kernel=kernel, stride=stride, pad=pad, name=f"conv_{name}"
    )
    data = mx.sym.BatchNorm(
        data, fix_gamma=False, eps=1e-5 + 1e-10, momentum=0.9, name=f"bn_{name}"
    )
    return mx.sym.Activation(data, act_type="relu", name=f"relu_{name}")


def _three(data, reduced, filters, name, stride=(1, 1)):
    data = _unit(data, reduced, name=f"{name}_3x3_reduce")
    return _unit(data, filters, (3, 3), stride, (1, 1), f"{name}_3x3")


def _double(data, reduced, filters, name, stride=(1, 1)):
    """Two consecutive 3x3 convolutions instead of a 5x5 one."""
    data = _unit(data, reduced, name=f"{name}_double_3x3_reduce")
    data = _unit(data, filters, (3, 3), pad=(1, 1), name=f"{name}_double_3x3_0")
    return _unit(data, filters, (3, 3), stride, (1, 1), f"{name}_double_3x3_1")


def _pooled(data, pool_type, name, stride=(1, 1)):
    return mx.sym.Pooling(
        data,
        kernel=(3, 3),
        stride=stride,
        pad=(1, 1),
        pool_type=pool_type,
        name=f"{pool_type}_pool_{name}_pool",
    )


def _inception(data, one, three, double, pool_type, projected, name):
    """Four parallel branches of the same size; `three` and `double` are (reduced, filters)."""
    branches = (
        _unit(data, one, name=f"{name}_1x1"),
        _three(data, *three, name),
        _double(data, *double, name),
        _unit(_pooled(data, pool_type, name), projected, name=f"{name}_proj"),
    )
    return mx.sym.Concat(*branches, name=f"ch_concat_{name}_chconcat")


def _halving(data, three, double, name):
    """Three parallel branches that halve height and width."""
    branches = (
        _three(data, *three, name, (2, 2)),
        _double(data, *double, name, (2, 2)),
        _pooled(data, "max", name, (2, 2)),
    )
    return mx.sym.Concat(*branches, name=f"ch_concat_{name}_chconcat")


def _halved(data, name):
    return mx.sym.Pooling(data, kernel=(3, 3), stride=(2, 2), pool_type="max", name=name)


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
        Symbol from "data" (N, 3, 224, 224) to class probabilities (N, num_classes).
    """
    data = mx.sym.Variable("data")
    data = _halved(_unit(data, 64, (7, 7), (2, 2), (3, 3), "1"), "pool_1")
    data = _unit(data, 64, name="2_red")
    data = _halved(_unit(data, 192, (3, 3), pad=(1, 1), name="2"), "pool_2")
    data = _inception(data, 64, (64, 64), (64, 96), "avg", 32, "3a")
    data = _inception(data, 64, (64, 96), (64, 96), "avg", 64, "3b")
    data = _halving(data, (128, 160), (64, 96), "3c")
    data = _inception(data, 224, (64, 96), (96, 128), "avg", 128, "4a")
    data = _inception(data, 192, (96, 128), (96, 128), "avg", 128, "4b")
    data = _inception(data, 160, (128, 160), (128, 160), "avg", 128, "4c")
    data = _inception(data, 96, (128, 192), (160, 192), "avg", 128, "4d")
    data = _halving(data, (128, 192), (192, 256), "4e")
    data = _inception(data, 352, (192, 320), (160, 224), "avg", 128, "5a")
    data = _inception(data, 352, (192, 320), (192, 224), "max", 128, "5b")
    data = mx.sym.Pooling(data, kernel=(7, 7), stride=(1, 1), pool_type="avg", name="global_pool")
    data = mx.sym.Flatten(data, name="flatten")
    data = mx.sym.FullyConnected(data, num_hidden=num_classes, name="fc1")
    return mx.sym.SoftmaxOutput(data, name="softmax")
