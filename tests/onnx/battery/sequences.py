"""Text and audio networks, written as in user programs."""

import math

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import contrib, nn, rnn

__all__ = ["CASES"]


class SelfAttention(gluon.HybridBlock):
    """BERT's layer with GluonNLP's interleaved products."""

    def __init__(self, units, heads, hidden):
        super().__init__()
        self.heads = heads
        self.project, self.back = nn.Dense(3 * units, flatten=False), nn.Dense(units, flatten=False)
        self.first, self.second = nn.LayerNorm(epsilon=1e-12), nn.LayerNorm(epsilon=1e-12)
        self.wide, self.narrow = nn.Dense(hidden, flatten=False), nn.Dense(units, flatten=False)

    def hybrid_forward(self, F, x, mask):
        packed = self.project(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(packed, heads=self.heads)
        weights = F.softmax(F.broadcast_add(scores, mask), axis=-1)
        mixed = F.contrib.interleaved_matmul_selfatt_valatt(packed, weights, heads=self.heads)
        x = self.first(x + self.back(mixed))
        return self.second(x + self.narrow(F.LeakyReLU(self.wide(x), act_type="gelu")))


class Bert(gluon.HybridBlock):
    """Tokens, token types and valid lengths to a sequence and its pooled first token."""

    def __init__(self, layers=12, units=768, heads=12, hidden=3072, words=30522, places=512):
        super().__init__()
        self.heads = heads
        self.word, self.kind = nn.Embedding(words, units), nn.Embedding(2, units)
        self.places = self.params.get("places", shape=(places, units))
        self.norm = nn.LayerNorm(epsilon=1e-12)
        self.layers = nn.HybridSequential()
        for _ in range(layers):
            self.layers.add(SelfAttention(units, heads, hidden))
        self.pool = nn.Dense(units, activation="tanh", flatten=False)

    def hybrid_forward(self, F, words, kinds, lengths, places):
        x = self.word(words) + self.kind(kinds)
        steps = F.contrib.arange_like(words, axis=1)
        x = F.broadcast_add(x, F.expand_dims(F.take(places, steps), axis=0))
        x = F.transpose(self.norm(x), axes=(1, 0, 2))
        inside = F.broadcast_lesser(F.reshape(steps, (1, -1)), F.reshape(lengths, (-1, 1)))
        mask = F.broadcast_axis(F.expand_dims(inside, axis=1), axis=1, size=self.heads)
        mask = F.expand_dims(F.reshape(mask, (-3, 0)), axis=1)
        mask = (1 - mask) * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        x = F.transpose(x, axes=(1, 0, 2))
        return x, self.pool(F.reshape(F.slice_axis(x, axis=1, begin=0, end=1), (0, -1)))


def small_bert():
    return Bert(2, 16, 4, 32, 50, 20)


class Generator(gluon.HybridBlock):
    """GPT-2 in `mx.np`: causal mask, embedding weights used twice."""

    def __init__(self, layers=2, units=16, heads=4, words=50, places=24):
        super().__init__()
        self.heads, self.units = heads, units
        self.word, self.place = nn.Embedding(words, units), nn.Embedding(places, units)
        self.blocks = []
        for i in range(layers):
            widths = (None, 3 * units, units, None, 4 * units, units)
            parts = [nn.Dense(n, flatten=False) if n else nn.LayerNorm() for n in widths]
            for j, part in enumerate(parts):
                setattr(self, f"part{i}_{j}", part)
            self.blocks.append(parts)
        self.norm = nn.LayerNorm()

    def forward(self, words):
        np, npx = mx.np, mx.npx
        batch, steps = words.shape
        x = self.word(words) + self.place(np.arange(steps, dtype="int32"))
        ahead = np.triu(np.ones((steps, steps)), 1) * -1e9
        for before, project, back, after, wide, narrow in self.blocks:
            parts = project(before(x)).reshape(batch, steps, 3, self.heads, -1)
            q, k, v = (part.squeeze(0) for part in np.split(parts.transpose(2, 0, 3, 1, 4), 3))
            scores = np.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(self.units / self.heads)
            mixed = np.matmul(npx.softmax(scores + ahead, axis=-1), v)
            x = x + back(mixed.transpose(0, 2, 1, 3).reshape(batch, steps, -1))
            x = x + narrow(npx.leaky_relu(wide(after(x)), act_type="gelu"))
        return np.dot(self.norm(x), self.word.weight.data().T)


class Words(gluon.HybridBlock):
    """A language model: embedding, an LSTM with states, scores of the next word."""

    def __init__(self, words=200, units=32, layers=2):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(words, units), rnn.LSTM(units, layers)
        self.out = nn.Dense(words, flatten=False)

    def hybrid_forward(self, F, words, hidden, cell):
        y, states = self.lstm(self.embed(words), [hidden, cell])
        return (F.log_softmax(self.out(y)), *states)


class Translator(gluon.HybridBlock):
    """A GRU encoder, and a GRU decoder with Luong's attention."""

    def __init__(self, words=40, units=12):
        super().__init__()
        self.read, self.write = nn.Embedding(words, units), nn.Embedding(words, units)
        self.encoder = rnn.GRU(units, layout="NTC", bidirectional=True)
        self.join, self.decoder = nn.Dense(units, flatten=False), rnn.GRUCell(units)
        self.mix = nn.Dense(units, activation="tanh", flatten=False)
        self.out = nn.Dense(words, flatten=False)

    def hybrid_forward(self, F, source, target):
        memory = self.join(self.encoder(self.read(source)))
        state = [F.max(memory, axis=1)]
        y, _ = self.decoder.unroll(5, self.write(target), begin_state=state, layout="NTC",
                                   merge_outputs=True)  # fmt: skip
        weights = F.softmax(F.batch_dot(y, memory, transpose_b=True), axis=-1)
        return self.out(self.mix(F.concat(F.batch_dot(weights, memory), y, dim=2)))


class Transformer(gluon.HybridBlock):
    """Encoder and decoder with cross-attention and Vaswani's positional encoding."""

    def __init__(self, words=40, units=16, heads=4):
        super().__init__()
        self.units, self.heads = units, heads
        self.embed = nn.Embedding(words, units)
        for name in ("self_e", "self_d", "cross"):
            for part in "qkvo":
                setattr(self, f"{name}_{part}", nn.Dense(units, flatten=False, use_bias=False))
            setattr(self, f"{name}_norm", nn.LayerNorm())
        self.wide, self.narrow = nn.Dense(32, "relu", flatten=False), nn.Dense(units, flatten=False)
        self.norm, self.out = nn.LayerNorm(), nn.Dense(words, flatten=False)

    def heads_of(self, F, x):
        x = F.transpose(F.reshape(x, (0, 0, self.heads, -1)), axes=(0, 2, 1, 3))
        return F.reshape(x, (-3, 0, 0))

    def attend(self, F, name, x, memory, later=False):
        q, k, v = (
            self.heads_of(F, getattr(self, f"{name}_{part}")(y))
            for part, y in zip("qkv", (x, memory, memory), strict=True)
        )
        scores = F.contrib.div_sqrt_dim(F.batch_dot(q, k, transpose_b=True))
        if later:
            rows = F.expand_dims(F.contrib.arange_like(scores, axis=1), axis=1)
            columns = F.expand_dims(F.contrib.arange_like(scores, axis=2), axis=0)
            hidden = F.expand_dims(F.broadcast_lesser(rows, columns), axis=0)
            scores = F.broadcast_add(scores, hidden * -1e9)
        mixed = F.reshape(F.batch_dot(F.softmax(scores), v), (-4, -1, self.heads, 0, 0))
        mixed = F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), (0, 0, -1))
        return getattr(self, f"{name}_norm")(x + getattr(self, f"{name}_o")(mixed))

    def placed(self, F, words):
        x = self.embed(words) * math.sqrt(self.units)
        steps = F.expand_dims(F.contrib.arange_like(words, axis=1), axis=1)
        rates = F.exp(F.arange(0, self.units, 2) * (-math.log(1e4) / self.units))
        angles = F.broadcast_mul(steps, F.expand_dims(rates, axis=0))
        return F.broadcast_add(x, F.expand_dims(F.concat(F.sin(angles), F.cos(angles), dim=1), 0))

    def hybrid_forward(self, F, source, target):
        memory = self.placed(F, source)
        memory = self.attend(F, "self_e", memory, memory)
        memory = self.norm(memory + self.narrow(self.wide(memory)))
        x = self.placed(F, target)
        x = self.attend(F, "cross", self.attend(F, "self_d", x, x, True), memory)
        return F.softmax(self.out(x))


