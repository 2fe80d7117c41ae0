"""ResNet, version 1 (He et al. 2015) and 2 (2016, normalization before convolution)."""

from mxcy.context import cpu
from mxcy.gluon import nn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.model_zoo.model_store import load_pretrained

__all__ = ["ResNetV1", "ResNetV2", "get_resnet"]
__all__ += ["BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2"]
__all__ += [f"resnet{layers}_v{version}" for version in (1, 2) for layers in (18, 34, 50, 101, 152)]


def _conv3x3(channels, stride, in_channels):
    return nn.Conv2D(
        channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels
    )


def _conv1x1(channels, stride=1, in_channels=0):
    return nn.Conv2D(
        channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels
    )


class _ResidualV1(HybridBlock):
    """Base class of the residual blocks of version 1.

    Parameters
    ----------
    channels : int
        Number of outputs.
    stride : int
        Stride of height and width.
    downsample : bool
        Apply a 1x1 convolution to the shortcut, to match shapes.
    in_channels : int
        Number of input channels; 0 if unknown.
    """

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        self.body.add(*self._layers(channels, stride, in_channels))
        self.downsample = None
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(_conv1x1(channels, stride, in_channels), nn.BatchNorm())

    def _shortcut(self, x):
        return self.downsample(x) if self.downsample else x


class BasicBlockV1(_ResidualV1):
    """Two 3x3 convolutions with a shortcut, for 18 and 34 layers.

    Parameters
    ----------
    channels : int
        Number of outputs.
    stride : int
        Stride of height and width.
    downsample : bool
        Apply a 1x1 convolution to the shortcut, to match shapes.
    in_channels : int
        Number of input channels; 0 if unknown.
    """

    def _layers(self, channels, stride, in_channels):
        yield _conv3x3(channels, stride, in_channels)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield _conv3x3(channels, 1, channels)
        yield nn.BatchNorm()

    def hybrid_forward(self, F, x):
        return F.Activation(self._shortcut(x) + self.body(x), act_type="relu")


