"""DenseNet (Huang et al. 2016), in which each layer receives all earlier outputs of its block."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]


def _normalized_conv(sequence, channels, kernel_size, padding=0):
    """Add normalization, ReLU and a convolution."""
    sequence.add(
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.Conv2D(channels, kernel_size=kernel_size, padding=padding, use_bias=False),
    )


def _make_dense_layer(growth_rate, bn_size, dropout):
    fresh = nn.HybridSequential(prefix="")
    _normalized_conv(fresh, bn_size * growth_rate, 1)
    _normalized_conv(fresh, growth_rate, 3, padding=1)
    if dropout:
        fresh.add(nn.Dropout(dropout))
    layer = nn.HybridConcatenate(axis=1, prefix="")
    layer.add(nn.Identity(), fresh)
    return layer


def _make_dense_block(num_layers, bn_size, growth_rate, dropout, number):
    block = nn.HybridSequential(prefix=f"stage{number}_")
    with block.name_scope():
        for _ in range(num_layers):
            block.add(_make_dense_layer(growth_rate, bn_size, dropout))
    return block


def _make_transition(channels):
    transition = nn.HybridSequential(prefix="")
    _normalized_conv(transition, channels, 1)
    transition.add(nn.AvgPool2D(pool_size=2, strides=2))
    return transition


class DenseNet(HybridBlock):
    """DenseNet, for images of 224 x 224.

    Parameters
    ----------
    num_init_features : int
        Number of filters of the first convolution.
    growth_rate : int
        Number of channels added by each layer.
    block_config : list of int
        Number of layers in each dense block.
    bn_size : int
        The layers' 1x1 convolutions have ``bn_size * growth_rate`` filters.
    dropout : float
        Rate of dropout after each layer.
    classes : int
        Number of outputs.
    """

    def __init__(
        self,
        num_init_features,
        growth_rate,
        block_config,
        bn_size=4,
        dropout=0,
        classes=1000,
        **kwargs,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1),
            )
            channels = num_init_features
            for number, layers in enumerate(block_config, 1):
                self.features.add(_make_dense_block(layers, bn_size, growth_rate, dropout, number))
                channels += layers * growth_rate
                if number < len(block_config):
                    channels //= 2
                    self.features.add(_make_transition(channels))
            self.features.add(
                nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(pool_size=7), nn.Flatten()
            )
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


#: number of layers -> channels of the first convolution, growth rate, layers per block
densenet_spec = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


def get_densenet(
    num_layers,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make a DenseNet.

    Parameters
    ----------
    num_layers : int
        121, 161, 169 or 201.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    DenseNet

    Raises
    ------
    KeyError
        If there is no network with that many layers.
    """
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    if pretrained:
        load_pretrained(net, f"densenet{num_layers}", device or ctx, root)
    return net


def _variant(num_layers):
    def make(**kwargs):
        return get_densenet(num_layers, **kwargs)

    make.__name__ = make.__qualname__ = f"densenet{num_layers}"
    make.__doc__ = f"""Make DenseNet-{num_layers}.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    DenseNet
    """
    return make


densenet121, densenet161, densenet169, densenet201 = (_variant(n) for n in densenet_spec)
