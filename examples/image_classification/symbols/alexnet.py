"""AlexNet with local response normalization, after Krizhevsky et al. 2012, on one device."""

import mxcy as mx


def _convolution(data, number, filters, kernel, **geometry):
    data = mx.sym.Convolution(
        data, num_filter=filters, kernel=kernel, name=f"conv{number}", **geometry
    )
    return mx.sym.Activation(data, act_type="relu", name=f"relu{number}")


def _normalized_and_pooled(data, number):
    data = mx.sym.LRN(data, alpha=0.0001, beta=0.75, knorm=2, nsize=5, name=f"norm{number}")
    return _pooled(data, number)


def _pooled(data, number):
    return mx.sym.Pooling(data, pool_type="max", kernel=(3, 3), stride=(2, 2), name=f"pool{number}")


def _dense(data, number, hidden=4096):
    data = mx.sym.FullyConnected(data, num_hidden=hidden, name=f"fc{number}")
    data = mx.sym.Activation(data, act_type="relu", name=f"relu{number + 5}")
    return mx.sym.Dropout(data, p=0.5, name=f"drop{number}")


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
    data = _normalized_and_pooled(_convolution(data, 1, 96, (11, 11), stride=(4, 4)), 1)
    data = _normalized_and_pooled(_convolution(data, 2, 256, (5, 5), pad=(2, 2)), 2)
    data = _convolution(data, 3, 384, (3, 3), pad=(1, 1))
    data = _convolution(data, 4, 384, (3, 3), pad=(1, 1))
    data = _pooled(_convolution(data, 5, 256, (3, 3), pad=(1, 1)), 3)
    data = _dense(_dense(mx.sym.Flatten(data, name="flatten"), 1), 2)
    data = mx.sym.FullyConnected(data, num_hidden=num_classes, name="fc3")
    return mx.sym.SoftmaxOutput(data, name="softmax")
