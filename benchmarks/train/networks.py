"""The networks in Gluon, for mxcy and for MXNet 1.9.1, which is an argument.

There is no dropout: each framework draws its own random numbers, and losses are compared.
"""

__all__ = ["loss_of", "make", "outputs_of"]


def make(mx, row):
    """Create the network of a row, not initialized; None for the row without parameters."""
    if row.network.startswith("zoo:"):
        net = mx.gluon.model_zoo.vision.get_model(row.network[4:], classes=row.classes)
        net.apply(_keep_all)
        return net
    return MAKERS[row.network](mx, row)


def loss_of(mx, row):
    """Create the loss block of a row."""
    if row.classes:
        return mx.gluon.loss.SoftmaxCrossEntropyLoss()
    return mx.gluon.loss.SigmoidBinaryCrossEntropyLoss()


def outputs_of(mx, row, scores):
    """Append Module's output layer to a symbol of scores."""
    labels = mx.sym.var("label")
    if row.classes:
        return mx.sym.SoftmaxOutput(scores, mx.sym.reshape(labels, (-1,)), name="out")
    return mx.sym.LogisticRegressionOutput(scores, labels, name="out")


def _keep_all(block):
    if hasattr(block, "_rate"):
        block._rate = 0.0


def _lenet(mx, row):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    with net.name_scope():
        for channels in (20, 50):
            net.add(nn.Conv2D(channels, 5, activation="tanh"), nn.MaxPool2D(2, 2))
        net.add(nn.Flatten(), nn.Dense(500, activation="tanh"), nn.Dense(row.classes))
    return net


def _perceptron(mx, row):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(128, activation="relu"), nn.Dense(64, activation="relu"))
        net.add(nn.Dense(row.classes))
    return net


def _language(mx, row):
    units = row.about["units"]

    class Language(mx.gluon.HybridBlock):
        """Embedding, two layers of LSTM, scores of the next word at every position."""

        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.words = mx.gluon.nn.Embedding(row.words, units)
                self.rnn = mx.gluon.rnn.LSTM(units, 2, layout="NTC", input_size=units)
                self.head = mx.gluon.nn.Dense(row.classes, flatten=False, in_units=units)

        def hybrid_forward(self, F, data):
            return self.head(self.rnn(self.words(data))).reshape((-1, row.classes))

    return Language()


def _recurrent(mx, row):
    units = row.about["units"]

    class Recurrent(mx.gluon.HybridBlock):
        """Two layers of GRU; the last position is classified."""

        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.rnn = mx.gluon.rnn.GRU(units, 2, layout="NTC", input_size=row.shape[1])
                self.head = mx.gluon.nn.Dense(row.classes, in_units=units)

        def hybrid_forward(self, F, data):
            last = F.slice_axis(self.rnn(data), axis=1, begin=-1, end=None)
            return self.head(F.reshape(last, (-1, units)))

    return Recurrent()


def _bert(mx, row):
    nn = mx.gluon.nn
    length, units, heads, layers = map(row.about.get, ("length", "units", "heads", "layers"))

    class Layer(mx.gluon.HybridBlock):
        """Attention and two dense layers, with residual connections and normalisation."""

        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.qkv = nn.Dense(3 * units, flatten=False, in_units=units)
                self.mix = nn.Dense(units, flatten=False, in_units=units)
                self.norm1 = nn.LayerNorm(in_channels=units)
                self.wide = nn.Dense(4 * units, flatten=False, in_units=units)
                self.narrow = nn.Dense(units, flatten=False, in_units=4 * units)
                self.norm2 = nn.LayerNorm(in_channels=units)

        def hybrid_forward(self, F, data):
            qkv = self.qkv(data)
            scores = F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=heads)
            weights = F.softmax(scores, axis=-1)
            mixed = F.contrib.interleaved_matmul_selfatt_valatt(qkv, weights, heads=heads)
            data = self.norm1(data + self.mix(mixed))
            wide = F.LeakyReLU(self.wide(data), act_type="gelu")
            return self.norm2(data + self.narrow(wide))

    class Encoder(mx.gluon.HybridBlock):
        """A BERT; the first position is classified."""

        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.words = nn.Embedding(row.words, units)
                self.places = self.params.get("places", shape=(length, 1, units))
                self.norm = nn.LayerNorm(in_channels=units)
                self.layers = nn.HybridSequential()
                self.layers.add(*(Layer() for _ in range(layers)))
                self.head = nn.Dense(row.classes, in_units=units)

        def hybrid_forward(self, F, data, places):
            words = F.transpose(self.words(data), (1, 0, 2))
            encoded = self.layers(self.norm(F.broadcast_add(words, places)))
            return self.head(F.reshape(F.slice_axis(encoded, axis=0, begin=0, end=1), (-1, units)))

    return Encoder()


def _recommender(mx, row):
    nn, about = mx.gluon.nn, row.about
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Embedding(row.words, about["width"], sparse_grad=about["sparse"]))
        net.add(nn.Dense(128, activation="relu", in_units=about["width"] * row.shape[0]))
        net.add(nn.Dense(1, in_units=128))
    return net


MAKERS = {
    "lenet": _lenet,
    "perceptron": _perceptron,
    "language": _language,
    "recurrent": _recurrent,
    "bert": _bert,
    "recommender": _recommender,
    "chain": lambda mx, row: None,
}
