"""Horovod's interface over the processes of a job."""

import threading

import pytest

import mxcy as mx
import mxcy.horovod as hvd
from mxcy import autograd, gluon
from tests.dist.jobs import job, needs_mpi
from tests.env.run import python


@pytest.fixture
def alone():
    hvd.init()
    yield
    hvd.shutdown()


def test_one_process(alone):
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)
    assert (hvd.cross_rank(), hvd.cross_size(), hvd.is_homogeneous()) == (0, 1, True)
    x = mx.nd.array([1, 2, 3])
    assert hvd.allreduce(x, prescale_factor=2, postscale_factor=3).asnumpy().tolist() == [6, 12, 18]
    assert hvd.allreduce_(x, average=False) is x and x.asnumpy().tolist() == [1, 2, 3]
    assert hvd.allgather(x).asnumpy().tolist() == [1, 2, 3]
    assert hvd.alltoall(x).asnumpy().tolist() == [1, 2, 3]
    assert hvd.broadcast(x, 0).asnumpy().tolist() == [1, 2, 3]
    assert hvd.broadcast_object({"a": 1}) == {"a": 1} and hvd.allgather_object(3) == [3]
    with pytest.raises(mx.MXNetError, match="root_rank must be from 0 to 0, got 1"):
        hvd.broadcast(x, 1)
    with pytest.raises(mx.MXNetError, match="splits"):
        hvd.alltoall(x, splits=[2])
    with pytest.raises(ValueError, match="invalid params"):
        hvd.broadcast_parameters([x])
    assert hvd.gloo_built() is False and hvd.nccl_built() == 0
    assert hvd.mpi_built() == hvd.mpi_enabled() == hvd.mpi_threads_supported()


def test_a_gradient_that_the_next_backward_replaces(alone):
    x, ready = mx.nd.ones(3), threading.Event()
    x.attach_grad()

    def backward(factor):
        with autograd.record():
            y = x * factor
        y.backward()

    backward(2)
    mx.engine.push(lambda: ready.wait(30), writes=[x.grad])
    total = hvd.allreduce(x.grad)
    backward(3)
    ready.set()
    assert total.asnumpy().tolist() == [2] * 3
    assert x.grad.asnumpy().tolist() == [3] * 3


def test_before_init():
    hvd.shutdown()
    assert not hvd.is_initialized()
    with pytest.raises(ValueError, match="call init"):
        hvd.rank()
    with pytest.raises(ValueError, match="call init"):
        hvd.allreduce(mx.nd.ones(1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "uint8"])
def test_types(alone, dtype):
    x = mx.nd.array([1, 2, 3], dtype="float32").astype(dtype)
    total = hvd.allreduce(x)
    assert total.dtype == x.dtype
    assert total.astype("float32").asnumpy().tolist() == [1, 2, 3]


def test_parameters_that_wait_for_their_shapes(alone):
    net = gluon.nn.Dense(2)
    net.initialize(mx.init.One())
    hvd.broadcast_parameters(net.collect_params())
    assert net(mx.nd.ones((1, 3))).asnumpy().tolist() == [[3, 3]]


def test_an_optimizer_in_another():
    hvd.init()
    inner = mx.optimizer.SGD(learning_rate=1, rescale_grad=0.5)
    outer = hvd.DistributedOptimizer(inner)
    updater = mx.optimizer.get_updater(outer)
    weight = mx.nd.ones(2)
    updater(0, mx.nd.ones(2), weight)
    assert weight.asnumpy().tolist() == [0.5, 0.5]
    outer.set_learning_rate(2)
    assert inner.learning_rate == outer.learning_rate == 2
    with pytest.warns(UserWarning, match="the one in it is used"):
        net = gluon.nn.Dense(1, in_units=1)
        net.initialize()
        assert hvd.DistributedTrainer(net.collect_params(), outer).optimizer is inner
    hvd.shutdown()


def test_the_name_of_the_package():
    code = """
import mxcy.compat
mxcy.compat.install()
import horovod.mxnet as hvd, mxcy.horovod
assert hvd is mxcy.horovod
hvd.init()
print(hvd.size())
mxcy.compat.uninstall()
try:
    import horovod.mxnet
except ImportError:
    print("gone")
"""
    assert python(code).out == "1\ngone\n"


