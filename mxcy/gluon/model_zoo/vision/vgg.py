"""VGG, after Simonyan and Zisserman 2014."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained
from mxcy.initializer import Xavier

__all__ = ["VGG", "get_vgg", "vgg11", "vgg13", "vgg16", "vgg19"]
__all__ += ["vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn"]

FILTERS = [64, 128, 256, 512, 512]
#: number of layers -> convolutions per stage
vgg_spec = {
    11: ([1, 1, 2, 2, 2], FILTERS),
    13: ([2, 2, 2, 2, 2], FILTERS),
    16: ([2, 2, 3, 3, 3], FILTERS),
    19: ([2, 2, 4, 4, 4], FILTERS),
}


class VGG(HybridBlock):
    """VGG.

    Parameters
    ----------
    layers : list of int
        Number of convolutions in each stage.
    filters : list of int
        Number of filters in each stage.
    classes : int
        Number of outputs.
    batch_norm : bool
        Normalize after each convolution.
    """

    def __init__(self, layers, filters, classes=1000, batch_norm=False, **kwargs):
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise ValueError(f"VGG got {len(layers)} depths but {len(filters)} numbers of filters")
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(
                    nn.Dense(
                        4096,
                        activation="relu",
                        weight_initializer="normal",
                        bias_initializer="zeros",
                    ),
                    nn.Dropout(rate=0.5),
                )
            self.output = nn.Dense(classes, weight_initializer="normal", bias_initializer="zeros")

    def _make_features(self, layers, filters, batch_norm):
        features = nn.HybridSequential(prefix="")
        for depth, channels in zip(layers, filters, strict=True):
            for _ in range(depth):
                features.add(
                    nn.Conv2D(
                        channels,
                        kernel_size=3,
                        padding=1,
                        weight_initializer=Xavier(
                            rnd_type="gaussian", factor_type="out", magnitude=2
                        ),
                        bias_initializer="zeros",
                    )
                )
                if batch_norm:
                    features.add(nn.BatchNorm())
                features.add(nn.Activation("relu"))
            features.add(nn.MaxPool2D(strides=2))
        return features

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def get_vgg(
    num_layers,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make VGG.

    Parameters
    ----------
    num_layers : int
        11, 13, 16 or 19.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    VGG

    Raises
    ------
    KeyError
        If there is no network with that many layers.
    """
    layers, filters = vgg_spec[num_layers]
    net = VGG(layers, filters, **kwargs)
    if pretrained:
        ending = "_bn" if kwargs.get("batch_norm") else ""
        load_pretrained(net, f"vgg{num_layers}{ending}", device or ctx, root)
    return net


def _variant(num_layers, batch_norm):
    def make(**kwargs):
        if batch_norm:
            kwargs["batch_norm"] = True
        return get_vgg(num_layers, **kwargs)

    ending, addition = ("_bn", " with batch normalization") if batch_norm else ("", "")
    make.__name__ = make.__qualname__ = f"vgg{num_layers}{ending}"
    make.__doc__ = f"""Make VGG-{num_layers}{addition}.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    VGG
    """
    return make


vgg11, vgg13, vgg16, vgg19 = (_variant(layers, False) for layers in vgg_spec)
vgg11_bn, vgg13_bn, vgg16_bn, vgg19_bn = (_variant(layers, True) for layers in vgg_spec)
