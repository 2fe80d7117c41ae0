"""Inception v3, after Szegedy et al. 2015."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained

__all__ = ["Inception3", "inception_v3"]

# Shapes of convolutions: kernel, stride, padding.
ONE = (1, 1, 0)
THREE, THREE_HALVING = (3, 1, 1), (3, 2, 0)
FIVE = (5, 1, 2)
ROW_7, COLUMN_7 = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
ROW_3, COLUMN_3 = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0))


def _unit(channels, shape):
    """Convolution, batch normalization, ReLU."""
    kernel, stride, padding = shape
    unit = nn.HybridSequential(prefix="")
    unit.add(
        nn.Conv2D(channels, kernel, stride, padding, use_bias=False),
        nn.BatchNorm(epsilon=0.001),
        nn.Activation("relu"),
    )
    return unit


def _branch(*units, pool=None):
    """A sequence of units (channels, shape), after optional pooling ("avg", or halving "max")."""
    branch = nn.HybridSequential(prefix="")
    if pool == "avg":
        branch.add(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif pool == "max":
        branch.add(nn.MaxPool2D(pool_size=3, strides=2))
    for channels, shape in units:
        branch.add(_unit(channels, shape))
    return branch


def _side_by_side(prefix, *branches):
    """Concatenate branches over a common input; `branches` creates them, inside the name scope."""
    block = nn.HybridConcatenate(axis=1, prefix=prefix)
    with block.name_scope():
        for make in branches:
            block.add(make())
    return block


def _plain(*units, pool=None):
    return lambda: _branch(*units, pool=pool)


def _forked(*units):
    """A branch that ends in parallel 1x3 and 3x1 convolutions."""

    def make():
        branch = nn.HybridSequential(prefix="")
        branch.add(_branch(*units))
        branch.add(_side_by_side("", _plain((384, ROW_3)), _plain((384, COLUMN_3))))
        return branch

    return make


def _make_A(pool_features, prefix):
    return _side_by_side(
        prefix,
        _plain((64, ONE)),
        _plain((48, ONE), (64, FIVE)),
        _plain((64, ONE), (96, THREE), (96, THREE)),
        _plain((pool_features, ONE), pool="avg"),
    )


def _make_B(prefix):
    return _side_by_side(
        prefix,
        _plain((384, THREE_HALVING)),
        _plain((64, ONE), (96, THREE), (96, THREE_HALVING)),
        _plain(pool="max"),
    )


def _make_C(channels, prefix):
    double = [(channels, shape) for shape in (ONE, COLUMN_7, ROW_7, COLUMN_7)]
    return _side_by_side(
        prefix,
        _plain((192, ONE)),
        _plain((channels, ONE), (channels, ROW_7), (192, COLUMN_7)),
        _plain(*double, (192, ROW_7)),
        _plain((192, ONE), pool="avg"),
    )


def _make_D(prefix):
    return _side_by_side(
        prefix,
        _plain((192, ONE), (320, THREE_HALVING)),
        _plain((192, ONE), (192, ROW_7), (192, COLUMN_7), (192, THREE_HALVING)),
        _plain(pool="max"),
    )


def _make_E(prefix):
    return _side_by_side(
        prefix,
        _plain((320, ONE)),
        _forked((384, ONE)),
        _forked((448, ONE), (384, THREE)),
        _plain((192, ONE), pool="avg"),
    )


def make_aux(classes):
    """Create the auxiliary classifier for the 17 x 17 features, which helps training.

    Parameters
    ----------
    classes : int
        Number of outputs.

    Returns
    -------
    HybridSequential
    """
    block = nn.HybridSequential(prefix="")
    block.add(
        nn.AvgPool2D(pool_size=5, strides=3),
        _unit(128, ONE),
        _unit(768, (5, 1, 0)),
        nn.Flatten(),
        nn.Dense(classes),
    )
    return block


class Inception3(HybridBlock):
    """Inception v3, for images of 299 x 299.

    Parameters
    ----------
    classes : int
        Number of outputs.
    """

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                _unit(32, THREE_HALVING),
                _unit(32, (3, 1, 0)),
                _unit(64, THREE),
                nn.MaxPool2D(pool_size=3, strides=2),
                _unit(80, ONE),
                _unit(192, (3, 1, 0)),
                nn.MaxPool2D(pool_size=3, strides=2),
                _make_A(32, "A1_"),
                _make_A(64, "A2_"),
                _make_A(64, "A3_"),
                _make_B("B_"),
                _make_C(128, "C1_"),
                _make_C(160, "C2_"),
                _make_C(160, "C3_"),
                _make_C(192, "C4_"),
                _make_D("D_"),
                _make_E("E1_"),
                _make_E("E2_"),
                nn.AvgPool2D(pool_size=8),
                nn.Dropout(0.5),
            )
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def inception_v3(pretrained=False, ctx=cpu(), root=None, *, device=None, **kwargs):  # noqa: B008
    """Make Inception v3.

    Parameters
    ----------
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    Inception3
    """
    net = Inception3(**kwargs)
    if pretrained:
        load_pretrained(net, "inceptionv3", device or ctx, root)
    return net
