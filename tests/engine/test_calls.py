"""Calls pushed to the engine, as all calls are here: order, memory, versions, wait points."""

import pickle
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy._library import front
from tests.env.run import python


@pytest.fixture(autouse=True)
def all_calls():
    """Push every call to the engine."""
    front.set_heavy_work(0)
    yield
    mx.nd.waitall()
    front.set_heavy_work(4000000)


@pytest.fixture
def gate():
    """A function that keeps an array busy until the gate is opened."""
    opened = threading.Event()

    def close(array):
        mx.engine.push(opened.wait, [], [array])
        return opened

    yield close
    opened.set()


needs_workers = pytest.mark.skipif(
    mx.engine.stats()["type"] == "NaiveEngine", reason="NaiveEngine has no workers"
)


@needs_workers
def test_calls_return_before_they_are_computed(gate):
    data = mx.nd.ones((4, 4))
    door = gate(data)
    result = mx.nd.dot(data, data) + 1
    part = result[1:3].reshape((8,))
    assert front.unfinished() >= 2 and part.shape == (8,)
    door.set()
    assert part.asnumpy().tolist() == [5] * 8
    assert front.unfinished() == 0


@needs_workers
@pytest.mark.parametrize(
    "look",
    [
        lambda a: a.wait_to_read(),
        lambda a: a.wait_to_write(),
        lambda a: a.asnumpy(),
        lambda a: a.numpy_view(),
        lambda a: a.read_view(),
        lambda a: np.asarray(a),
        lambda a: repr(a),
        lambda a: mx.nd.to_dlpack_for_read(a),
        lambda a: mx.nd.to_dlpack_for_write(a),
        lambda a: pickle.dumps(a),
        lambda a: a[0, 0].asscalar(),
        lambda a: a[[1, 0]],
        lambda a: a[:, 1],
        lambda a: a.__setitem__(0, 1),
        lambda a: a.__setitem__(slice(None), 1),
        lambda a: mx.nd.zeros((2, 2)).__setitem__(slice(None), a),
        lambda a: bool(a[0, 0]),
        lambda a: mx.nd.waitall(),
        lambda a: a.astype("float64"),
        lambda a: list(a)[1].asnumpy(),
        lambda a: gluon.data.batchify.Pad()([a]),
        lambda a: mx.nd.array(a.asnumpy()),
        lambda a: mx.metric.Accuracy().update([a[0]], [a]),
        lambda a: a._sync_copyfrom(np.ones((2, 2))),
    ],
)
def test_who_looks_at_the_memory_waits(gate, look):
    array = mx.nd.ones((2, 2))
    door = gate(array)
    done = threading.Event()
    looker = threading.Thread(target=lambda: (look(array), done.set()))
    looker.start()
    assert not done.wait(0.03)
    door.set()
    looker.join(20)
    assert done.is_set()


@needs_workers
def test_writers_wait_for_readers(gate):
    data = mx.nd.ones((3, 3))
    blocked = mx.nd.ones((3, 3))
    door = gate(blocked)
    total = data + blocked
    timer = threading.Timer(0.05, door.set)
    timer.start()
    data[:] = 5  # waits until the addition has read it
    assert total.asnumpy().tolist() == [[2] * 3] * 3
    assert data.asnumpy().tolist() == [[5] * 3] * 3


def test_program_order_is_kept_for_arrays_and_their_views():
    data = mx.nd.zeros((100, 100))
    for i in range(200):
        data += 1
        data[i % 100 : i % 100 + 1] -= 1
        if i % 50 == 0:
            data[3] = 7
    expected = np.zeros((100, 100), np.float32)
    for i in range(200):
        expected += 1
        expected[i % 100] -= 1
        if i % 50 == 0:
            expected[3] = 7
    np.testing.assert_array_equal(data.asnumpy(), expected)


def test_outputs_that_overlap_their_inputs():
    data = mx.nd.arange(16).reshape((4, 4))
    mx.nd.transpose(data, out=data)
    mx.nd.dot(data, data, out=data)
    plain = np.arange(16, dtype=np.float32).reshape(4, 4).T
    np.testing.assert_array_equal(data.asnumpy(), plain @ plain)


