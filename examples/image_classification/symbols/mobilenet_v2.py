"""MobileNetV2, after Sandler et al. 2018."""

import mxcy as mx

#: expansion factor, channels, units, stride of the first unit
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _layer(data, filters, size, stride, name, groups=1, bounded=True):
    """Convolution, normalization and, if `bounded`, ReLU6."""
    data = mx.sym.Convolution(
        data,
        num_filter=filters,
        kernel=(size, size),
        stride=(stride, stride),
        pad=(size // 2, size // 2),
        num_group=groups,
        no_bias=True,
        name=name,
    )
    data = mx.sym.BatchNorm(data, fix_gamma=False, eps=1e-5, momentum=0.9, name=f"{name}_bn")
    return mx.sym.clip(data, a_min=0, a_max=6, name=f"{name}_relu6") if bounded else data


def _unit(data, before, filters, factor, stride, name):
    """Expansion, depthwise convolution, projection; with a shortcut if the shape is preserved."""
    inner, wide = data, before * factor
    if factor != 1:
        inner = _layer(inner, wide, 1, 1, f"{name}_widen")
    inner = _layer(inner, wide, 3, stride, f"{name}_depthwise", groups=wide)
    inner = _layer(inner, filters, 1, 1, f"{name}_narrow", bounded=False)
    return inner + data if stride == 1 and before == filters else inner


def get_symbol(num_classes):
    """Build MobileNetV2 of width 1, from "data" to class probabilities.

    Parameters
    ----------
    num_classes : int

    Returns
    -------
    Symbol
    """
    data, filters = _layer(mx.sym.Variable("data"), 32, 3, 2, "conv0"), 32
    for stage, (factor, wanted, units, stride) in enumerate(STAGES, 1):
        for unit in range(1, units + 1):
            step = stride if unit == 1 else 1
            data = _unit(data, filters, wanted, factor, step, f"stage{stage}_unit{unit}")
            filters = wanted
    data = _layer(data, 1280, 1, 1, "conv1")
    data = mx.sym.Pooling(data, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool")
    data = mx.sym.FullyConnected(mx.sym.Flatten(data), num_hidden=num_classes, name="fc")
    return mx.sym.SoftmaxOutput(data, name="softmax")
