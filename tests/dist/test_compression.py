"""Compressed sums over processes: MXNet's bit layout, exact sums, few bytes sent."""

import os

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.reductions import CompressedAllReduce
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="one front is enough"
)


def test_bits():
    """The first element is in the highest bits of the first byte; parts consist of whole words."""
    two, one = Levels("2bit", 0.5), Levels("1bit", 0.5)
    assert two.pack(np.array([0.5, -0.5, 0, 0], np.float32)).tolist() == [0xE0, 0, 0, 0]
    assert two.pack(np.array([0.5, -0.5, 0, 0.5], np.float32)).tolist() == [0xE3, 0, 0, 0]
    assert one.pack(np.array([1, -1, -1, -1], np.float32)).tolist() == [0x80, 0, 0, 0]
    assert [two.bytes_of(n) for n in (0, 1, 16, 17)] == [0, 4, 4, 8]
    assert [one.bytes_of(n) for n in (0, 1, 32, 33)] == [0, 4, 4, 8]


@pytest.mark.parametrize("kind", ["1bit", "2bit"])
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 33, 1000])
def test_packing_and_back(kind, size):
    draw, levels = np.random.RandomState(size), Levels(kind, 0.3)
    values = np.array([-1, 1], np.float32)
    if kind == "2bit":
        values = np.array([-1, 0, 1], np.float32) * np.float32(0.3)
    array = draw.choice(values, size)
    packed = levels.pack(array)
    assert packed.nbytes == levels.bytes_of(size)
    assert levels.unpack(packed, size).tolist() == array.tolist()


@pytest.mark.parametrize("kind", ["1bit", "2bit"])
@pytest.mark.parametrize("size", [0, 1, 31, 5000])
def test_rounding(kind, size):
    """Levels and residuals have the same bits as those of elementwise operations."""
    draw, levels = np.random.RandomState(size), Levels(kind, 0.3)
    threshold, lost = np.float32(0.3), np.zeros(size, np.float32)
    expected_lost, packed = lost.copy(), np.empty(levels.bytes_of(size), np.uint8)
    for _ in range(3):
        gradient = draw.uniform(-1, 1, size).astype(np.float32)
        gradient[::7] = draw.choice([np.nan, np.inf, -np.inf, 0.3, -0.3], gradient[::7].size)
        levels.round(gradient, lost, packed)
        with np.errstate(invalid="ignore"):
            wanted = gradient + expected_lost
            if kind == "1bit":
                sent = np.where(wanted > threshold, np.float32(1), np.float32(-1))
            else:
                up, down = wanted >= threshold, wanted <= -threshold
                sent = (up.astype(np.float32) - down) * threshold
            expected_lost = wanted - sent
        np.testing.assert_array_equal(levels.unpack(packed, size), sent)
        np.testing.assert_array_equal(lost, expected_lost)


@pytest.mark.parametrize("kind", ["1bit", "2bit"])
@pytest.mark.parametrize("ranks", [127, 300])
def test_sums_over_many_ranks(kind, ranks):
    """They are multiples of the threshold, also where they exceed a byte."""
    levels, array = Levels(kind, 0.3), np.full(37, 1 if kind == "1bit" else 0.3, np.float32)
    array[5:9] *= -1
    total, values = levels.sum([levels.pack(array)] * ranks, 37), np.empty(37, np.float32)
    levels.scale(total, values)
    assert total.itemsize == (1 if ranks == 127 else 2)
    assert values.tolist() == (array * np.float32(ranks)).tolist()


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("seed", [None, 1])
def test_sums_of_all_ranks(size, seed):
    lengths = {"a": 3, "b": 100, "c": 5000}
    threshold = np.float32(0.3)
    levels = Levels("2bit", threshold)

    def pushed(rank, key, step):
        draw = np.random.RandomState(rank * 100 + step)
        return draw.choice(np.array([-threshold, 0, threshold], np.float32), lengths[key])

    def program(rank):
        rank.init(**{key: np.zeros(length, np.float32) for key, length in lengths.items()})
        for step in range(3):
            for key in "abc" if rank.rank else "cab":
                rank.push(key, levels.pack(pushed(rank.rank, key, step)))
        for key in lengths:
            rank.pull(key)
        return rank.values, sum(bucket["bytes"] for bucket in rank.exchange.stats())

    def way(world):
        return CompressedAllReduce(levels)

    for result in run(size, program, bound=4096, seed=seed, way=way):
        values, sent = result
        for key in lengths:
            for step, total in enumerate(values[key]):
                expected = pushed(0, key, step)
                for rank in range(1, size):
                    expected = expected + pushed(rank, key, step)
                assert total.tolist() == expected.tolist()
        assert sent < 3 * 4 * sum(lengths.values()) / 15 + 200


#: what one worker sends for the gradient [.6, -.7, .2, .3] in successive pushes
_TWO_BITS = [[0.5, -0.5, 0, 0], [0.5, -0.5, 0, 0.5], [0.5, -0.5, 0.5, 0]]


