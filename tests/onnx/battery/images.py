"""Image networks, written as in user programs."""

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import contrib, nn

__all__ = ["CASES"]


def conv(channels, kernel=3, stride=1, act="relu", groups=1, dilation=1):
    """Convolution, normalisation, activation."""
    block = nn.HybridSequential()
    padding = (kernel - 1) // 2 * dilation
    block.add(
        nn.Conv2D(
            channels, kernel, stride, padding, dilation=dilation, groups=groups, use_bias=False
        ),
        nn.BatchNorm(),
    )
    if act:
        block.add(nn.Swish() if act == "swish" else nn.Activation(act))
    return block


class Squeeze(gluon.HybridBlock):
    """Channels weighted by their means."""

    def __init__(self, channels, inner):
        super().__init__()
        self.down = nn.Conv2D(inner, 1, activation="relu")
        self.up = nn.Conv2D(channels, 1)

    def hybrid_forward(self, F, x):
        mean = F.contrib.AdaptiveAvgPooling2D(x, output_size=1)
        return F.broadcast_mul(x, F.sigmoid(self.up(self.down(mean))))


class Inverted(gluon.HybridBlock):
    """EfficientNet's block."""

    def __init__(self, before, channels, stride, wide=4):
        super().__init__()
        inner = before * wide
        self.body = nn.HybridSequential()
        self.body.add(
            conv(inner, 1, act="swish"),
            conv(inner, 5, stride, "swish", inner),
            Squeeze(inner, before // 2),
            conv(channels, 1, act=None),
        )
        self.same = stride == 1 and before == channels

    def hybrid_forward(self, F, x):
        y = self.body(x)
        return x + y if self.same else y


def efficientnet():
    net = nn.HybridSequential()
    net.add(conv(8, 3, 2, "swish"), Inverted(8, 12, 2), Inverted(12, 12, 1), Inverted(12, 16, 2))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dropout(0.2), nn.Dense(10))
    return net


class UNet(gluon.HybridBlock):
    """Downsampling, and upsampling with skip connections."""

    def __init__(self, widths=(8, 12, 16)):
        super().__init__()
        self.down, self.up, self.join = (nn.HybridSequential() for _ in range(3))
        for width in widths:
            self.down.add(conv(width))
        for width in widths[-2::-1]:
            self.up.add(nn.Conv2DTranspose(width, 2, strides=2))
            self.join.add(conv(width))
        self.last = nn.Conv2D(2, 1)

    def hybrid_forward(self, F, x):
        seen = []
        for level in self.down:
            x = level(x if not seen else F.Pooling(x, kernel=(2, 2), stride=(2, 2)))
            seen.append(x)
        for up, join, beside in zip(self.up, self.join, seen[-2::-1], strict=True):
            x = join(F.concat(up(x), beside, dim=1))
        return F.softmax(self.last(x), axis=1)


class Patches(gluon.HybridBlock):
    """A vision transformer with a class token and learned positions."""

    def __init__(self, units=16, heads=4, places=17):
        super().__init__()
        self.heads = heads
        self.cut = nn.Conv2D(units, 4, strides=4)
        self.first = self.params.get("first", shape=(1, 1, units))
        self.places = self.params.get("places", shape=(1, places, units))
        self.before, self.after = nn.LayerNorm(), nn.LayerNorm()
        self.project = nn.Dense(3 * units, flatten=False)
        self.back = nn.Dense(units, flatten=False)
        self.wide, self.narrow = nn.Dense(4 * units, flatten=False), nn.Dense(units, flatten=False)
        self.out = nn.Dense(10)

    def hybrid_forward(self, F, x, first, places):
        x = F.transpose(F.reshape(self.cut(x), (0, 0, -1)), axes=(0, 2, 1))
        start = F.broadcast_like(first, F.slice_axis(x, axis=1, begin=0, end=1), lhs_axes=0,
                                 rhs_axes=0)  # fmt: skip
        x = F.broadcast_add(F.concat(start, x, dim=1), places)
        parts = F.reshape(self.project(self.before(x)), (0, 0, 3, self.heads, -1))
        q, k, v = F.split(F.transpose(parts, axes=(2, 0, 3, 1, 4)), 3, axis=0, squeeze_axis=True)
        q, k, v = (F.reshape(part, (-3, 0, 0)) for part in (q, k, v))
        weights = F.softmax(F.batch_dot(q, k, transpose_b=True) / 2.0)
        mixed = F.reshape(F.batch_dot(weights, v), (-4, -1, self.heads, 0, 0))
        x = x + self.back(F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), (0, 0, -3)))
        x = x + self.narrow(F.LeakyReLU(self.wide(self.after(x)), act_type="gelu"))
        return self.out(F.slice_axis(x, axis=1, begin=0, end=1))


