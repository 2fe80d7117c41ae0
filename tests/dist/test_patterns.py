"""Programs written for MXNet give the same weights in two processes as in one.

The programs in ``patterns`` ``import mxnet`` and run with ``python -m mxcy.compat``.
"""

import struct
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.examples.train_mnist import load_digits
from tests.dist.jobs import job, needs_mpi
from tests.env.run import python

_PATTERNS = Path(__file__).parent / "patterns"
_NO_MIRROR = {"MXNET_GLUON_REPO": "file:///nowhere/"}


def _write_cifar(folder):
    """Write ten classes of noisy waves as five CIFAR-10 files."""
    draw = np.random.RandomState(0)
    rows, columns = np.mgrid[:32, :32] / 32
    for part in range(1, 6):
        records = []
        for number in range(26):
            kind = number % 10
            wave = np.sin(2 * np.pi * ((kind % 5 + 1) * rows + (kind // 5 + 1) * columns))
            planes = 128 + 70 * wave * np.array([1, 0.7, 0.4])[:, None, None]
            planes = planes + draw.randn(3, 32, 32) * 20
            records.append(bytes([kind]) + np.clip(planes, 0, 255).astype(np.uint8).tobytes())
        (folder / f"data_batch_{part}.bin").write_bytes(b"".join(records))


def _write_digits(folder):
    """Write real digits as MNIST files."""
    for name, (images, digits) in zip(("train", "t10k"), load_digits(), strict=True):
        images, digits = images[:128], digits[:128]
        head = struct.pack(">IIII", 2051, len(images), 28, 28)
        octets = np.round(images * 255).astype(np.uint8).tobytes()
        (folder / f"{name}-images-idx3-ubyte").write_bytes(head + octets)
        labels = struct.pack(">II", 2049, len(digits)) + digits.astype(np.uint8).tobytes()
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(labels)


def _two(name, *arguments, **variables):
    """Run a program unchanged, in two processes."""
    command = ["-m", "mxcy.compat", str(_PATTERNS / name), *map(str, arguments)]
    ended = job(2, command, timeout=150, **_NO_MIRROR, **variables)
    assert ended.code == 0, ended.err
    return ended


def _alone(code, *arguments):
    """Run the equivalent in one process, with functions of the programs."""
    start = f"import sys; sys.path.insert(0, {str(_PATTERNS)!r})\n"
    start += "import mxcy.compat; mxcy.compat.install(replace=True)\n" + _BOTH
    python(start + code, *map(str, arguments), timeout=150, **_NO_MIRROR)


def _compare(first, second):
    first, second = mx.nd.load(str(first)), mx.nd.load(str(second))
    assert first.keys() == second.keys() and first
    for name in first:
        a, b = first[name].asnumpy(), second[name].asnumpy()
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)


#: the batches of both processes together
_BOTH = """
import random
import mxnet as mx
class Both:
    def __init__(self, *parts):
        self.parts = parts
        self.batch_size = sum(part.batch_size for part in parts)
        self.provide_data = list(map(self.doubled, parts[0].provide_data))
        self.provide_label = list(map(self.doubled, parts[0].provide_label))
    @staticmethod
    def doubled(described):
        name, shape = described[:2]
        return name, (2 * shape[0], *shape[1:])
    def reset(self):
        for part in self.parts:
            part.reset()
    def __iter__(self):
        for batches in zip(*self.parts):
            data = mx.nd.concat(*[batch.data[0] for batch in batches], dim=0)
            label = mx.nd.concat(*[batch.label[0] for batch in batches], dim=0)
            yield mx.io.DataBatch([data], [label], pad=0)
"""

_CIFAR = """
import cifar10_dist as pattern
arguments = pattern.options()
contexts = [mx.cpu(0)]
mx.random.seed(0)
net = pattern.network(contexts)
settings = {"learning_rate": 0.002}
trainer = pattern.gluon.Trainer(net.collect_params(), "adam", settings, kvstore=None)
loaders = [pattern.loader(arguments.root, arguments.batch_size, 2, i) for i in range(2)]
states = []
for number in range(2):
    random.seed(number)
    states.append(random.getstate())
for epoch in range(arguments.epochs):
    kept = []
    for again in range(2):  # to learn from, and to see how well
        for number in range(2):
            random.setstate(states[number])
            batches = list(loaders[number])
            states[number] = random.getstate()
            if not again:
                kept.append(batches)
    together = [[mx.nd.concat(a, b, dim=0) for a, b in zip(*two)] for two in zip(*kept)]
    pattern.train(net, contexts, together, trainer, arguments.batch_size)
net.save_parameters(arguments.save)
"""


@needs_mpi
def test_cifar10_with_gluon_and_a_sampler(tmp_path):
    _write_cifar(tmp_path)
    arguments = ("--root", tmp_path, "--save")
    ended = _two("cifar10_dist.py", *arguments, tmp_path / "two.params")
    told = [line for line in ended.lines if line.startswith("epoch")]
    assert len(told) == 4, ended.out
    _alone(_CIFAR, *arguments, tmp_path / "one.params")
    _compare(tmp_path / "two.params", tmp_path / "one.params")


_FIT = """
import argparse
import fit, train_mnist
class Part:
    def __init__(self, rank):
        self.rank, self.num_workers = rank, 2
def both(args, kv):
    args.batch_size //= 2
    parts = [train_mnist.get_mnist_iter(args, Part(rank)) for rank in range(2)]
    args.batch_size *= 2
    return Both(parts[0][0], parts[1][0]), None
args = train_mnist.options()
fit.fit(args, train_mnist.mlp(args.num_classes), both)
"""


@needs_mpi
@pytest.mark.parametrize("optimizer", ["sgd", pytest.param("adam", marks=pytest.mark.dist_long)])
def test_fit_with_a_store_that_the_command_line_names(tmp_path, optimizer):
    _write_digits(tmp_path)
    rate = "0.1" if optimizer == "sgd" else "0.005"
    arguments = ("--data-dir", tmp_path, "--optimizer", optimizer, "--lr", rate, "--model-prefix")
    _two("train_mnist.py", *arguments, tmp_path / "two", "--kv-store", "dist_sync")
    _alone(_FIT, *arguments, tmp_path / "one", "--batch-size", 32)
    _compare(tmp_path / "two-0002.params", tmp_path / "one-0002.params")
    _compare(tmp_path / "two-0002.params", tmp_path / "two-1-0002.params")


@needs_mpi
@pytest.mark.dist_long
def test_fit_goes_on_with_bits(tmp_path):
    """From a checkpoint, and with compression."""
    _write_digits(tmp_path)
    arguments = ("--data-dir", tmp_path, "--model-prefix", tmp_path / "two", "--kv-store")
    _two("train_mnist.py", *arguments, "dist_sync", "--num-epochs", "1")
    bits = ("--gc-type", "2bit", "--gc-threshold", "0.5", "--load-epoch", "1")
    _two("train_mnist.py", *arguments, "dist_sync", *bits)
    _compare(tmp_path / "two-0002.params", tmp_path / "two-1-0002.params")


_HOROVOD = """
import horovod_mnist as pattern
args = pattern.options()
mx.random.seed(0)
net = pattern.conv_net()
net.hybridize()
net.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2))
opt = mx.optimizer.create("sgd", learning_rate=args.lr, momentum=args.momentum)
trainer = pattern.gluon.Trainer(net.collect_params(), opt, kvstore=None)
parts = [pattern.get_mnist_iterator(args.data_dir, args.batch_size, 2, i) for i in range(2)]
pattern.train(net, trainer, Both(*parts), 2 * args.batch_size, args.epochs)
net.save_parameters(args.save)
"""


@needs_mpi
def test_digits_with_horovod(tmp_path):
    _write_digits(tmp_path)
    arguments = ("--data-dir", tmp_path, "--save")
    _two("horovod_mnist.py", *arguments, tmp_path / "two.params")
    _alone(_HOROVOD, *arguments, tmp_path / "one.params")
    _compare(tmp_path / "two.params", tmp_path / "one.params")


_BYTEPS = """
import byteps_mnist as pattern
args = pattern.options()
mx.random.seed(0)
net = pattern.conv_net()
net.initialize(mx.init.Xavier())
settings = {"learning_rate": 0.02, "momentum": 0.9}
trainer = pattern.gluon.Trainer(net.collect_params(), "sgd", settings, kvstore=None)
parts = [pattern.get_mnist_iterator(args.data_dir, args.batch_size, 2, i) for i in range(2)]
pattern.train(net, trainer, Both(*parts), 2 * args.batch_size, 2)
net.save_parameters(args.save)
"""


@needs_mpi
@pytest.mark.dist_long
def test_digits_with_the_store_of_byteps(tmp_path):
    _write_digits(tmp_path)
    arguments = ("--data-dir", tmp_path, "--save")
    _two("byteps_mnist.py", *arguments, tmp_path / "two.params")
    _alone(_BYTEPS, *arguments, tmp_path / "one.params")
    _compare(tmp_path / "two.params", tmp_path / "one.params")