class BottleneckV1(_ResidualV1):
    """1x1, 3x3 and 1x1 convolutions with a shortcut, for 50 and more layers.

    Parameters
    ----------
    channels : int
        Number of outputs.
    stride : int
        Stride of height and width.
    downsample : bool
        Apply a 1x1 convolution to the shortcut, to match shapes.
    in_channels : int
        Number of input channels; 0 if unknown.
    """

    def _layers(self, channels, stride, in_channels):
        # The biases of the 1x1 convolutions are useless before normalization, but MXNet has them.
        yield nn.Conv2D(channels // 4, kernel_size=1, strides=stride)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield _conv3x3(channels // 4, 1, channels // 4)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield nn.Conv2D(channels, kernel_size=1, strides=1)
        yield nn.BatchNorm()

    def hybrid_forward(self, F, x):
        return F.Activation(self.body(x) + self._shortcut(x), act_type="relu")


class _ResidualV2(HybridBlock):
    """Base class of the residual blocks of version 2, which normalize before convolving."""

    def hybrid_forward(self, F, x):
        shortcut = x
        for norm, convolution in self._pairs():
            x = F.Activation(norm(x), act_type="relu")
            if norm is self.bn1 and self.downsample:
                shortcut = self.downsample(x)
            x = convolution(x)
        return x + shortcut


class BasicBlockV2(_ResidualV2):
    """Two 3x3 convolutions, each after normalization and ReLU, with a shortcut.

    Parameters
    ----------
    channels : int
        Number of outputs.
    stride : int
        Stride of height and width.
    downsample : bool
        Apply a 1x1 convolution to the shortcut, to match shapes.
    in_channels : int
        Number of input channels; 0 if unknown.
    """

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def _pairs(self):
        return (self.bn1, self.conv1), (self.bn2, self.conv2)


class BottleneckV2(_ResidualV2):
    """1x1, 3x3 and 1x1 convolutions, each after normalization and ReLU, with a shortcut.

    Parameters
    ----------
    channels : int
        Number of outputs.
    stride : int
        Stride of height and width.
    downsample : bool
        Apply a 1x1 convolution to the shortcut, to match shapes.
    in_channels : int
        Number of input channels; 0 if unknown.
    """

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv1x1(channels // 4)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = nn.BatchNorm()
        self.conv3 = _conv1x1(channels)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def _pairs(self):
        return (self.bn1, self.conv1), (self.bn2, self.conv2), (self.bn3, self.conv3)


class _ResNet(HybridBlock):
    """Base class of both versions: stem, stages of residual blocks, dense layer.

    Parameters
    ----------
    block : type
        Class of the residual blocks.
    layers : list of int
        Number of blocks in each stage.
    channels : list of int
        Number of output channels of the stem and of each stage.
    classes : int
        Number of outputs.
    thumbnail : bool
        Use a stem for small images: one 3x3 convolution without downsampling.
    """

    _normalizes_first = False

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        if len(channels) != len(layers) + 1:
            raise ValueError(
                f"{len(layers)} stages need {len(layers) + 1} channel counts, got {len(channels)}"
            )
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            if self._normalizes_first:
                self.features.add(nn.BatchNorm(scale=False, center=False))
            if thumbnail:
                self.features.add(_conv3x3(channels[0], 1, 0))
            else:
                self.features.add(
                    nn.Conv2D(channels[0], 7, 2, 3, use_bias=False),
                    nn.BatchNorm(),
                    nn.Activation("relu"),
                    nn.MaxPool2D(3, 2, 1),
                )
            inputs = channels[0]
            for number, (depth, outputs) in enumerate(zip(layers, channels[1:], strict=True), 1):
                stride = 1 if number == 1 else 2
                self.features.add(self._stage(block, depth, outputs, stride, number, inputs))
                inputs = outputs
            self._add_head(classes, inputs)

    @staticmethod
    def _stage(block, depth, channels, stride, number, in_channels):
        stage = nn.HybridSequential(prefix=f"stage{number}_")
        with stage.name_scope():
            stage.add(
                block(channels, stride, channels != in_channels, in_channels=in_channels, prefix="")
            )
            for _ in range(depth - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return stage

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


class ResNetV1(_ResNet):
    """ResNet, version 1.

    Parameters
    ----------
    block : type
        `BasicBlockV1` or `BottleneckV1`.
    layers : list of int
        Number of blocks in each stage.
    channels : list of int
        Number of output channels of the stem and of each stage: one more than `layers`.
    classes : int
        Number of outputs.
    thumbnail : bool
        Use a stem for small images: one 3x3 convolution without downsampling.
    """

    def _add_head(self, classes, inputs):
        self.features.add(nn.GlobalAvgPool2D())
        self.output = nn.Dense(classes, in_units=inputs)


class ResNetV2(_ResNet):
    """ResNet, version 2.

    Parameters
    ----------
    block : type
        `BasicBlockV2` or `BottleneckV2`.
    layers : list of int
        Number of blocks in each stage.
    channels : list of int
        Number of output channels of the stem and of each stage: one more than `layers`.
    classes : int
        Number of outputs.
    thumbnail : bool
        Use a stem for small images: one 3x3 convolution without downsampling.
    """

    _normalizes_first = True

    def _add_head(self, classes, inputs):
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes, in_units=inputs)


_SMALL, _DEEP = [64, 64, 128, 256, 512], [64, 256, 512, 1024, 2048]
#: number of layers -> block type, blocks per stage, channels
resnet_spec = {
    18: ("basic_block", [2, 2, 2, 2], _SMALL),
    34: ("basic_block", [3, 4, 6, 3], _SMALL),
    50: ("bottle_neck", [3, 4, 6, 3], _DEEP),
    101: ("bottle_neck", [3, 4, 23, 3], _DEEP),
    152: ("bottle_neck", [3, 8, 36, 3], _DEEP),
}
resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version,
    num_layers,
    pretrained=False,
    ctx=cpu(),  # noqa: B008
    root=None,
    *,
    device=None,
    **kwargs,
):
    """Make a ResNet.

    Parameters
    ----------
    version : int
        1 or 2.
    num_layers : int
        18, 34, 50, 101 or 152.
    pretrained, ctx, root, device, **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    ResNetV1 or ResNetV2

    Raises
    ------
    AssertionError
        If there is no such version or number of layers.
    """
    assert num_layers in resnet_spec, (
        f"Invalid number of layers: {num_layers}. Options are {list(resnet_spec)}"
    )
    assert version in (1, 2), f"Invalid resnet version: {version}. Options are 1 and 2."
    kind, layers, channels = resnet_spec[num_layers]
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    if pretrained:
        load_pretrained(net, f"resnet{num_layers}_v{version}", device or ctx, root)
    return net


def _variant(version, num_layers):
    def make(**kwargs):
        return get_resnet(version, num_layers, **kwargs)

    make.__name__ = make.__qualname__ = f"resnet{num_layers}_v{version}"
    make.__doc__ = f"""Make ResNet-{num_layers}, version {version}.

    Parameters
    ----------
    **kwargs
        See `mxcy.gluon.model_zoo.vision.get_model`.

    Returns
    -------
    ResNetV{version}
    """
    return make


resnet18_v1, resnet34_v1, resnet50_v1, resnet101_v1, resnet152_v1 = (
    _variant(1, layers) for layers in resnet_spec
)
resnet18_v2, resnet34_v2, resnet50_v2, resnet101_v2, resnet152_v2 = (
    _variant(2, layers) for layers in resnet_spec
)
