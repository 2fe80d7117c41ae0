"""Train a character-level LSTM language model on Python's manual.

The text is the help on Python's statements and types, which is part of every Python
(``pydoc_data.topics``, about 700,000 characters); one in twenty is held out. Run
``python examples/gluon/char_lstm.py``; ``--help`` lists the options. With ``import mxnet as mx``
instead of mxcy, the program runs on MXNet 1.9.1.

After every epoch it prints the perplexity of the held-out text: the equivalent number of equally
likely characters, out of more than 90. With ``--dropout 0`` MXNet 1.9.1 reaches the same from the
same seed.
"""

import argparse
import math
from pydoc_data import topics

import numpy as np
from tqdm import tqdm

import mxcy as mx


def read_text():
    """Return the manual as one string."""
    return "\n".join(topics.topics[name] for name in sorted(topics.topics))


class CharModel(mx.gluon.HybridBlock):
    """Maps character indices (steps, batch) to logits of the next ones (steps, batch, symbols)."""

    def __init__(self, symbols, units, layers, dropout):
        super().__init__()
        with self.name_scope():
            self.embedding = mx.gluon.nn.Embedding(symbols, 64)
            self.lstm = mx.gluon.rnn.LSTM(units, layers, dropout=dropout, input_size=64)
            self.dense = mx.gluon.nn.Dense(symbols, flatten=False, in_units=units)

    def hybrid_forward(self, F, numbers, hidden, cell):
        out, (hidden, cell) = self.lstm(self.embedding(numbers), [hidden, cell])
        return self.dense(out), hidden, cell

    def begin(self, batch):
        """Initial states."""
        return self.lstm.begin_state(batch)


def pieces(numbers, batch, steps):
    """Yield (characters, next characters), each (steps, batch), from `batch` parallel texts."""
    length = (len(numbers) - 1) // batch
    source = numbers[: length * batch].reshape(batch, length).T
    target = numbers[1 : length * batch + 1].reshape(batch, length).T
    for first in range(0, length - steps + 1, steps):
        yield source[first : first + steps], target[first : first + steps]


def train_epoch(model, trainer, numbers, args, bar):
    """Train on the text once, carrying states from piece to piece."""
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    states = model.begin(args.batch_size)
    parameters = [p for p in model.collect_params().values() if p.grad_req != "null"]
    for source, target in pieces(numbers, args.batch_size, args.steps):
        source, target = mx.nd.array(source), mx.nd.array(target)
        states = [state.detach() for state in states]
        with mx.autograd.record():
            scores, *states = model(source, *states)
            loss = loss_of(scores.reshape((-3, 0)), target.reshape((-1,))).mean()
        loss.backward()
        mx.gluon.utils.clip_global_norm([p.grad() for p in parameters], 1.0)
        trainer.step(1)
        bar.set_postfix_str(f"perplexity {math.exp(float(loss.asscalar())):.2f}", False)
        bar.update(source.size)


def perplexity(model, numbers, args):
    """Perplexity of a text per character."""
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    states, losses = model.begin(10), []
    for source, target in pieces(numbers, 10, args.steps):
        scores, *states = model(mx.nd.array(source), *states)
        losses.append(loss_of(scores.reshape((-3, 0)), mx.nd.array(target).reshape((-1,))).mean())
    return math.exp(np.mean([float(loss.asscalar()) for loss in losses]))


def write(model, symbols, start, length, rng):
    """Continue `start` by `length` characters, sampled from the model."""
    number_of = {symbol: number for number, symbol in enumerate(symbols)}
    states, text = model.begin(1), list(start)
    seen = np.array([[number_of[symbol]] for symbol in start], "float32")
    for _ in range(length):
        scores, *states = model(mx.nd.array(seen), *states)
        chances = scores[-1, 0].softmax().asnumpy().astype("float64")
        drawn = rng.choice(len(symbols), p=chances / chances.sum())
        text.append(symbols[drawn])
        seen = np.array([[drawn]], "float32")
    return "".join(text)


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=64, help="characters per piece")
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--characters", type=int, help="number of characters to train on")
    options = parser.parse_args(arguments)
    least = 20 * (options.steps + 1)  # the held-out twentieth must fill a piece
    if options.characters is not None and options.characters < least:
        parser.error(f"--characters: expected at least {least} for pieces of {options.steps}")
    return options


def main(arguments=None):
    """Train, print the perplexity of held-out text, generate some text; return the perplexity."""
    args = parse(arguments)
    mx.random.seed(args.seed)
    text = read_text()[: args.characters]
    symbols = sorted(set(text))
    number_of = {symbol: number for number, symbol in enumerate(symbols)}
    numbers = np.array([number_of[symbol] for symbol in text], "float32")
    border = len(numbers) * 19 // 20
    learned, held_out = numbers[:border], numbers[border:]

    model = CharModel(len(symbols), args.units, args.layers, args.dropout)
    model.initialize(mx.init.Xavier())
    model.hybridize()
    trainer = mx.gluon.Trainer(
        model.collect_params(), "adam", {"learning_rate": args.learning_rate}
    )
    best = math.inf
    for epoch in range(args.epochs):
        with tqdm(total=len(learned), unit=" characters", unit_scale=True, disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(model, trainer, learned, args, bar)
        best = perplexity(model, held_out, args)
        print(f"perplexity of the held-out text {best:.2f}")
    print(write(model, symbols, "The ", 400, np.random.default_rng(args.seed)))
    return best


if __name__ == "__main__":
    main()
