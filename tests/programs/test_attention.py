"""Attention: weights, sequences to sequences, transformers, a pretrained encoder."""

import math

import pytest

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.gluon import nn, rnn

PAD, BEGIN, END, FIRST = 0, 1, 2, 3


def pairs(count, length, size=8):
    """Sequences and their reversals, with lengths, end tokens and padding."""
    source, target = np.zeros((count, length + 1)), np.zeros((count, length + 1))
    lengths = np.random.randint(2, length + 1, (count,))
    for i, n in enumerate(lengths.tolist()):
        row = np.random.randint(FIRST, FIRST + size, (n,)).astype("float32")
        source[i, :n], target[i, :n] = row, row[::-1]
        source[i, n] = target[i, n] = END
    return source, target, (lengths + 1).astype("float32")


def masked_softmax(scores, valid):
    """Softmax over the first `valid` columns."""
    if valid is None:
        return npx.softmax(scores, axis=-1)
    if valid.ndim == 1:
        valid = valid.repeat(scores.shape[1])
    flat = scores.reshape(-1, scores.shape[-1])
    flat = npx.sequence_mask(flat, valid.reshape(-1), True, value=-1e6, axis=1)
    return npx.softmax(flat).reshape(scores.shape)


def test_masked_softmax():
    scores = np.random.uniform(size=(2, 3, 4))
    actual = masked_softmax(scores, np.array([2, 3]))
    assert np.allclose(actual.sum(axis=-1), np.ones((2, 3)))
    assert actual[0, :, 2:].sum() == 0 and actual[1, :, 3].sum() == 0
    each = masked_softmax(scores, np.array([[1, 2, 3], [4, 4, 4]]))
    assert each[0, 0].tolist() == [1, 0, 0, 0] and (each[1] > 0).all()
    steps = np.arange(4, dtype="int32")
    mask = np.expand_dims(steps, (0, 1)) < np.array([2, 3], dtype="int32").reshape(2, 1, 1)
    assert np.allclose(npx.masked_softmax(scores, np.broadcast_to(mask, (2, 3, 4))), actual)


