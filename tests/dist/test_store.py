"""A store over several processes as programs see it: in one process, and in three."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from tests.conditions import await_that
from tests.dist.jobs import job, needs_mpi
from tests.env.run import python


@pytest.fixture
def store():
    return mx.kv.create("dist_sync")


def test_kinds():
    for name in ("dist", "dist_sync", "Dist_Device_Sync", "dist_sync_device"):
        store = mx.kv.create(name)
        assert (store.type, store.rank, store.num_workers) == (name.lower(), 0, 1)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "bfloat16", "uint8", "int8", "int32", "int64"]
)
def test_push_and_pull_of_each_type(store, dtype):
    store.init(["a", "b"], [mx.nd.ones((2, 3), dtype=dtype), mx.nd.zeros((1,), dtype=dtype)])
    out = mx.nd.zeros((2, 3), dtype=dtype)
    store.pull("a", out)
    assert out.astype("float64").asnumpy().tolist() == [[1] * 3] * 2
    pushed = mx.nd.full((2, 3), 5, dtype=dtype)
    store.push("a", [pushed, pushed])
    store.pull("a", out)
    assert out.astype("float64").asnumpy().tolist() == [[10] * 3] * 2
    assert pushed.astype("float64").asnumpy().tolist() == [[5] * 3] * 2


def test_pushed_arrays_do_not_change(store):
    value, other = mx.nd.ones(3), mx.nd.zeros(3)
    store.init(0, mx.nd.zeros(3))
    store.pushpull(0, value * 1, out=other)
    store.push(0, value)
    value[:] = 7  # the push has its own copy
    store.pull(0, other)
    assert other.asnumpy().tolist() == [1, 1, 1]
    store.pushpull(0, value)
    assert value.asnumpy().tolist() == [7, 7, 7]


def test_keys(store):
    store.init(["", "ü" * 300], [mx.nd.zeros(1)] * 2)
    with pytest.raises(mx.MXNetError, match="duplicate init of key"):
        store.init("", mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="Mixed key types"):
        store.init(3, mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="key x has not been inited"):
        store.push("x", mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match="key x has not been inited"):
        store.pull("x", mx.nd.zeros(1))
    with pytest.raises(mx.MXNetError, match=r"shape \(1,\), got \(2,\)"):
        store.push("", mx.nd.zeros(2))
    numbered = mx.kv.create("dist")
    with pytest.raises(mx.MXNetError, match="expected 0 to 2147483647"):
        numbered.init(2**31, mx.nd.zeros(1))
    numbered.init(2**31 - 1, mx.nd.zeros(1))


def test_an_optimizer_in_the_store(store, tmp_path):
    """Its rate may change, another optimizer of its class keeps the states, files store them."""
    weight, gradient = np.ones(4, "float32"), np.arange(4, dtype="float32")
    momentum = np.zeros(4, "float32")
    store.init("w", mx.nd.array(weight))
    optimizer = mx.optimizer.SGD(learning_rate=0.5, momentum=0.5)
    store.set_optimizer(optimizer)
    out = mx.nd.zeros(4)
    for rate in (0.5, 0.25, 0.125):
        store._settle()
        if rate == 0.125:
            optimizer = mx.optimizer.SGD(learning_rate=1, momentum=0.5)
            store.set_optimizer(optimizer)
        optimizer.set_learning_rate(rate)
        store.push("w", mx.nd.array(gradient))
        momentum = 0.5 * momentum - rate * gradient
        weight += momentum
    store.pull("w", out)
    np.testing.assert_allclose(out.asnumpy(), weight, rtol=1e-6)
    store.save_optimizer_states(str(tmp_path / "states"))
    other = mx.kv.create("dist_sync")
    other.init("w", mx.nd.array(weight))
    other.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    other.load_optimizer_states(str(tmp_path / "states"))
    other.pushpull("w", mx.nd.array(gradient), out=out)
    weight += 0.5 * momentum - 0.5 * gradient
    np.testing.assert_allclose(out.asnumpy(), weight, rtol=1e-6)


def test_an_updater_that_fails(store):
    def fail(key, total, stored):
        raise ValueError("no")

    store.init("w", mx.nd.zeros(2))
    store._set_updater(fail)
    out = mx.nd.zeros(2)
    store.pushpull("w", mx.nd.ones(2), out=out)
    with pytest.raises(mx.MXNetError, match="key 'w', round 1: ValueError: no"):
        out.asnumpy()
    with pytest.raises(mx.MXNetError, match="no"):
        store._settle()


def test_error_in_a_pushed_array(store):
    store.init("w", mx.nd.zeros(2))
    out = mx.nd.zeros(2)

    def fail():
        raise ValueError("upstream")

    gradient = mx.nd.ones(2)
    mx.engine.push(fail, writes=[gradient])
    store.pushpull("w", gradient, out=out)
    with pytest.raises(mx.MXNetError, match="upstream"):
        out.asnumpy()
    with pytest.raises(mx.MXNetError, match="upstream"):
        gradient.asnumpy()


def test_a_program_far_ahead_of_its_store(store):
    """The engine's queue of pending results is full; the update proceeds nevertheless."""

    def update(key, total, stored):
        await_that(lambda: front.unfinished() >= 512)
        mx.nd.dot(total, total, out=stored)

    store.init("w", mx.nd.zeros((300, 300)))
    store._set_updater(update)
    x = mx.nd.zeros((300, 300))
    store.pushpull("w", mx.nd.ones((300, 300)), out=x)
    for _ in range(600):
        x = x + 1
    assert x.asnumpy()[0, 0] == 900


