"""The networks that neither the model zoo nor the training table has, in Gluon."""

import mxcy as mx
from benchmarks.train import networks

__all__ = ["make"]

nn = mx.gluon.nn

# MobileNetV3-Large: kernel, expanded channels, channels, squeeze and excitation, h-swish, stride.
V3_BLOCKS = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)
# EfficientNet-B0: factor of expansion, kernel, stride, channels, repetitions.
B0_STAGES = (
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)


def make(row):
    """Create the network of a row, not initialized."""
    maker = MAKERS.get(row.network)
    return maker(row) if maker else networks.make(mx, row)


class Gate(mx.gluon.HybridBlock):
    """An input times a function of itself: `hard_sigmoid` gives h-swish, `sigmoid` swish."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def hybrid_forward(self, F, data):
        return data * _gate(F, self._function, data)


def _gate(F, function, data):
    # MXNet's default slope is 0.2; MobileNetV3 has relu6(x + 3) / 6.
    return F.hard_sigmoid(data, alpha=1 / 6) if function == "hard_sigmoid" else F.sigmoid(data)


class Excitation(mx.gluon.HybridBlock):
    """Channels times a factor of each, computed from the means of all."""

    def __init__(self, channels, squeezed, activation, function):
        super().__init__()
        self._function = function
        with self.name_scope():
            self.layers = nn.HybridSequential()
            self.layers.add(nn.GlobalAvgPool2D(), nn.Conv2D(squeezed, 1), activation)
            self.layers.add(nn.Conv2D(channels, 1))

    def hybrid_forward(self, F, data):
        return F.broadcast_mul(data, _gate(F, self._function, self.layers(data)))


class Residual(mx.gluon.HybridBlock):
    """Layers whose input is added to their output."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def hybrid_forward(self, F, data):
        return data + self.layers(data)


def _convolution(net, channels, kernel, stride=1, groups=1, activation=None):
    net.add(nn.Conv2D(channels, kernel, stride, kernel // 2, groups=groups, use_bias=False))
    net.add(nn.BatchNorm())
    if activation:
        net.add(activation)


def _inverted(net, before, kernel, expanded, channels, excitation, activation, stride):
    """Append a block: expansion, depthwise convolution, excitation, projection."""
    layers = nn.HybridSequential()
    if expanded != before:
        _convolution(layers, expanded, 1, activation=activation())
    _convolution(layers, expanded, kernel, stride, expanded, activation())
    if excitation:
        layers.add(excitation)
    _convolution(layers, channels, 1)
    net.add(Residual(layers) if stride == 1 and before == channels else layers)


def _mobilenet_v3(row):
    def activation(h_swish=True):
        return Gate("hard_sigmoid") if h_swish else nn.Activation("relu")

    net, before = nn.HybridSequential(), 16
    _convolution(net, before, 3, 2, activation=activation())
    for kernel, expanded, channels, excites, h_swish, stride in V3_BLOCKS:
        squeezed = int(expanded / 4 + 4) // 8 * 8
        excitation = None
        if excites:
            excitation = Excitation(expanded, squeezed, activation(False), "hard_sigmoid")
        kind = activation if h_swish else lambda: activation(False)
        _inverted(net, before, kernel, expanded, channels, excitation, kind, stride)
        before = channels
    _convolution(net, 960, 1, activation=activation())
    net.add(nn.GlobalAvgPool2D(), nn.Conv2D(1280, 1), activation(), nn.Flatten())
    net.add(nn.Dense(row.classes))
    return net


def _efficientnet(row):
    def activation():
        return Gate("sigmoid")

    net, before = nn.HybridSequential(), 32
    _convolution(net, before, 3, 2, activation=activation())
    for factor, kernel, first_stride, channels, repetitions in B0_STAGES:
        for number in range(repetitions):
            stride, expanded = 1 if number else first_stride, before * factor
            excitation = Excitation(expanded, before // 4, activation(), "sigmoid")
            _inverted(net, before, kernel, expanded, channels, excitation, activation, stride)
            before = channels
    _convolution(net, 1280, 1, activation=activation())
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(row.classes))
    return net


def _relu(net, channels, kernel, stride=1, pad=0, dilation=1):
    net.add(nn.Conv2D(channels, kernel, stride, pad, dilation, activation="relu"))


class Detector(mx.gluon.HybridBlock):
    """SSD-300 on VGG-16: class probabilities of 8,732 boxes, then the boxes' offsets, in a row."""

    CLASSES = 21
    BOXES = (4, 6, 6, 6, 4, 4)  # per pixel of the six sources

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.stages = nn.HybridSequential()
            self.stages.add(*_vgg_stages(), *_more_stages())
            self.scale = self.params.get("scale", shape=(1, 512, 1, 1))
            self.classes, self.offsets = nn.HybridSequential(), nn.HybridSequential()
            for boxes in self.BOXES:
                self.classes.add(nn.Conv2D(boxes * self.CLASSES, 3, padding=1))
                self.offsets.add(nn.Conv2D(boxes * 4, 3, padding=1))

    def hybrid_forward(self, F, data, scale):
        classes, offsets = [], []
        for number, stage in enumerate(self.stages):
            source = data = stage(data)
            if number == 0:  # conv4_3 has larger values than the others
                source = F.broadcast_mul(F.L2Normalization(data, mode="channel"), scale)
            for head, rows in ((self.classes, classes), (self.offsets, offsets)):
                rows.append(F.flatten(F.transpose(head[number](source), (0, 2, 3, 1))))
        scores = F.reshape(F.concat(*classes, dim=1), (0, -1, self.CLASSES))
        return F.concat(F.flatten(F.softmax(scores, axis=-1)), *offsets, dim=1)


def _vgg_stages():
    """VGG-16 up to conv4_3, and from there to the dilated convolutions in place of its layers."""
    first, second = nn.HybridSequential(), nn.HybridSequential()
    for channels, layers in ((64, 2), (128, 2), (256, 3), (512, 3)):
        if channels > 64:
            first.add(nn.MaxPool2D(2, 2, ceil_mode=True))
        for _ in range(layers):
            _relu(first, channels, 3, pad=1)
    second.add(nn.MaxPool2D(2, 2))
    for _ in range(3):
        _relu(second, 512, 3, pad=1)
    second.add(nn.MaxPool2D(3, 1, 1))
    _relu(second, 1024, 3, pad=6, dilation=6)
    _relu(second, 1024, 1)
    return first, second


def _more_stages():
    """Four smaller sources."""
    for squeezed, channels, stride, pad in (
        (256, 512, 2, 1),
        (128, 256, 2, 1),
        (128, 256, 1, 0),
        (128, 256, 1, 0),
    ):
        stage = nn.HybridSequential()
        _relu(stage, squeezed, 1)
        _relu(stage, channels, 3, stride, pad)
        yield stage


class LanguageStep(mx.gluon.HybridBlock):
    """One step of a language model: scores of the next word, and the states of two layers."""

    def __init__(self, row):
        super().__init__()
        units = row.about["units"]
        with self.name_scope():
            self.words = nn.Embedding(row.words, units)
            self.rnn = mx.gluon.rnn.LSTM(units, 2, layout="NTC", input_size=units)
            self.head = nn.Dense(row.classes, in_units=units)

    def hybrid_forward(self, F, data, state0, state1):
        out, states = self.rnn(self.words(data), [state0, state1])
        return self.head(out), *states


MAKERS = {
    "mobilenet_v3": _mobilenet_v3,
    "efficientnet": _efficientnet,
    "ssd": lambda row: Detector(),
    "lstm_step": LanguageStep,
}
