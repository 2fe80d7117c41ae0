"""VGG with 11, 13, 16 or 19 layers, after Simonyan and Zisserman 2014."""

import mxcy as mx

FILTERS = (64, 128, 256, 512, 512)
CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2,) * 5, 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def _features(data, depths, batch_norm):
    for stage, (depth, filters) in enumerate(zip(depths, FILTERS, strict=True), 1):
        for layer in range(1, depth + 1):
            place = f"{stage}_{layer}"
            data = mx.sym.Convolution(
                data, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{place}"
            )
            if batch_norm:
                data = mx.sym.BatchNorm(data, name=f"bn{place}")
            data = mx.sym.Activation(data, act_type="relu", name=f"relu{place}")
        data = mx.sym.Pooling(
            data, pool_type="max", kernel=(2, 2), stride=(2, 2), name=f"pool{stage}"
        )
    return data


def _dense(data, number):
    data = mx.sym.FullyConnected(data, num_hidden=4096, name=f"fc{number}")
    data = mx.sym.Activation(data, act_type="relu", name=f"relu{number}")
    return mx.sym.Dropout(data, p=0.5, name=f"drop{number}")


def get_symbol(num_classes=1000, num_layers=11, batch_norm=False, **kwargs):
    """Build the network.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    num_layers : int
        11, 13, 16 or 19.
    batch_norm : bool
        Normalize after each convolution.
    **kwargs
        Arguments of other networks; ignored.

    Returns
    -------
    Symbol
        Symbol from "data" (N, 3, 224, 224) to class probabilities (N, num_classes).

    Raises
    ------
    ValueError
        If there is no network with that many layers.
    """
    if num_layers not in CONVOLUTIONS:
        raise ValueError(f"VGG has {sorted(CONVOLUTIONS)} layers, not {num_layers}")
    data = _features(mx.sym.Variable("data"), CONVOLUTIONS[num_layers], batch_norm)
    data = _dense(_dense(mx.sym.Flatten(data, name="flatten"), 6), 7)
    data = mx.sym.FullyConnected(data, num_hidden=num_classes, name="fc8")
    return mx.sym.SoftmaxOutput(data, name="softmax")
