"""SqueezeNet, after Iandola et al. 2016, versions 1.0 and 1.1."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

POOL = "pool"
#: version -> filters and kernel of the first convolution, then squeezed channels or pooling
LAYERS = {
    "1.0": (96, 7, [POOL, 16, 16, 32, POOL, 32, 48, 48, 64, POOL, 64]),
    "1.1": (64, 3, [POOL, 16, 16, POOL, 32, 32, POOL, 48, 48, 64, 64]),
}


def _make_conv(channels, kernel_size, padding=0):
    conv = nn.HybridSequential(prefix="")
    conv.add(nn.Conv2D(channels, kernel_size, padding=padding), nn.Activation("relu"))
    return conv


def _make_fire(squeezed):
    """Squeeze the channels, then expand them fourfold by a 1x1 and a 3x3 convolution each."""
    fire = nn.HybridSequential(prefix="")
    fire.add(_make_conv(squeezed, 1))
    paths = nn.HybridConcatenate(axis=1, prefix="")
    paths.add(_make_conv(4 * squeezed, 1), _make_conv(4 * squeezed, 3, padding=1))
    fire.add(paths)
    return fire


class SqueezeNet(HybridBlock):
    """SqueezeNet, for images of 224 x 224.

    Parameters
    ----------
    version : {'1.0', '1.1'}
        Version 1.1 has the accuracy of 1.0 with less than half of the computation.
    classes : int
        Number of outputs.
    """

    def __init__(self, version, classes=1000, **kwargs):
        super().__init__(**kwargs)
        assert version in LAYERS, f"Unsupported SqueezeNet version {version}: 1.0 or 1.1 expected"
        filters, kernel_size, layers = LAYERS[version]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                nn.Conv2D(filters, kernel_size=kernel_size, strides=2), nn.Activation("relu")
            )
            for layer in layers:
                if layer == POOL:
                    layer = nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True)
                else:
                    layer = _make_fire(layer)
                self.features.add(layer)
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(
                nn.Conv2D(classes, kernel_size=1),
                nn.Activation("relu"),
                nn.AvgPool2D(13),
                nn.Flatten(),
            )

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def get_squeezenet(
    version,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make a SqueezeNet.

    Parameters
    ----------
    version : {'1.0', '1.1'}
        The version.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    SqueezeNet

    Raises
    ------
    AssertionError
        If there is no such version.
    """
    net = SqueezeNet(version, **kwargs)
    if pretrained:
        load_pretrained(net, f"squeezenet{version}", device or ctx, root)
    return net


def squeezenet1_0(**kwargs):
    """Make SqueezeNet 1.0.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    SqueezeNet
    """
    return get_squeezenet("1.0", **kwargs)


def squeezenet1_1(**kwargs):
    """Make SqueezeNet 1.1.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    SqueezeNet
    """
    return get_squeezenet("1.1", **kwargs)