_THREE = r"""
import numpy as np, mxcy as mx, mxcy.horovod as hvd
from mxcy import autograd, gluon
hvd.init()
rank, size = hvd.rank(), hvd.size()
assert (size, hvd.local_rank(), hvd.local_size(), hvd.cross_size()) == (3, rank, 3, 1)
x = mx.nd.full(4, rank + 1)
assert hvd.allreduce(x).asnumpy().tolist() == [2] * 4
assert hvd.allreduce(x.astype("int32"), average=False).asnumpy().tolist() == [6] * 4
tensors = {n: mx.nd.full(3, n * 10 + rank) for n in range(5)}
for n in np.random.RandomState(rank).permutation(5):  # they meet by name
    hvd.allreduce_(tensors[n], average=False, name=f"t{n}", priority=-int(n))
for n, tensor in tensors.items():
    assert tensor.asnumpy().tolist() == [30 * n + 3] * 3
together = hvd.allgather(mx.nd.full((rank, 2), rank) if rank else mx.nd.ones((1, 2)))
assert together.asnumpy()[:, 0].tolist() == [1, 1, 2, 2]
assert hvd.broadcast(x, 2).asnumpy().tolist() == [3] * 4
dealt = hvd.alltoall(mx.nd.arange(6) + 10 * rank, splits=[1, 2, 3])
starts = [0, 1, 3]
expected = [s + 10 * r for r in range(3) for s in range(starts[rank], starts[rank] + rank + 1)]
assert dealt.asnumpy().tolist() == expected
assert hvd.broadcast_object({"of": rank}, 1) == {"of": 1}
assert hvd.allgather_object("x" * rank) == ["", "x", "xx"]
try:
    hvd.allreduce(mx.nd.ones(rank + 1), name="odd").asnumpy()
except mx.MXNetError as error:
    assert "allreduce odd: rank 0 has [[1], 'float32'], rank 1 [[2], 'float32']" in str(error)
else:
    raise AssertionError("shapes differ")
draw = np.random.RandomState(0)
inputs, labels = draw.randn(5, 12, 6).astype("float32"), draw.randint(0, 3, (5, 12))
def train(trainer_of, share, seed, batch):
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="tanh"), gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    if batch < 12:
        hvd.broadcast_parameters(net.collect_params())
    net(mx.nd.zeros((1, 6)))
    trainer = trainer_of(net.collect_params())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for data, label in zip(inputs, labels):
        with autograd.record():
            error = loss(net(mx.nd.array(data[share])), mx.nd.array(label[share]))
        error.backward()
        trainer.step(batch)
    return [p.data().asnumpy() for p in net.collect_params().values()]
share = slice(4 * rank, 4 * rank + 4)
settings = {"learning_rate": 0.1, "momentum": 0.9}
alone = train(lambda p: gluon.Trainer(p, "sgd", settings, kvstore=None), slice(0, 12), 5, 12)
for options in ({}, {"gradient_predivide_factor": 3.0}):
    trainer = lambda p: hvd.DistributedTrainer(p, "sgd", settings, **options)
    mine = train(trainer, share, 5 + rank, 4)
    for a, b in zip(mine, alone):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
half = lambda p: hvd.DistributedTrainer(p, "sgd", settings, hvd.Compression.fp16)
for a, b in zip(train(half, share, 5 + rank, 4), alone):
    np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-3)
hvd.allreduce_(x)  # that nobody waits for
print("\nright", flush=True)
"""


@needs_mpi
def test_three_processes():
    ended = job(3, _THREE)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


@needs_mpi
@pytest.mark.dist_long
def test_a_process_that_leaves():
    code = "import mxcy as mx, mxcy.horovod as hvd\nhvd.init()\n"
    ended = job(2, code + "hvd.rank() or print(hvd.allreduce(mx.nd.ones(1), name='x').asnumpy())")
    assert ended.code != 0
    assert "left the job; 'allreduce x' waits for all workers" in ended.err
