"""Train a small character-level transformer on Python's manual.

The text is the help on Python's statements and types, which is part of every Python
(``pydoc_data.topics``, about 700,000 characters); one in twenty is held out. Run
``python examples/numpy/transformer_text.py``; ``--help`` lists the options.

The network is plain code on `mx.np` arrays: causal multi-head attention, layer normalization, and
learned positions. The first call is traced to a graph; other lengths get their own graphs, with
shared parameters. After every epoch it prints the perplexity of the held-out text: the equivalent
number of equally likely characters, out of more than 90.
"""

import argparse
import math
from pydoc_data import topics

from tqdm import tqdm

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.gluon import nn


def read_text():
    """Return the manual as one string."""
    return "\n".join(topics.topics[name] for name in sorted(topics.topics))


class Attention(nn.HybridBlock):
    """Causal multi-head self-attention."""

    def __init__(self, units, heads, dropout, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.scale = heads, 1 / math.sqrt(units // heads)
        self.asked = nn.Dense(3 * units, flatten=False, in_units=units)
        self.out = nn.Dense(units, flatten=False, in_units=units)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, steps, units = x.shape
        parts = self.asked(x).reshape(batch, steps, 3, self.heads, units // self.heads)
        query, key, value = parts.transpose(2, 0, 3, 1, 4)
        scores = np.matmul(query, key.swapaxes(-1, -2)) * self.scale
        later = np.triu(np.ones((steps, steps)), 1) * -1e9
        weights = self.dropout(npx.softmax(scores + later, axis=-1))
        seen = np.matmul(weights, value).transpose(0, 2, 1, 3)
        return self.out(seen.reshape(batch, steps, units))


class Layer(nn.HybridBlock):
    """Transformer layer: attention and a feed-forward network, with residual connections."""

    def __init__(self, units, heads, dropout, **kwargs):
        super().__init__(**kwargs)
        self.look, self.think = nn.LayerNorm(in_channels=units), nn.LayerNorm(in_channels=units)
        self.attention = Attention(units, heads, dropout)
        self.wide = nn.Dense(4 * units, flatten=False, in_units=units)
        self.narrow = nn.Dense(units, flatten=False, in_units=4 * units)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.look(x)))
        return x + self.dropout(
            self.narrow(npx.leaky_relu(self.wide(self.think(x)), act_type="gelu"))
        )


class Transformer(nn.HybridBlock):
    """Maps character indices (batch, steps) to logits of the next ones (batch, steps, symbols)."""

    def __init__(self, symbols, args, **kwargs):
        super().__init__(**kwargs)
        self.longest = args.steps
        self.symbols = nn.Embedding(symbols, args.units)
        self.places = gluon.Parameter("places", shape=(args.steps, args.units))
        self.layers = nn.HybridSequential()
        for _ in range(args.layers):
            self.layers.add(Layer(args.units, args.heads, args.dropout))
        self.norm = nn.LayerNorm(in_channels=args.units)
        self.scores = nn.Dense(symbols, flatten=False, in_units=args.units)

    def forward(self, numbers):
        x = self.symbols(numbers) + self.places.data()[: numbers.shape[1]]
        return self.scores(self.norm(self.layers(x)))


def draw_batch(numbers, batch, steps):
    """Draw random pieces of a text, and their next characters."""
    starts = np.random.randint(0, len(numbers) - steps - 1, (batch, 1))
    places = starts + np.arange(steps, dtype="int64")
    return numbers[places], numbers[places + 1]


def train_epoch(net, trainer, numbers, args, bar):
    """Train on as many pieces as the text has."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    parameters = list(net.collect_params().values())
    for _ in range(max(1, len(numbers) // (args.batch_size * args.steps))):
        source, target = draw_batch(numbers, args.batch_size, args.steps)
        with autograd.record():
            loss = loss_of(net(source), target).mean()
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in parameters], 1.0)
        trainer.step(1)
        bar.set_postfix_str(f"perplexity {math.exp(loss.item()):.2f}", False)
        bar.update(source.size)


def perplexity(net, numbers, args):
    """Perplexity of a text per character."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    count = (len(numbers) - 1) // args.steps
    source = numbers[: count * args.steps].reshape(count, args.steps)
    target = numbers[1 : count * args.steps + 1].reshape(count, args.steps)
    losses = [
        loss_of(net(source[i : i + 16]), target[i : i + 16]).sum()  # of means over steps
        for i in range(0, count, 16)
    ]
    return math.exp((sum(losses) / count).item())


def write(net, symbols, start, length):
    """Continue `start` by `length` characters, sampled from the network."""
    seen = [symbols.index(symbol) for symbol in start]
    for _ in range(length):
        last = seen[-net.longest :]
        row = last + [0] * (net.longest - len(last))  # fixed length, to use a single graph
        scores = net(np.array([row], dtype="int32"))[0, len(last) - 1]
        noise = np.random.gumbel(size=scores.shape)  # the argmax samples the softmax
        seen.append(int((scores + noise).argmax()))
    return "".join(symbols[number] for number in seen)


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--steps", type=int, default=96, help="characters per piece")
    parser.add_argument("--units", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--characters", type=int, help="number of characters to train on")
    parser.add_argument("--write", type=int, default=300, help="characters to write at the end")
    options = parser.parse_args(arguments)
    least = 20 * (options.steps + 1)  # the held-out twentieth must fill a piece
    if options.characters is not None and options.characters < least:
        parser.error(f"--characters: expected at least {least} for pieces of {options.steps}")
    if options.units % options.heads:
        parser.error(f"--units: {options.units} is not a multiple of --heads, {options.heads}")
    return options


def main(arguments=None):
    """Train, print the perplexity of held-out text, generate some text; return the perplexity."""
    args = parse(arguments)
    npx.set_np()
    mx.random.seed(args.seed)
    text = read_text()[: args.characters]
    symbols = sorted(set(text))
    number_of = {symbol: number for number, symbol in enumerate(symbols)}
    numbers = np.array([number_of[symbol] for symbol in text], dtype="int32")
    border = len(numbers) * 19 // 20
    learned, held_out = numbers[:border], numbers[border:]

    net = Transformer(len(symbols), args)
    net.initialize(mx.init.Normal(0.02))
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adamw", {"learning_rate": args.learning_rate})
    best = math.inf
    for epoch in range(args.epochs):
        trainer.set_learning_rate(args.learning_rate * (1 - epoch / (args.epochs + 1)))
        with tqdm(total=len(learned), unit=" characters", unit_scale=True, disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(net, trainer, learned, args, bar)
        best = perplexity(net, held_out, args)
        print(f"perplexity of the held-out text {best:.2f}")
    print(write(net, symbols, "The ", args.write))
    return best


if __name__ == "__main__":
    main()