class Temporal(gluon.HybridBlock):
    """A block of a temporal convolutional network: dilated and causal."""

    def __init__(self, width, dilation):
        super().__init__()
        self.behind = 2 * dilation
        self.first = nn.Conv1D(width, 3, padding=self.behind, dilation=dilation)
        self.second = nn.Conv1D(width, 3, padding=self.behind, dilation=dilation)
        self.beside = nn.Conv1D(width, 1)

    def hybrid_forward(self, F, x):
        y = x
        for layer in (self.first, self.second):
            y = F.relu(F.slice_axis(layer(y), axis=2, begin=0, end=-self.behind))
        return F.relu(y + self.beside(x))


def temporal():
    net = nn.HybridSequential()
    net.add(Temporal(8, 1), Temporal(8, 2), Temporal(12, 4))
    net.add(nn.HybridLambda(lambda F, x: F.squeeze(F.slice_axis(x, axis=2, begin=-1, end=None), 2)))
    net.add(nn.Dense(4))
    return net


class Gated(gluon.HybridBlock):
    """WaveNet's unit."""

    def __init__(self, width, dilation):
        super().__init__()
        self.filter = nn.Conv1D(width, 2, dilation=dilation, padding=dilation)
        self.gate = nn.Conv1D(width, 2, dilation=dilation, padding=dilation)
        self.skip, self.out, self.behind = nn.Conv1D(width, 1), nn.Conv1D(width, 1), dilation

    def hybrid_forward(self, F, x):
        y = F.tanh(self.filter(x)) * F.sigmoid(self.gate(x))
        y = F.slice_axis(y, axis=2, begin=0, end=-self.behind)
        return x + self.out(y), self.skip(y)