def test_random_numbers_keep_program_order():
    def draw(first):
        front.set_heavy_work(first)
        mx.random.seed(9)
        arrays = [mx.nd.random.uniform(shape=(n,)) for n in (70000, 3, 900, 2, 30000)]
        state = mx.random.get_state() if hasattr(mx.random, "get_state") else None
        arrays.append(mx.nd.random.normal(shape=(5,)))
        return [array.asnumpy() for array in arrays], state

    for mine, other in zip(draw(0)[0], draw(1 << 40)[0], strict=True):
        np.testing.assert_array_equal(mine, other)


def test_arrays_may_die_while_operations_use_them():
    def compute():
        data = mx.nd.ones((300, 300))
        for _ in range(30):
            data = mx.nd.dot(data, data) / 300
        return data

    results = [compute() for _ in range(5)]
    for result in results:
        np.testing.assert_allclose(result.asnumpy(), np.ones((300, 300)), rtol=1e-4)
    mx.nd.waitall()
    assert front.unfinished() == 0


def test_pending_work_is_bounded():
    data = mx.nd.ones((2000, 2000))
    most = 0
    for _ in range(60):  # of 16 MB each
        data = data + 1
        most = max(most, front.unfinished())
    assert most <= 16
    assert data[0, 0].asscalar() == 61


@needs_workers
def test_writes_to_memory_in_use_are_not_bounded(gate):
    data = mx.nd.ones((48, 1 << 20))  # 192 MB
    door = gate(data)
    threading.Timer(60, door.set).start()
    for _ in range(4):
        data += 1
    assert not door.is_set() and front.unfinished() >= 4
    door.set()
    assert data[47, 7].asscalar() == 5


@needs_workers
def test_a_backward_pass_whose_memory_exceeds_the_bound(gate):
    net = gluon.nn.HybridSequential()
    for _ in range(4):
        net.add(gluon.nn.Dense(64, in_units=64, activation="tanh"))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.ones((200000, 64))  # 51 MB
    for blocked in (False, True):
        with autograd.record():
            outputs = net(data)
        mx.nd.waitall()
        if blocked:
            door = gate(net[3].weight.data())
            threading.Timer(60, door.set).start()
        outputs.backward()
    assert not door.is_set() and front.unfinished() >= 2  # the pass has at least two segments
    door.set()
    assert net[0].weight.grad().asnumpy().any()


def test_shared_memory_is_always_up_to_date():
    data = mx.nd.zeros((500, 500))
    view = np.asarray(data)
    for i in range(5):
        data += 1
        assert view[3, 3] == view[-1, -1] == i + 1
    view[:] = 0
    assert (data + 1)[0, 0].asscalar() == 1
    other = np.zeros((500, 500), np.float32)
    array = mx.nd.from_numpy(other)
    array += 2
    assert (other == 2).all()
    taken = np.from_dlpack(data) if hasattr(np, "from_dlpack") else view
    data += 3
    assert taken[7, 7] == 3


def test_packed_weights_follow_asynchronous_updates():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(16, 3, in_channels=16), gluon.nn.Dense(32), gluon.nn.Dense(32))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.random.uniform(shape=(2, 16, 8, 8))
    net(data)
    for step in range(4):
        for parameter in net.collect_params().values():
            weight = parameter.data()
            mx.nd.broadcast_mul(weight, mx.nd.array([0.5 + step]), out=weight)
        actual = net(data)
        net.hybridize(False)
        expected = net(data)
        net.hybridize(static_alloc=True, static_shape=True)
        np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5)