@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_a_store_of_one_worker(kind):
    store, out = mx.kv.create(kind), mx.nd.zeros(4)
    store.init("plain", out)
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init(["w", "half"], [mx.nd.array([0.1, 7, 3, 4]), mx.nd.zeros(2, dtype="float16")])
    store.pull("w", out)
    assert out.asnumpy().tolist() == [np.float32(0.1), 7, 3, 4]  # initial values are not compressed
    store._set_updater(lambda key, pushed, stored: pushed.copyto(stored))
    gradient = mx.nd.array([0.6, -0.7, 0.2, 0.3])
    for expected in _TWO_BITS:
        store.push("w", gradient)
        store.pull("w", out)
        assert out.asnumpy().tolist() == expected
    store.push("plain", gradient)
    store.pull("plain", out)
    assert (out.asnumpy() == gradient.asnumpy()).all()
    with pytest.raises(mx.MXNetError, match="takes float32, not float16"):
        store.push("half", mx.nd.ones(2, dtype="float16"))


_PROGRAM = r"""
import mxcy as mx, numpy as np
from mxcy import autograd, gluon
store = mx.kv.create(KIND)
rank, size = store.rank, store.num_workers
t = np.float32(0.25)
store.set_gradient_compression({"type": TYPE, "threshold": float(t)})
lengths = {"a": (3,), "b": (50, 7), "c": (20000,)}
store.init(list(lengths), [mx.nd.zeros(shape) for shape in lengths.values()])
if "async" in KIND:
    store.set_optimizer(mx.optimizer.SGD(learning_rate=-1))
def pushed(of, key, step):
    return np.random.RandomState(of * 10 + step).uniform(-1, 1, lengths[key]).astype("float32")
lost = {(of, key): np.zeros(lengths[key], "float32") for of in range(size) for key in lengths}
total = {key: np.zeros(lengths[key], "float32") for key in lengths}
for step in range(4):
    for key in lengths:
        store.push(key, mx.nd.array(pushed(rank, key, step)))
        summed = None
        for of in range(size):
            wanted = pushed(of, key, step) + lost[of, key]
            if TYPE == "2bit":
                sent = ((wanted >= t) * t - (wanted <= -t) * t).astype("float32")
            else:
                sent = np.where(wanted > t, np.float32(1), np.float32(-1))
            lost[of, key] = wanted - sent
            summed = sent if summed is None else summed + sent
        total[key] = total[key] + summed if "async" in KIND else summed
    for key in lengths if "async" not in KIND else ():
        out = mx.nd.zeros(lengths[key])
        store.pull(key, out)
        assert (out.asnumpy() == total[key]).all(), key
if "async" in KIND:
    store._settle()
    store._barrier()
    for key in lengths:
        out = mx.nd.zeros(lengths[key])
        store.pull(key, out)
        np.testing.assert_array_equal(out.asnumpy(), total[key])
    sent = store.stats()["pushed_bytes"]
else:
    sent = sum(bucket["bytes"] for bucket in store.stats()["buckets"])
plain = 4 * 4 * (3 + 350 + 20000)
assert sent < plain / (15 if TYPE == "2bit" else 30), (sent, plain)
if "async" not in KIND:
    mx.random.seed(5)
    net = gluon.nn.Dense(3, in_units=40)
    net.initialize(mx.init.Xavier())
    settings = {"learning_rate": 0.1}
    compression = {"type": TYPE, "threshold": 0.2}
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", settings, kvstore=KIND, compression_params=compression
    )
    first = None
    for step in range(30):
        x = mx.nd.array(np.random.RandomState(rank).randn(8, 40))
        with autograd.record():
            loss = ((net(x) - 1) ** 2).mean()
        loss.backward()
        trainer.step(size)
        first = first or loss.asscalar()
    if TYPE == "2bit":
        assert loss.asscalar() < 0.7 * first, (first, loss.asscalar())
    weight = net.weight.data()
    store.init("check", weight)
    same = weight.copy()
    store.pull("check", same)
    assert (same.asnumpy() == weight.asnumpy()).all()
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("kind, type", [("dist_sync", "2bit"), ("dist_async", "2bit")])
def test_processes(kind, type):
    code = _PROGRAM.replace("KIND", repr(kind)).replace("TYPE", repr(type))
    ended = job(3 if kind == "dist_sync" else 2, code, servers=int("async" in kind))
    assert set(ended.lines) == {"right"} and ended.code == 0, ended.err


@needs_mpi
@pytest.mark.dist_long
def test_one_bit_in_processes():
    code = _PROGRAM.replace("KIND", "'dist_sync'").replace("TYPE", "'1bit'")
    ended = job(2, code)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


@needs_mpi
@pytest.mark.dist_long
def test_settings_that_differ():
    code = """
import mxcy as mx
store = mx.kv.create("dist_sync")
store.set_gradient_compression({"type": "2bit", "threshold": 1.0 + store.rank})
"""
    ended = job(2, code)
    assert ended.code != 0 and "the workers' settings differ" in ended.err
