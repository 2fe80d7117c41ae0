"""MobileNet, version 1 (Howard et al. 2017) and 2 (Sandler et al. 2018)."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained

__all__ = ["MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2"]
__all__ += ["mobilenet1_0", "mobilenet0_75", "mobilenet0_5", "mobilenet0_25"]
__all__ += ["mobilenet_v2_1_0", "mobilenet_v2_0_75", "mobilenet_v2_0_5", "mobilenet_v2_0_25"]


class RELU6(HybridBlock):
    """``x`` clipped to 0 ... 6.

    Parameters
    ----------
    **kwargs
        See `Block`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def hybrid_forward(self, F, x):
        return F.clip(x, 0, 6, name="relu6")


def _add_conv(sequence, channels, kernel=1, stride=1, padding=0, groups=1, activation="relu"):
    """Add a convolution, normalization and an activation ("relu", "relu6" or None)."""
    sequence.add(
        nn.Conv2D(channels, kernel, stride, padding, groups=groups, use_bias=False),
        nn.BatchNorm(scale=True),
    )
    if activation is not None:
        sequence.add(RELU6() if activation == "relu6" else nn.Activation(activation))


class LinearBottleneck(HybridBlock):
    """Residual block of version 2: expansion, depthwise convolution, linear projection.

    Parameters
    ----------
    in_channels : int
        Number of input channels.
    channels : int
        Number of outputs.
    t : int
        Expansion factor: the depthwise convolution has ``t * in_channels`` channels.
    stride : int
        Stride of height and width.
    **kwargs
        See `Block`.
    """

    def __init__(self, in_channels, channels, t, stride, **kwargs):
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        inner = t * in_channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, inner, activation="relu6")
            _add_conv(self.out, inner, 3, stride, 1, groups=inner, activation="relu6")
            _add_conv(self.out, channels, activation=None)

    def hybrid_forward(self, F, x):
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


#: output channels and stride of each pair of convolutions of version 1
PAIRS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
PAIRS += [(512, 1)] * 5 + [(1024, 2), (1024, 1)]


class MobileNet(HybridBlock):
    """MobileNet, version 1.

    Parameters
    ----------
    multiplier : float
        Multiplier of all channel counts.
    classes : int
        Number of outputs.
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            inputs = int(32 * multiplier)
            _add_conv(self.features, inputs, 3, 2, 1)
            for channels, stride in PAIRS:
                _add_conv(self.features, inputs, 3, stride, 1, groups=inputs)
                inputs = int(channels * multiplier)
                _add_conv(self.features, inputs)
            self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


#: groups of bottlenecks of version 2: expansion, output channels, count, stride of the first
BOTTLENECKS = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


class MobileNetV2(HybridBlock):
    """MobileNet, version 2.

    Parameters
    ----------
    multiplier : float
        Multiplier of the channel counts; the last one is only enlarged, never reduced.
    classes : int
        Number of outputs.
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                inputs = int(32 * multiplier)
                _add_conv(self.features, inputs, 3, 2, 1, activation="relu6")
                for expansion, channels, depth, first_stride in BOTTLENECKS:
                    outputs = int(channels * multiplier)
                    for number in range(depth):
                        stride = first_stride if number == 0 else 1
                        self.features.add(LinearBottleneck(inputs, outputs, expansion, stride))
                        inputs = outputs
                last = int(1280 * multiplier) if multiplier > 1.0 else 1280
                _add_conv(self.features, last, activation="relu6")
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(
                    nn.Conv2D(classes, kernel_size=1, use_bias=False, prefix="pred_"), nn.Flatten()
                )

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def _suffix(multiplier):
    """Format a multiplier as in model names: 1.0, 0.75, 0.5."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(
    multiplier,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make a MobileNet of version 1.

    Parameters
    ----------
    multiplier : float
        See `MobileNet`; pretrained parameters exist for 1.0, 0.75, 0.5 and 0.25.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    MobileNet
    """
    net = MobileNet(multiplier, **kwargs)
    if pretrained:
        load_pretrained(net, f"mobilenet{_suffix(multiplier)}", device or ctx, root)
    return net


def get_mobilenet_v2(
    multiplier,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make a MobileNet of version 2.

    Parameters
    ----------
    multiplier : float
        See `MobileNetV2`; pretrained parameters exist for 1.0, 0.75, 0.5 and 0.25.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    MobileNetV2
    """
    net = MobileNetV2(multiplier, **kwargs)
    if pretrained:
        load_pretrained(net, f"mobilenetv2_{_suffix(multiplier)}", device or ctx, root)
    return net


def _variant(version, multiplier):
    factory, infix = (get_mobilenet, "") if version == 1 else (get_mobilenet_v2, "_v2_")

    def make(**kwargs):
        return factory(multiplier, **kwargs)

    make.__name__ = make.__qualname__ = f"mobilenet{infix}{multiplier}".replace(".", "_")
    make.__doc__ = f"""Make MobileNet, version {version}, with {multiplier} times the channels.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    MobileNet{"V2" if version == 2 else ""}
    """
    return make


MULTIPLIERS = (1.0, 0.75, 0.5, 0.25)
mobilenet1_0, mobilenet0_75, mobilenet0_5, mobilenet0_25 = (_variant(1, m) for m in MULTIPLIERS)
mobilenet_v2_1_0, mobilenet_v2_0_75, mobilenet_v2_0_5, mobilenet_v2_0_25 = (
    _variant(2, m) for m in MULTIPLIERS
)