def generator():
    """DCGAN's."""
    net = nn.HybridSequential()
    net.add(nn.Conv2DTranspose(32, 4, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for width in (16, 8):
        net.add(nn.Conv2DTranspose(width, 4, 2, 1, use_bias=False), nn.BatchNorm())
        net.add(nn.Activation("relu"))
    net.add(nn.Conv2DTranspose(3, 4, 2, 1, use_bias=False), nn.Activation("tanh"))
    return net


def discriminator():
    """DCGAN's."""
    net = nn.HybridSequential()
    for width in (8, 16, 32):
        net.add(nn.Conv2D(width, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2))
    net.add(nn.Conv2D(1, 4), nn.Flatten())
    return net


class Autoencoder(gluon.HybridBlock):
    """A convolutional autoencoder with a small code."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.HybridSequential(), nn.HybridSequential()
        self.down.add(nn.Conv2D(8, 3, 2, 1), nn.PReLU(), nn.Conv2D(16, 3, 2, 1), nn.ELU())
        self.down.add(nn.Dense(6))
        self.up.add(nn.Dense(16 * 16, activation="relu"))
        self.up.add(nn.HybridLambda(lambda F, x: F.reshape(x, (-1, 16, 4, 4))))
        self.up.add(nn.Conv2DTranspose(8, 3, 2, 1, 1), nn.SELU())
        self.up.add(nn.Conv2DTranspose(3, 3, 2, 1, 1, activation="sigmoid"))

    def hybrid_forward(self, F, x):
        code = self.down(x)
        return self.up(code), code


class Attended(gluon.HybridBlock):
    """A residual block with channel and spatial attention (CBAM), grouped as in ResNeXt."""

    def __init__(self, channels=16):
        super().__init__()
        self.first, self.second = conv(channels, groups=4), conv(channels, act=None)
        self.dense = nn.HybridSequential()
        self.dense.add(nn.Dense(4, activation="relu"), nn.Dense(channels))
        self.place = nn.Conv2D(1, 7, padding=3, activation="sigmoid")

    def hybrid_forward(self, F, x):
        y = self.second(self.first(x))
        most, mean = F.max(y, axis=(2, 3)), F.mean(y, axis=(2, 3))
        weights = F.sigmoid(self.dense(most) + self.dense(mean))
        y = F.broadcast_mul(y, F.reshape(weights, (0, 0, 1, 1)))
        most, mean = F.max(y, axis=1, keepdims=True), F.mean(y, axis=1, keepdims=True)
        return F.relu(F.broadcast_mul(y, self.place(F.concat(most, mean, dim=1))) + x)


def attended():
    net = nn.HybridSequential()
    net.add(conv(16, 3, 2), Attended(), Squeeze(16, 4), Attended(), nn.GlobalMaxPool2D())
    net.add(nn.Dense(5))
    return net


class Capsules(gluon.HybridBlock):
    """Capsules with routing by agreement."""

    def __init__(self, kinds=4, size=6, rounds=3):
        super().__init__()
        self.kinds, self.size, self.rounds = kinds, size, rounds
        self.features = nn.HybridSequential()
        self.features.add(nn.Conv2D(16, 5, activation="relu"), nn.Conv2D(16, 5, strides=2))
        self.weight = self.params.get("weight", shape=(1, 100, kinds, size, 4))

    def squash(self, F, x, axis):
        square = F.sum(F.square(x), axis=axis, keepdims=True)
        return F.broadcast_mul(x, F.sqrt(square + 1e-7) / (1 + square))

    def hybrid_forward(self, F, x, weight):
        x = F.reshape(F.transpose(self.features(x), axes=(0, 2, 3, 1)), (0, -1, 4))
        x = self.squash(F, x, -1)
        x = F.reshape(x, (0, 0, 1, 1, 4))
        votes = F.sum(F.broadcast_mul(x, weight), axis=-1)
        logits = F.zeros_like(F.slice_axis(votes, axis=-1, begin=0, end=1))
        for number in range(self.rounds):
            shares = F.softmax(logits, axis=2)
            actual = self.squash(
                F, F.sum(F.broadcast_mul(shares, votes), axis=1, keepdims=True), -1
            )
            if number + 1 < self.rounds:
                logits = logits + F.sum(F.broadcast_mul(votes, actual), axis=-1, keepdims=True)
        return F.norm(F.reshape(actual, (0, -3, 0)), axis=-1)


class Siamese(gluon.HybridBlock):
    """The distance of two images embedded by one network."""

    def __init__(self):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(conv(8, 3, 2), conv(16, 3, 2), nn.GlobalAvgPool2D(), nn.Dense(12))

    def hybrid_forward(self, F, left, right):
        left, right = (F.L2Normalization(self.body(x)) for x in (left, right))
        return F.sqrt(F.sum(F.square(left - right), axis=1) + 1e-6), F.sum(left * right, axis=1)


class Pyramid(gluon.HybridBlock):
    """DeepLab's pyramid: several dilations and a global mean, upsampled."""

    def __init__(self):
        super().__init__()
        self.stem = conv(12, 3, 2)
        self.branches = nn.HybridSequential()
        self.branches.add(conv(8, 1), conv(8, dilation=2), conv(8, dilation=4))
        self.mean, self.join, self.last = nn.Conv2D(8, 1), conv(8, 1), nn.Conv2D(4, 1)

    def hybrid_forward(self, F, x):
        y = self.stem(x)
        parts = [branch(y) for branch in self.branches]
        mean = self.mean(F.contrib.AdaptiveAvgPooling2D(y, output_size=1))
        parts.append(F.broadcast_like(mean, parts[0], lhs_axes=(2, 3), rhs_axes=(2, 3)))
        y = self.last(self.join(F.concat(*parts, dim=1)))
        return F.contrib.BilinearResize2D(y, x, mode="like")


class Shuffled(gluon.HybridBlock):
    """ShuffleNet's unit: groups exchange their channels."""

    def __init__(self, channels=12, groups=3):
        super().__init__()
        self.groups = groups
        self.first, self.deep = (
            conv(channels, 1, groups=groups),
            conv(channels, 3, 1, None, channels),
        )
        self.last = conv(channels, 1, act=None, groups=groups)

    def hybrid_forward(self, F, x):
        y = F.reshape(self.first(x), (0, -4, self.groups, -1, -2))
        y = F.reshape(F.swapaxes(y, 1, 2), (0, -3, -2))
        return F.relu(self.last(self.deep(y)) + x)


def shufflenet():
    net = nn.HybridSequential()
    net.add(conv(12, 3, 2), nn.MaxPool2D(3, 2, 1), Shuffled(), Shuffled(), nn.GlobalAvgPool2D())
    net.add(nn.Dense(5))
    return net


def superresolution():
    """Sub-pixel convolutions."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 5, padding=2, activation="relu"), nn.Conv2D(12, 3, padding=1))
    net.add(contrib.nn.PixelShuffle2D(2), nn.Activation("tanh"))
    return net


def style():
    """Style transfer: reflection padding, instance normalisation."""
    net = nn.HybridSequential()
    net.add(nn.ReflectionPad2D(4), nn.Conv2D(8, 9), nn.InstanceNorm(), nn.Activation("relu"))
    net.add(nn.Conv2D(12, 3, 2, 1), nn.InstanceNorm(), nn.GELU())
    net.add(nn.HybridLambda(lambda F, x: F.UpSampling(x, scale=2, sample_type="nearest")))
    net.add(nn.Conv2D(3, 3, padding=1), nn.Activation("softsign"))
    return net


class Later(gluon.HybridBlock):
    """ConvNeXt's block: channels-last layer normalisation."""

    def __init__(self, width=12):
        super().__init__()
        self.deep = nn.Conv2D(width, 7, padding=3, groups=width)
        self.norm, self.wide = nn.LayerNorm(), nn.Dense(4 * width, flatten=False)
        self.narrow = nn.Dense(width, flatten=False)
        self.scale = self.params.get("scale", shape=(width,), init=mx.init.Constant(0.1))

    def hybrid_forward(self, F, x, scale):
        y = self.norm(F.transpose(self.deep(x), axes=(0, 2, 3, 1)))
        y = self.narrow(F.LeakyReLU(self.wide(y), act_type="gelu"))
        return x + F.transpose(F.broadcast_mul(y, scale), axes=(0, 3, 1, 2))


def convnext():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(12, 4, strides=4), Later(), Later(), nn.GlobalAvgPool2D())
    net.add(nn.HybridLambda(lambda F, x: F.flatten(x)), nn.LayerNorm(), nn.Dense(5))
    return net


class Hourglass(gluon.HybridBlock):
    """Heat maps of joints, located by their expected position."""

    def __init__(self, depth=2, width=8):
        super().__init__()
        self.beside, self.below, self.behind = conv(width), conv(width), conv(width)
        self.inner = Hourglass(depth - 1, width) if depth > 1 else conv(width)

    def hybrid_forward(self, F, x):
        beside = self.beside(x)
        y = self.below(F.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max"))
        y = self.behind(self.inner(y))
        return beside + F.UpSampling(y, scale=2, sample_type="nearest")


def pose():
    net = nn.HybridSequential()
    net.add(conv(8), Hourglass(), nn.Conv2D(5, 1))

    def expected(F, maps):
        shares = F.softmax(F.reshape(maps, (0, 0, -1)), axis=-1)
        places = F.reshape(shares, (0, 0, -4, 16, 16))
        rows = F.dot(F.sum(places, axis=3), F.arange(16))
        columns = F.dot(F.sum(places, axis=2), F.arange(16))
        return F.stack(rows, columns, axis=-1)

    net.add(nn.HybridLambda(expected))
    return net


class Faces(gluon.HybridBlock):
    """RetinaFace's heads: SoftmaxActivation over channels, UpSampling cropped to another map."""

    def __init__(self):
        super().__init__()
        self.low, self.high, self.side = conv(8, 3, 2), conv(8, 3, 2), conv(8, 1)
        self.score = nn.Conv2D(2 * 3, 1)

    def hybrid_forward(self, F, x):
        low = self.low(x)
        up = F.UpSampling(self.side(self.high(low)), scale=2, sample_type="nearest")
        y = F.Crop(up, low, num_args=2) + low
        score = F.reshape(self.score(F.BlockGrad(y)), (0, 2, -1, 0))
        return F.SoftmaxActivation(score, mode="channel")


def identity_embedding():
    """InsightFace's network: input scaling, BatchNorm without a learned scale, PReLU."""
    net = nn.HybridSequential()
    net.add(nn.HybridLambda(lambda F, x: (x - 127.5) * 0.0078125))
    net.add(nn.Conv2D(8, 3, 2, 1, use_bias=False), nn.BatchNorm(scale=False, epsilon=2e-5))
    net.add(nn.PReLU(), nn.Conv2D(16, 3, 2, 1), nn.BatchNorm(center=False), nn.Flatten())
    net.add(nn.Dense(12), nn.BatchNorm(scale=False, epsilon=2e-5))
    return net


#: name -> (factory, shapes of inputs, dynamic dimensions, other shapes)
CASES = {
    "efficientnet": (efficientnet, [(1, 3, 32, 32)], [("N", 3, None, None)], [(3, 3, 40, 48)]),
    "unet": (UNet, [(1, 3, 16, 16)], [("N", 3, "H", "W")], [(2, 3, 24, 32)]),
    "vision_transformer": (Patches, [(1, 3, 16, 16)], [("N", 3, 16, 16)], [(3, 3, 16, 16)]),
    "dcgan_generator": (generator, [(1, 6, 1, 1)], [("N", 6, 1, 1)], [(4, 6, 1, 1)]),
    "dcgan_discriminator": (discriminator, [(1, 3, 32, 32)], [("N", 3, 32, 32)], [(4, 3, 32, 32)]),
    "autoencoder": (Autoencoder, [(1, 3, 16, 16)], [("N", 3, 16, 16)], [(3, 3, 16, 16)]),
    "attended_resnext": (attended, [(1, 3, 32, 32)], [("N", 3, "H", "W")], [(2, 3, 24, 40)]),
    "capsules": (Capsules, [(1, 3, 18, 18)], [("N", 3, 18, 18)], [(3, 3, 18, 18)]),
    "siamese": (Siamese, [(1, 3, 24, 24)] * 2, [("N", 3, "H", "W")] * 2, [(2, 3, 32, 24)] * 2),
    "deeplab": (Pyramid, [(1, 3, 32, 32)], [("N", 3, "H", "W")], [(2, 3, 24, 40)]),
    "shufflenet": (shufflenet, [(1, 3, 32, 32)], [("N", 3, 32, 32)], [(2, 3, 32, 32)]),
    "superresolution": (superresolution, [(1, 3, 12, 12)], [("N", 3, "H", "W")], [(2, 3, 9, 16)]),
    "style": (style, [(1, 3, 16, 16)], [("N", 3, "H", "W")], [(2, 3, 20, 24)]),
    "convnext": (convnext, [(1, 3, 32, 32)], [("N", 3, "H", "W")], [(2, 3, 40, 24)]),
    "hourglass": (pose, [(1, 3, 16, 16)], [("N", 3, 16, 16)], [(3, 3, 16, 16)]),
    "retinaface": (Faces, [(1, 3, 18, 18)], [("N", 3, 18, 18)], [(2, 3, 18, 18)]),
    "insightface": (identity_embedding, [(1, 3, 24, 24)], [("N", 3, 24, 24)], [(3, 3, 24, 24)]),
}