class Wave(gluon.HybridBlock):
    """A stack of gated units whose skips are summed."""

    def __init__(self, width=8):
        super().__init__()
        self.first, self.units = nn.Conv1D(width, 1), nn.HybridSequential()
        for power in range(3):
            self.units.add(Gated(width, 2**power))
        self.out = nn.Conv1D(10, 1)

    def hybrid_forward(self, F, x):
        x, skips = self.first(x), []
        for unit in self.units:
            x, skip = unit(x)
            skips.append(skip)
        return F.log_softmax(self.out(F.relu(F.add_n(*skips))), axis=1)


class Sound(gluon.HybridBlock):
    """wav2vec's encoder: strided 1-D convolutions, group normalisation, convolutional positions."""

    def __init__(self, width=16):
        super().__init__()
        self.features = nn.HybridSequential()
        self.features.add(nn.Conv1D(width, 10, 5, use_bias=False), nn.GroupNorm(width), nn.GELU())
        for kernel in (3, 3, 2):
            self.features.add(nn.Conv1D(width, kernel, 2, use_bias=False), nn.GELU())
        self.norm, self.project = nn.LayerNorm(), nn.Dense(width, flatten=False)
        self.place = nn.Conv1D(width, 4, padding=2, groups=4)

    def hybrid_forward(self, F, x):
        y = self.project(self.norm(F.transpose(self.features(x), axes=(0, 2, 1))))
        place = self.place(F.transpose(y, axes=(0, 2, 1)))
        place = F.slice_axis(place, axis=2, begin=0, end=-1)
        return y + F.transpose(F.LeakyReLU(place, act_type="gelu"), axes=(0, 2, 1))


