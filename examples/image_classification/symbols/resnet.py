"""ResNet with normalization before convolution ("v2"), after He et al. 2016."""

import mxcy as mx

UNITS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
    200: (3, 24, 36, 3),
    269: (3, 30, 48, 8),
}


def _normalized(data, name, fix_gamma=False):
    return mx.sym.BatchNorm(data, fix_gamma=fix_gamma, eps=2e-5, momentum=0.9, name=name)


def _activated(data, name, number):
    data = _normalized(data, f"{name}_bn{number}")
    return mx.sym.Activation(data, act_type="relu", name=f"{name}_relu{number}")


def _convolution(data, filters, size, stride, name):
    pad = size // 2
    return mx.sym.Convolution(
        data,
        num_filter=filters,
        kernel=(size, size),
        stride=(stride, stride),
        pad=(pad, pad),
        no_bias=True,
        name=name,
    )


def _unit(data, filters, stride, dim_match, name, bottle_neck):
    """A residual unit; `dim_match`: whether input and output have the same shape."""
    first = _activated(data, name, 1)
    if bottle_neck:
        layers = ((filters // 4, 1, 1), (filters // 4, 3, stride), (filters, 1, 1))
    else:
        layers = ((filters, 3, stride), (filters, 3, 1))
    inner = first
    for number, layer in enumerate(layers, 1):
        if number > 1:
            inner = _activated(inner, name, number)
        inner = _convolution(inner, *layer, f"{name}_conv{number}")
    shortcut = data if dim_match else _convolution(first, filters, 1, stride, f"{name}_sc")
    return inner + shortcut


def _stem(data, filters, large):
    data = _normalized(data, "bn_data", fix_gamma=True)
    if not large:
        return _convolution(data, filters, 3, 1, "conv0")
    data = _normalized(_convolution(data, filters, 7, 2, "conv0"), "bn0")
    data = mx.sym.Activation(data, act_type="relu", name="relu0")
    return mx.sym.Pooling(
        data, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pool0"
    )


def _architecture(num_layers, height):
    """Units per stage, filters of stem and stages, and whether units are bottlenecks."""
    if height > 32:
        if num_layers not in UNITS:
            raise ValueError(f"ResNet has {sorted(UNITS)} layers, not {num_layers}")
        deep = num_layers >= 50
        filters = (64, 256, 512, 1024, 2048) if deep else (64, 64, 128, 256, 512)
        return UNITS[num_layers], filters, deep
    deep = num_layers >= 164
    depth, rest = divmod(num_layers - 2, 9 if deep else 6)
    if rest or depth < 1:
        raise ValueError(f"ResNet for images of {height} rows cannot have {num_layers} layers")
    return (depth,) * 3, (16, 64, 128, 256) if deep else (16, 16, 32, 64), deep


def get_symbol(num_classes=1000, num_layers=50, image_shape="3,224,224", **kwargs):
    """Build the network.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    num_layers : int
        18, 34, 50, 101, 152, 200 or 269; for images of at most 32 rows 6n + 2, or 9n + 2 from 164.
    image_shape : str or tuple of int
        Channels, height and width.
    **kwargs
        Arguments of other networks; ignored.

    Returns
    -------
    Symbol
        Symbol from "data" (N, channels, height, width) to class probabilities (N, num_classes).

    Raises
    ------
    ValueError
        If there is no network with that many layers.
    """
    if isinstance(image_shape, str):
        image_shape = tuple(int(length) for length in image_shape.split(","))
    height = image_shape[1]
    units, filters, bottle_neck = _architecture(num_layers, height)
    data = mx.sym.identity(mx.sym.Variable("data"), name="id")
    data = _stem(data, filters[0], height > 32)
    for stage, depth in enumerate(units):
        for unit in range(depth):
            halves = unit == 0 and stage > 0
            data = _unit(
                data,
                filters[stage + 1],
                2 if halves else 1,
                unit > 0,
                f"stage{stage + 1}_unit{unit + 1}",
                bottle_neck,
            )
    data = _normalized(data, "bn1")
    data = mx.sym.Activation(data, act_type="relu", name="relu1")
    data = mx.sym.Pooling(data, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    data = mx.sym.Flatten(data, name="flatten")
    data = mx.sym.FullyConnected(data, num_hidden=num_classes, name="fc1")
    return mx.sym.SoftmaxOutput(data, name="softmax")
