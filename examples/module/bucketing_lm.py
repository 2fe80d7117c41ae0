"""Train a small recurrent language model with sentences of different lengths in buckets.

The recurrent cell is built from symbols: h = tanh(W x + U h' + b). The text is the license of this
repository.
"""

import argparse
import logging
import re
from pathlib import Path

import numpy as np
from tqdm import tqdm

import mxcy as mx

TEXT = Path(__file__).resolve().parents[2] / "LICENSE"
BUCKETS = (8, 16, 24, 32)
PADDING = 0  # pads sentences to the bucket's length; not a word


def read_sentences(path):
    """Return the sentences as lists of word indices from 1, and the number of words."""
    sentences, numbers = [], {}
    for text in re.split(r"[.;:]\s", Path(path).read_text().lower()):
        words = re.findall(r"[a-z]+", text)
        if len(words) > 1:
            sentences.append([numbers.setdefault(word, len(numbers) + 1) for word in words])
    return sentences, len(numbers) + 1


class BucketIter(mx.io.DataIter):
    """Batches of sentences of similar length; labels are the next words."""

    def __init__(self, sentences, batch_size, batches=None):
        super().__init__(batch_size)
        self.batches = batches  # per epoch; all by default
        self.default_bucket_key = max(BUCKETS)
        self.buckets = {}
        for length in BUCKETS:
            shorter = max([b for b in BUCKETS if b < length], default=0)
            rows = [s[: length + 1] for s in sentences if shorter < len(s) - 1 <= length]
            if length == max(BUCKETS):
                rows += [s[: length + 1] for s in sentences if len(s) - 1 > length]
            table = np.full((len(rows), length + 1), PADDING, np.float32)
            for i, row in enumerate(rows):
                table[i, : len(row)] = row
            self.buckets[length] = table
        self.provide_data = self._describe("data", self.default_bucket_key)
        self.provide_label = self._describe("softmax_label", self.default_bucket_key)
        self.reset()

    def _describe(self, name, length):
        return [mx.io.DataDesc(name, (self.batch_size, length))]

    def reset(self):
        self.plan = []
        for length, table in self.buckets.items():
            np.random.shuffle(table)
            last = len(table) - self.batch_size
            self.plan += [(length, i) for i in range(0, last + 1, self.batch_size)]
        np.random.shuffle(self.plan)
        self.plan = self.plan[: self.batches]
        self.position = 0

    def next(self):
        if self.position == len(self.plan):
            raise StopIteration
        length, begin = map(int, self.plan[self.position])
        self.position += 1
        rows = self.buckets[length][begin : begin + self.batch_size]
        return mx.io.DataBatch(
            data=[mx.nd.array(rows[:, :-1])],
            label=[mx.nd.array(rows[:, 1:])],
            pad=0,
            bucket_key=length,
            provide_data=self._describe("data", length),
            provide_label=self._describe("softmax_label", length),
        )


def network(length, words, num_embed=32, num_hidden=64):
    """The network of one bucket: ``(symbol, data_names, label_names)``."""
    data, label = mx.sym.var("data"), mx.sym.var("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=words, output_dim=num_embed, name="embed")
    inputs = mx.sym.SliceChannel(data=embed, num_outputs=length, axis=1, squeeze_axis=True)
    weights = {name: mx.sym.var(name) for name in ("i2h_weight", "i2h_bias", "h2h_weight")}
    hidden, states = None, []
    for i in range(length):
        total = mx.sym.FullyConnected(
            data=inputs[i],
            weight=weights["i2h_weight"],
            bias=weights["i2h_bias"],
            num_hidden=num_hidden,
            name=f"t{i}_i2h",
        )
        if hidden is not None:
            total = total + mx.sym.FullyConnected(
                data=hidden,
                weight=weights["h2h_weight"],
                no_bias=True,
                num_hidden=num_hidden,
                name=f"t{i}_h2h",
            )
        hidden = mx.sym.Activation(data=total, act_type="tanh", name=f"t{i}_out")
        states.append(mx.sym.expand_dims(hidden, axis=1))
    outputs = mx.sym.Concat(*states, dim=1)
    flat = mx.sym.Reshape(data=outputs, shape=(-1, num_hidden))
    scores = mx.sym.FullyConnected(data=flat, num_hidden=words, name="pred")
    softmax = mx.sym.SoftmaxOutput(
        data=scores,
        label=mx.sym.Reshape(data=label, shape=(-1,)),
        use_ignore=True,
        ignore_label=PADDING,
        normalization="valid",
        name="softmax",
    )
    return softmax, ("data",), ("softmax_label",)


def main(arguments=None):
    """Train, and return the perplexity of each batch and over all of the last epoch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batches", type=int, help="batches per epoch; all by default")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--text", type=Path, default=TEXT)
    options = parser.parse_args(arguments)
    if not options.text.is_file():
        parser.error(f"--text: there is no file {options.text}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    mx.random.seed(1)  # initial weights
    np.random.seed(1)  # order of the sentences

    sentences, words = read_sentences(options.text)
    train_iter = BucketIter(sentences, options.batch_size, options.batches)

    perplexities = []

    def keep_perplexity(param):
        perplexities.append(param.eval_metric.get()[1])
        param.eval_metric.reset_local()
        bar.update()

    mod = mx.mod.BucketingModule(
        sym_gen=lambda length: network(length, words),
        default_bucket_key=train_iter.default_bucket_key,
    )
    with tqdm(unit=" batches", disable=None) as bar:
        mod.fit(
            train_iter,
            eval_metric=mx.metric.Perplexity(ignore_label=PADDING),
            optimizer="adam",
            # the loss is already divided by the number of words
            optimizer_params={"learning_rate": 0.01, "rescale_grad": 1.0, "clip_gradient": 1.0},
            initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
            batch_end_callback=keep_perplexity,
            num_epoch=options.epochs,
        )
    ((_, final),) = mod.score(train_iter, mx.metric.Perplexity(ignore_label=PADDING))
    return perplexities, final


if __name__ == "__main__":
    print(f"perplexity over the text: {main()[1]:.1f}")