class Moving(gluon.HybridBlock):
    """A convolutional LSTM over frames."""

    def __init__(self):
        super().__init__()
        self.cell = contrib.rnn.Conv2DLSTMCell((2, 8, 8), 4, 3, 3, i2h_pad=1)
        self.out = nn.Conv2D(1, 1)

    def hybrid_forward(self, F, frames):
        states = [F.zeros((2, 4, 8, 8)), F.zeros((2, 4, 8, 8))]
        y, _ = self.cell.unroll(3, frames, begin_state=states, layout="NTC", merge_outputs=False)
        return self.out(y[-1])


class Tagger(gluon.HybridBlock):
    """A bidirectional layer by sequence reversal, with masked padding."""

    def __init__(self, words=40, units=8):
        super().__init__()
        self.embed = nn.Embedding(words, units)
        self.there, self.back = rnn.LSTM(units), rnn.LSTM(units)
        self.out = nn.Dense(5, flatten=False)

    def hybrid_forward(self, F, words, lengths):
        x = F.transpose(self.embed(words), axes=(1, 0, 2))
        transposed = F.SequenceReverse(x, lengths, use_sequence_length=True)
        back = F.SequenceReverse(self.back(transposed), lengths, use_sequence_length=True)
        y = F.SequenceMask(F.concat(self.there(x), back, dim=2), lengths, use_sequence_length=True)
        last = F.SequenceLast(y, lengths, use_sequence_length=True)
        return F.argmax(self.out(y), axis=2), self.out(last)


class Sentences(gluon.HybridBlock):
    """Kim's sentence classifier: several widths of convolutions over words, max-pooled."""

    def __init__(self, words=40, units=12):
        super().__init__()
        self.embed, self.parts = nn.Embedding(words, units), nn.HybridSequential()
        for kernel in (2, 3, 4):
            self.parts.add(nn.Conv1D(6, kernel, activation="relu"))
        self.drop, self.out = nn.Dropout(0.5), nn.Dense(3)

    def hybrid_forward(self, F, words):
        x = F.transpose(self.embed(words), axes=(0, 2, 1))
        return self.out(self.drop(F.concat(*[F.max(p(x), axis=2) for p in self.parts], dim=1)))


_IDS, _FREE = ("ids", 20), "N"
#: name -> (factory, shapes of inputs, dynamic dimensions, other shapes, input distribution)
CASES = {
    "bert": (small_bert, [(2, 7), (2, 7), (2,)], [("N", "T"), ("N", "T"), ("N",)],
             [(3, 9), (3, 9), (3,)], (50, 2, 7)),
    "gpt2": (Generator, [(2, 6)], None, None, (50,)),
    "language_model": (Words, [(5, 2), (2, 2, 32), (2, 2, 32)],
                       [("T", "N"), (2, "N", 32), (2, "N", 32)],
                       [(7, 3), (2, 3, 32), (2, 3, 32)], (200, 0, 0)),
    "translator": (Translator, [(2, 6), (2, 5)], [("N", "S"), ("N", 5)], [(3, 4), (3, 5)],
                   (40, 40)),
    "transformer": (Transformer, [(2, 6), (2, 5)], [("N", "S"), ("N", "T")], [(3, 7), (3, 4)],
                    (40, 40)),
    "temporal_convolutions": (temporal, [(2, 3, 20)], [("N", 3, "T")], [(3, 3, 30)], None),
    "wavenet": (Wave, [(1, 1, 24)], [("N", 1, "T")], [(2, 1, 40)], None),
    "wav2vec": (Sound, [(1, 1, 400)], [("N", 1, "T")], [(2, 1, 520)], None),
    "convolutional_lstm": (Moving, [(2, 3, 2, 8, 8)], None, None, None),
    "tagger": (Tagger, [(3, 6), (3,)], [("N", "T"), ("N",)], [(2, 8), (2,)], (40, 6)),
    "sentences": (Sentences, [(2, 9)], [("N", "T")], [(4, 12)], (40,)),
}  # fmt: skip