def test_naive_engine():
    code = """
import mxcy as mx
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.zeros(2))
store.set_optimizer(mx.optimizer.SGD(learning_rate=-1))
out = mx.nd.zeros(2)
store.push("w", mx.nd.ones(2))
store.pushpull("w", mx.nd.ones(2), out=out)
print(out.asnumpy().tolist())
"""
    assert python(code, MXNET_ENGINE_TYPE="NaiveEngine").out == "[2.0, 2.0]\n"


def test_sparse_values_of_one_worker(store):
    value = mx.nd.ones((3, 2)).tostype("row_sparse")
    store.init("s", value)
    out = mx.nd.sparse.zeros("row_sparse", (3, 2))
    store.row_sparse_pull("s", out, row_ids=mx.nd.array([2, 0]))
    assert out.indices.asnumpy().tolist() == [0, 2]


_THREE = r"""
import mxcy as mx, numpy as np, warnings
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
out = mx.nd.zeros((2, 3))
store.init("a", mx.nd.full((2, 3), rank + 1))
store.pull("a", out)
assert (out.asnumpy() == 1).all()
for dtype in ("float16", "float32", "float64", "bfloat16", "uint8", "int8", "int32", "int64"):
    store.init(dtype, mx.nd.zeros(5, dtype=dtype))
    got = mx.nd.zeros(5, dtype=dtype)
    store.pushpull(dtype, mx.nd.full(5, rank + 3, dtype=dtype), out=got)
    assert (got.astype("float64").asnumpy() == 12).all(), dtype
store.init("exact", mx.nd.zeros(1, dtype="int64"))
exact = mx.nd.array([2**53 + rank], dtype="int64")
store.pushpull("exact", exact)
assert exact.asnumpy()[0] == 3 * 2**53 + 3
names = [f"k{i}" for i in range(30)]
store.init(names, [mx.nd.zeros(2000 * (i % 3) + 1) for i in range(30)])
outs = [mx.nd.zeros(2000 * (i % 3) + 1) for i in range(30)]
for step in range(3):
    order = np.random.RandomState(rank + step).permutation(30)
    for i in order:
        store.pushpull(names[i], outs[i] * 0 + (i + step + rank), out=outs[i])
    for i in order:
        assert (outs[i].asnumpy() == 3 * (i + step) + 3).all()
if rank == 0:
    store.push("a", mx.nd.ones((2, 3)))
    store.push("a", mx.nd.ones((2, 3)))
    store.pushpull("k3", mx.nd.ones(1), out=outs[3])
    assert outs[3].asnumpy()[0] == 3
else:
    store.pushpull("k3", mx.nd.ones(1), out=outs[3])
    store.push("a", mx.nd.ones((2, 3)))
    store.push("a", mx.nd.ones((2, 3)))
store.pull("a", out)
assert (out.asnumpy() == 3).all()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    optimizer = mx.optimizer.SGD(learning_rate=1 + rank, rescale_grad=1)
    store.set_optimizer(optimizer)
assert len(told) == (rank > 0) and optimizer.lr == 1, [str(one.message) for one in told]
store.pushpull("a", mx.nd.ones((2, 3)), out=out)
assert (out.asnumpy() == 0).all()
store._barrier()
stats = store.stats()
assert sum(len(bucket["keys"]) for bucket in stats["buckets"]) == 40
assert "MPI" in stats["engine"].upper()
print("\nright", flush=True)
"""


@needs_mpi
def test_three_workers():
    ended = job(3, _THREE)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


#: operations that one of two workers may do alone, without waiting for the other
_ALONE = r"""
import mxcy as mx
store = mx.kv.create("dist_sync")
first, ones, out = store.rank == 0, mx.nd.ones(3), mx.nd.zeros(3)
names = ["", "key", "\u043a\u043b\u044e\u0447", "x" * 300]
store.init(names, [mx.nd.full(3, 7)] * 4)
if first:
    for refused in (lambda: store.init("key", ones), lambda: store.push("none", ones)):
        try:
            refused()
        except mx.MXNetError:
            continue
        raise AssertionError("it was taken")
    store.pull("key", out)  # before any push, and the other does not pull
    assert out.asnumpy().tolist() == [7, 7, 7]
    store.push("key", ones)
    store.pull("key", out)  # returns at once; who reads waits
store._barrier()  # the engine is not drained: the other has not pushed
if not first:
    store.push("key", ones * 2)
    store.pull("key", out)
assert out.asnumpy().tolist() == [3, 3, 3]
for total in (2, 4):  # sums take the place of values
    for name in reversed(names) if first else names:
        store.push(name, ones * (total / 2))
    for name in names:
        store.pull(name, out)
        assert out.asnumpy().tolist() == [total] * 3, name
calls = []
def update(key, total, stored):
    calls.append(key)
    stored += total
store._set_updater(update)
for expected in (6, 8):
    store.pushpull("key", ones, out=out)
    assert out.asnumpy().tolist() == [expected] * 3
assert calls == ["key"] * 2, calls
print("\nright", flush=True)
"""


@needs_mpi
def test_operations_local_to_a_worker():
    ended = job(2, _ALONE)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err