def test_moving_averages_and_momentum_are_written_in_order():
    data = mx.nd.random.uniform(shape=(8, 3))
    gamma, beta = mx.nd.ones((3,)), mx.nd.zeros((3,))
    mean, var = mx.nd.zeros((3,)), mx.nd.ones((3,))
    data.attach_grad()
    for _ in range(3):
        with autograd.record():
            mx.nd.BatchNorm(data, gamma, beta, mean, var, momentum=0.5, fix_gamma=False).backward()
    wanted = data.asnumpy().mean(0) * (1 - 0.5**3)
    np.testing.assert_allclose(mean.asnumpy(), wanted, rtol=1e-5)
    weight, momentum = mx.nd.ones((3,)), mx.nd.zeros((3,))
    for _ in range(3):
        mx.nd.sgd_mom_update(weight, beta + 1, momentum, lr=1, momentum=0.5, out=weight)
    assert momentum.asnumpy().tolist() == [-1.75] * 3
    assert weight.asnumpy().tolist() == [1 - 1 - 1.5 - 1.75] * 3


def test_writes_change_versions_when_they_are_called():
    data = mx.nd.zeros((10, 10))
    seen = {data.version}
    data += 1
    seen.add(data.version)
    mx.nd.ones_like(data, out=data)
    seen.add(data.version)
    data.wait_to_read()
    assert len(seen) == 3 and data.version in seen


def test_many_threads_wait_for_one_array():
    data = mx.nd.ones((400, 400))
    for _ in range(5):
        data = mx.nd.dot(data, data) / 400
    collected = []
    waiters = [threading.Thread(target=lambda: collected.append(data.asnumpy())) for _ in range(6)]
    for waiter in waiters:
        waiter.start()
    for waiter in waiters:
        waiter.join()
    assert all((values == collected[0]).all() for values in collected) and len(collected) == 6


def plan_operations(**variables):
    code = """
import mxcy as mx
from mxcy._library import front
data = mx.sym.var("data")
for i in range(6):
    data = mx.sym.FullyConnected(data, num_hidden=8, name=f"fc{i}")
    data = mx.sym.softmax(data)
executor = data.simple_bind(mx.cpu(), data=(4, 8))
for training in (False, True):
    executor.forward(is_train=training)
    mx.nd.waitall()
    before = mx.engine.stats()["pushed"]
    executor.forward(is_train=training)
    print(mx.engine.stats()["pushed"] - before, end=" ")
    if training:
        before = mx.engine.stats()["pushed"]
        executor.backward(mx.nd.ones((4, 8)))
        print(mx.engine.stats()["pushed"] - before, len(executor.plan(True).steps))
"""
    return [int(n) for n in python(code, MXCY_ENGINE_WORK="0", **variables).out.split()]


def test_segments_are_operations_of_the_engine():
    whole = plan_operations(MXNET_SUBGRAPH_BACKEND="NONE")
    assert whole[:2] == [1, 1] and 1 <= whole[2] <= 3
    single = plan_operations(
        MXNET_SUBGRAPH_BACKEND="NONE",
        MXNET_EXEC_BULK_EXEC_INFERENCE="0",
        MXNET_EXEC_BULK_EXEC_TRAIN="0",
    )
    assert single[0] == 12 and single[1] == 12
    few = plan_operations(
        MXNET_SUBGRAPH_BACKEND="NONE", MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD="5"
    )
    assert few[0] == 1 and few[1] == 3


@needs_workers
def test_functions_on_workers_use_the_arrays_that_they_named():
    source, target, seen = mx.nd.ones((40, 40)), mx.nd.zeros((40, 40)), []

    def work():
        target[:] = source * 3  # the product is a separate array
        target[0] = 1
        mx.nd.elemwise_add(target, source, out=target)
        seen.append(target.asnumpy()[:2, 0].tolist())

    mx.engine.push(work, [source], [target])
    assert (target + 1)[1, 1].asscalar() == 5
    assert seen == [[2, 4]]


def test_ctrl_c_ends_a_wait():
    code = """
import mxcy as mx, signal, threading, time
gate = threading.Event()
array = mx.nd.ones((2, 2))
mx.engine.push(gate.wait, [], [array])
try:
    threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
    (array + 1).asnumpy()
except KeyboardInterrupt:
    print("interrupted")
gate.set()
print((array + 1).asnumpy().tolist())
"""
    assert python(code).out.split("\n")[:2] == ["interrupted", "[[2.0, 2.0], [2.0, 2.0]]"]
