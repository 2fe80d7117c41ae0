"""Damaged optimizer states."""

import pickle
from pathlib import Path

import mxcy as mx
from tests.fuzz.damage import damaged, generator

COUNT = 2000
DATA = Path(__file__).resolve().parents[1] / "data"
_files = []
_GLUE = (b"b.", b"R.", b"\x81.", b"s.", b"u.", b"a.", b"\x85.", b"0.", b"2.", b"}b", b"N\x86b")
#: pickle opcodes with their arguments, combined in any order
_INSTRUCTIONS = (
    b"N",
    b"K\x00",
    b"K\x01",
    b"S'handle'\n",
    b"S'device_id'\n",
    b"S'lr'\n",
    b"C\x04abcd",
    b")",
    b"]",
    b"}",
    b"\x8f",
    b"(",
    b"t",
    b"l",
    b"d",
    b"e",
    b"u",
    b"\x90",
    b"\x91",
    b"a",
    b"s",
    b"\x85",
    b"\x86",
    b"\x87",
    b"0",
    b"1",
    b"2",
    b"R",
    b"\x81",
    b"\x92",
    b"b",
    b"\x94",
    b"h\x00",
    b"h\x01",
    b"q\x00",
    b"r\xff\xff\xff\x7f",
    b"cmxnet.ndarray\nNDArray\n",
    b"cmxcy.ndarray.state\nblank\n",
    b"cmxcy.context\nContext\n",
    b"cmxnet.optimizer\nSGD\n",
    b"cbuiltins\nset\n",
    b"cmxnet.ndarray.sparse\nCSRNDArray\n",
    b"cmxcy.lr_scheduler\nFactorScheduler\n",
    b"cbuiltins\nslice\n",
    b"cbuiltins\nbytes\n",
    b"cnumpy\ndtype\n",
    b"cnumpy\nndarray\n",
    b"cnumpy._core.multiarray\n_reconstruct\n",
    b"cnumpy._core.multiarray\nscalar\n",
    b"ccopyreg\n_reconstructor\n",
    b"cbuiltins\nobject\n",
    b"cnumpy\nfloat32\n",
)


def prepare():
    """Read real states, and write some in all protocols."""
    _files.extend((DATA / "params" / f"g_{n}.states").read_bytes() for n in ("19", "20"))
    rules = [mx.optimizer.SGD(momentum=0.9), mx.optimizer.Adam(), mx.optimizer.LAMB()]
    for rule in rules:
        rule.lr_scheduler = mx.lr_scheduler.FactorScheduler(10)
        updater = mx.optimizer.get_updater(rule)
        updater(0, mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
        _files.extend(pickle.dumps((updater.states, rule), n) for n in range(6))


def case(seed):
    """Set states; the updater then works, or keeps its old states."""
    rng = generator(seed)
    if rng.random() < 0.4:
        content = bytearray(b"".join(rng.choices(_INSTRUCTIONS, k=rng.randint(2, 30))) + b".")
    else:
        content = bytearray(damaged(rng.choice(_files), rng))
    if rng.random() < 0.3:
        place = rng.randrange(len(content) + 1)
        content[place : place + rng.randint(0, 3)] = rng.choice(_GLUE)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
    before, rule = updater.states, updater.optimizer
    try:
        updater.set_states(bytes(content))
    except mx.MXNetError:
        assert updater.states is before and updater.optimizer is rule
        return
    assert type(updater.states) is dict and isinstance(updater.optimizer, mx.optimizer.Optimizer)
    assert str(mx.cpu(1)) == "cpu(1)"
    pickle.dumps(updater.states)