class Additive(nn.HybridBlock):
    """Scores by a small network of query and key."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.of_query = nn.Dense(units, use_bias=False, flatten=False)
        self.of_key = nn.Dense(units, use_bias=False, flatten=False)
        self.score = nn.Dense(1, use_bias=False, flatten=False)

    def forward(self, query, keys, valid):
        both = np.expand_dims(self.of_query(query), 2) + np.expand_dims(self.of_key(keys), 1)
        weights = masked_softmax(np.squeeze(self.score(np.tanh(both)), axis=-1), valid)
        return npx.batch_dot(weights, keys), weights


class Encoder(nn.Block):
    def __init__(self, size, units, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(size, units)
        self.rnn = rnn.GRU(units)

    def forward(self, x):
        x = self.embedding(x).swapaxes(0, 1)
        return self.rnn(x, self.rnn.begin_state(batch_size=x.shape[1], ctx=x.ctx))


class Decoder(nn.Block):
    def __init__(self, size, units, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(size, units)
        self.attention = Additive(units)
        self.rnn = rnn.GRU(units)
        self.out = nn.Dense(size, flatten=False)

    def forward(self, x, memory, states, valid):
        outputs = []
        for step in self.embedding(x).swapaxes(0, 1):
            seen, weights = self.attention(np.expand_dims(states[0][-1], 1), memory, valid)
            step = np.concatenate((seen, np.expand_dims(step, 1)), axis=-1)
            y, states = self.rnn(step.swapaxes(0, 1), states)
            outputs.append(y)
        return self.out(np.concatenate(outputs)).swapaxes(0, 1), states, weights


def masked_loss(scores, target, lengths):
    weights = npx.sequence_mask(np.ones_like(target), lengths, True, axis=1)
    return gluon.loss.SoftmaxCELoss()(scores, target, np.expand_dims(weights, -1))


def shifted(target):
    begin = np.full((len(target), 1), BEGIN)
    return np.concatenate([begin, target[:, :-1]], axis=1)


def test_sequence_to_sequence():
    source, target, lengths = pairs(64, 5)
    encoder, decoder = Encoder(11, 32), Decoder(11, 32)
    for part in (encoder, decoder):
        part.initialize(mx.init.Xavier())
    parameters = [*encoder.collect_params().values(), *decoder.collect_params().values()]
    trainer = gluon.Trainer(parameters, "adam", {"learning_rate": 0.02})
    losses = []
    for _ in range(40):
        with autograd.record():
            memory, states = encoder(source)
            scores, _, weights = decoder(shifted(target), memory.swapaxes(0, 1), states, lengths)
            loss = masked_loss(scores, target, lengths)
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in parameters], 1)
        trainer.step(lengths.sum())
        losses.append(float(loss.sum() / lengths.sum()))
    assert losses[-1] < 0.5 * losses[0]
    assert weights.shape == (64, 1, 6) and np.allclose(weights.sum(axis=-1), np.ones((64, 1)))
    short = int(lengths.argmin())
    assert weights[short, 0, int(lengths[short].item()) :].sum() == 0
    memory, states = encoder(source[:1])
    token, words = np.array([[BEGIN]]), []
    for _ in range(6):
        scores, states, _ = decoder(token, memory.swapaxes(0, 1), states, lengths[:1])
        token = scores.argmax(axis=2)
        words.append(token.squeeze(axis=0).astype("int32").item())
    assert all(0 <= word < 11 for word in words)


class Heads(nn.HybridBlock):
    """Multi-head attention."""

    def __init__(self, units, heads, **kwargs):
        super().__init__(**kwargs)
        self.heads = heads
        self.query, self.key, self.value, self.out = (
            nn.Dense(units, use_bias=False, flatten=False) for _ in range(4)
        )
        for name in ("query", "key", "value", "out"):
            self.register_child(getattr(self, name), name)

    def split(self, x):
        x = x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)
        return x.reshape(-1, x.shape[2], x.shape[3])

    def forward(self, x, memory, valid):
        q, k, v = (
            self.split(self.query(x)),
            self.split(self.key(memory)),
            self.split(self.value(memory)),
        )
        scores = npx.batch_dot(q, k, transpose_b=True) / math.sqrt(q.shape[-1])
        if valid is not None:
            valid = valid.repeat(self.heads, axis=0)
        y = npx.batch_dot(masked_softmax(scores, valid), v)
        y = y.reshape(-1, self.heads, y.shape[1], y.shape[2]).transpose(0, 2, 1, 3)
        return self.out(y.reshape(y.shape[0], y.shape[1], -1))


class Layer(nn.HybridBlock):
    """Attention and a small network, with residual connections and normalization."""

    def __init__(self, units, heads, decodes=False, **kwargs):
        super().__init__(**kwargs)
        self.decodes = decodes
        self.own = Heads(units, heads)
        self.other = Heads(units, heads) if decodes else None
        self.wide = nn.Dense(2 * units, flatten=False, activation="relu")
        self.narrow = nn.Dense(units, flatten=False)
        self.norms = nn.HybridSequential()
        self.norms.add(*[nn.LayerNorm() for _ in range(3 if decodes else 2)])
        self.dropout = nn.Dropout(0.05)

    def forward(self, x, own_valid, memory=None, valid=None):
        x = self.norms[0](x + self.dropout(self.own(x, x, own_valid)))
        if self.decodes:
            x = self.norms[1](x + self.dropout(self.other(x, memory, valid)))
        return self.norms[-1](x + self.dropout(self.narrow(self.wide(x))))


class Positions(nn.HybridBlock):
    """Embeddings plus sinusoidal positions."""

    def __init__(self, size, units, most=50, **kwargs):
        super().__init__(**kwargs)
        self.embedding, self.units = nn.Embedding(size, units), units
        angles = np.arange(most).reshape(-1, 1) / np.power(10000, np.arange(0, units, 2) / units)
        self.waves = np.zeros((1, most, units))
        self.waves[:, :, 0::2], self.waves[:, :, 1::2] = np.sin(angles), np.cos(angles)

    def forward(self, x):
        return self.embedding(x) * math.sqrt(self.units) + self.waves[:, : x.shape[1], :]


class Transformer(nn.HybridBlock):
    def __init__(self, size, units, heads, **kwargs):
        super().__init__(**kwargs)
        self.source, self.target = Positions(size, units), Positions(size, units)
        self.encoder, self.decoder = Layer(units, heads), Layer(units, heads, decodes=True)
        self.out = nn.Dense(size, flatten=False)

    def forward(self, source, target, valid):
        memory = self.encoder(self.source(source), valid)
        seen = np.tile(np.arange(1, target.shape[1] + 1), (target.shape[0], 1))
        return self.out(self.decoder(self.target(target), seen, memory, valid))


@pytest.mark.parametrize("hybridize", [False, True])
def test_transformer(hybridize):
    source, target, lengths = pairs(64, 5)
    net = Transformer(11, 32, 4)
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    losses = []
    for _ in range(40):
        with autograd.record():
            scores = net(source, shifted(target), lengths)
            loss = masked_loss(scores, target, lengths)
        loss.backward()
        trainer.step(lengths.sum())
        losses.append(float(loss.sum() / lengths.sum()))
    assert losses[-1] < 0.5 * losses[0]
    cut = net(source[:, :4], shifted(target)[:, :3], np.minimum(lengths, 4))  # other extents
    assert cut.shape == (64, 3, 11)
    if hybridize:
        net.hybridize(False)
        plain = net(source, shifted(target), lengths)
        net.hybridize()
        assert np.allclose(net(source, shifted(target), lengths), plain, atol=1e-4)


def test_an_encoder_that_fills_gaps():
    """Masked words are predicted from their neighbours, at indexed positions."""
    words = (np.arange(64).reshape(8, 8) % 7 + FIRST).astype("int32")
    places = np.tile(np.array([2, 5], dtype="int32"), (8, 1))

    class Gaps(nn.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.words = nn.Embedding(12, 16)
            self.places = gluon.Parameter("places", shape=(1, 20, 16))
            self.layer = Layer(16, 2)
            self.decide = nn.Sequential()
            self.decide.add(nn.Dense(16, flatten=False, activation="relu"), nn.LayerNorm())
            self.decide.add(nn.Dense(12, flatten=False))

        def forward(self, words, places):
            x = self.words(words) + self.places.data()[:, : words.shape[1], :]
            x = self.layer(x, None)
            rows = np.repeat(np.arange(0, x.shape[0]), places.shape[1])
            chosen = x[rows, places.reshape(-1)].reshape(x.shape[0], places.shape[1], -1)
            return self.decide(chosen)

    net = Gaps()
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    rows = np.arange(8, dtype="int32").reshape(8, 1)
    hidden = words.copy()
    hidden[rows, places] = BEGIN
    wanted, losses = words[rows, places], []
    assert wanted.shape == (8, 2)
    for _ in range(40):
        with autograd.record():
            loss = gluon.loss.SoftmaxCELoss()(net(hidden, places), wanted).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    assert (net(hidden, places).argmax(axis=-1).astype("int32") == wanted).mean() > 0.8
