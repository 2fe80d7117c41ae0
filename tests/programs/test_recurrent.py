"""Recurrent networks on a text, character by character, by hand and with Gluon's layers."""

import math

import pytest

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.gluon import nn, rnn
from tests.programs.training import clip, descend, text_pieces, variables

TEXT = "the quick brown fox jumps over the lazy dog; and then the dog sleeps. " * 12


def plain_cell(parameters, x, states):
    w_x, w_h, bias = parameters
    hidden = np.tanh(np.dot(x, w_x) + np.dot(states[0], w_h) + bias)
    return hidden, (hidden,)


def gru_cell(parameters, x, states):
    w_x, w_h, bias = parameters
    (hidden,) = states
    of_x, of_h = np.dot(x, w_x) + bias, np.dot(hidden, w_h)
    update, reset, new = np.split(of_x, 3, axis=1)
    h_update, h_reset, h_new = np.split(of_h, 3, axis=1)
    update, reset = npx.sigmoid(update + h_update), npx.sigmoid(reset + h_reset)
    hidden = update * hidden + (1 - update) * np.tanh(new + reset * h_new)
    return hidden, (hidden,)


def lstm_cell(parameters, x, states):
    w_x, w_h, bias = parameters
    hidden, cell = states
    gates = np.dot(x, w_x) + np.dot(hidden, w_h) + bias
    keep, write, show, new = np.split(gates, 4, axis=1)
    cell = npx.sigmoid(keep) * cell + npx.sigmoid(write) * np.tanh(new)
    hidden = npx.sigmoid(show) * np.tanh(cell)
    return hidden, (hidden, cell)


@pytest.mark.parametrize(
    ("cell", "gates", "count"), [(plain_cell, 1, 1), (gru_cell, 3, 1), (lstm_cell, 4, 2)]
)
def test_by_hand(cell, gates, count):
    """States go from piece to piece without being detached, as in MXNet."""
    symbols, pieces = text_pieces(TEXT, steps=12, batch=8)
    size, units = len(symbols), 32
    parameters = variables(
        (size, gates * units), (units, gates * units), (gates * units,), scale=0.2
    )
    out = variables((units, size), (size,), scale=0.2)
    loss_of, perplexities = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(8):
        states, total = tuple(np.zeros((8, units)) for _ in range(count)), 0.0
        for source, target in pieces:
            with autograd.record():
                scores = []
                for x in npx.one_hot(source.T, size):
                    hidden, states = cell(parameters, x, states)
                    scores.append(np.dot(hidden, out[0]) + out[1])
                loss = loss_of(np.concatenate(scores), target.T.reshape(-1)).mean()
            loss.backward()
            clip([*parameters, *out], 1)
            descend([*parameters, *out], 2, 1)
            total += float(loss)
        perplexities.append(math.exp(total / len(pieces)))
    assert perplexities[-1] < 0.6 * perplexities[0] and perplexities[0] < 2 * size


class Characters(nn.HybridBlock):
    """A layer of Gluon between one-hot characters and scores of the next."""

    def __init__(self, layer, size, **kwargs):
        super().__init__(**kwargs)
        self.layer, self.size = layer, size
        self.dense = nn.Dense(size, flatten=False)

    def forward(self, numbers, *states):
        y, states = self.layer(npx.one_hot(numbers.T, self.size), list(states))
        return self.dense(y), states


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("kind", [rnn.RNN, rnn.GRU, rnn.LSTM])
def test_layers(kind, hybridize):
    symbols, pieces = text_pieces(TEXT, steps=12, batch=8)
    net = Characters(kind(32, num_layers=2 if kind is rnn.GRU else 1), len(symbols))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    loss_of, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(5):
        states, total = net.layer.begin_state(batch_size=8), 0.0
        for source, target in pieces:
            states = [state.detach() for state in states]
            with autograd.record():
                scores, states = net(source, *states)
                loss = loss_of(scores, target.T)
            loss.backward()
            gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 5)
            trainer.step(loss.size)
            total += loss.mean().item()
        losses.append(total / len(pieces))
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.75 * losses[0]
    assert all(type(state) is np.ndarray for state in states)
    written, states = [0], net.layer.begin_state(batch_size=1)
    for _ in range(5):
        scores, states = net(np.array([[written[-1]]]), *states)
        written.append(int(scores[-1].argmax(axis=1)))
    assert all(0 <= number < len(symbols) for number in written)


def test_cells_unroll_as_layers_do():
    x = np.random.normal(size=(2, 5, 3))
    layer, cell = rnn.LSTM(4, layout="NTC", input_size=3), rnn.LSTMCell(4, input_size=3)
    layer.initialize()
    cell.initialize()
    for name, value in cell.collect_params().items():
        value.set_data(np.random.normal(0, 0.3, value.shape))
        assert name
    if "rnn_param" in [p.name for p in layer.collect_params().values()]:
        flat = [p.data().reshape(-1) for p in cell.collect_params().values()]
        layer.rnn_param.set_data(np.concatenate(flat))
    else:
        for mine, its in zip(
            layer.collect_params().values(), cell.collect_params().values(), strict=True
        ):
            mine.set_data(its.data())
    actual = layer(x)
    wanted, states = cell.unroll(5, x, layout="NTC", merge_outputs=True)
    assert np.allclose(actual, wanted, atol=1e-5) and states[0].shape == (2, 4)


def test_both_directions_read_a_review():
    words = np.random.randint(0, 20, (64, 12), dtype="int32")
    labels = (words < 10).sum(axis=1) > 6

    class Review(nn.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.embedding = nn.Embedding(20, 8)
            self.encoder = rnn.LSTM(8, num_layers=2, bidirectional=True, dropout=0.1)
            self.decoder = nn.Dense(2)

        def forward(self, words):
            y = self.encoder(self.embedding(words.T))
            return self.decoder(np.concatenate((y[0], y[-1]), axis=1))

    net = Review()
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    loss_of, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(25):
        with autograd.record():
            loss = loss_of(net(words), labels).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert ((net(words).argmax(axis=1) == labels.astype("int64")).sum() / 64).item() > 0.85
