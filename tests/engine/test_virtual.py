"""Virtual devices: GPU contexts over the memory of the host, with the engine's queues of a GPU."""

from tests.env.run import python

START = """
import numpy as np, mxcy as mx
from mxcy import gluon, autograd
"""


def printed(code, **variables):
    return python(START + code, MXCY_VIRTUAL_DEVICES="2", **variables).out.strip()


def test_arrays_and_operators_live_on_their_device():
    code = """
a, b = mx.nd.ones((2, 2), ctx=mx.gpu(0)), mx.nd.ones((2, 2), ctx=mx.gpu(1))
c = mx.nd.dot(a, a) + 1
assert c.context == mx.gpu(0) and (c.asnumpy() == 3).all()
try:
    a + b
except mx.MXNetError as error:
    print("different contexts" in str(error))
print(mx.num_gpus(), mx.context.num_gpus(), mx.nd.array([1, 2], ctx=mx.gpu(1)).asnumpy().tolist())
queues = mx.engine.stats()["queues"]
print(sorted(name for name in queues if "gpu" in name))
"""
    lines = printed(code).split("\n")
    assert lines[:2] == ["True", "2 2 [1.0, 2.0]"]
    assert "gpu0" in lines[2] and "gpu1" in lines[2]


def test_copies_between_devices_keep_their_order():
    code = """
a = mx.nd.zeros((64, 64))
g, h = mx.nd.zeros((64, 64), ctx=mx.gpu(0)), mx.nd.zeros((64, 64), ctx=mx.gpu(1))
for i in range(20):
    a += 1
    a.copyto(g)
    g *= 2
    g.copyto(h)
    h += 1
    b = h.as_in_context(mx.cpu())
    assert b.context == mx.cpu()
    a[:] = b / 2
print(float(a.asnumpy().max()), float(h.asnumpy().max()))
print(any("copy" in name for name in mx.engine.stats()["queues"]))
"""
    a, h = 0.0, 0.0
    for _ in range(20):
        a += 1
        h = 2 * a + 1
        a = h / 2
    for engine in ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"):
        lines = printed(code, MXNET_ENGINE_TYPE=engine).split("\n")
        assert lines[0] == f"{a} {h}"
        assert lines[1] == str(engine != "NaiveEngine")


def test_each_device_has_its_random_streams():
    code = """
mx.random.seed(7)
draws = [mx.nd.random.uniform(shape=(3,), ctx=c).asnumpy().tolist()
         for c in (mx.gpu(0), mx.gpu(1), mx.cpu(0), mx.gpu(0))]
mx.random.seed(7)
again = [mx.nd.random.uniform(shape=(3,), ctx=c).asnumpy().tolist()
         for c in (mx.cpu(0), mx.gpu(1), mx.gpu(0), mx.gpu(0))]
assert [draws[i] for i in (2, 1, 0, 3)] == again
mx.random.seed(7, ctx=mx.gpu(1))
assert mx.nd.random.uniform(shape=(3,), ctx=mx.gpu(1)).asnumpy().tolist() == draws[1]
print(draws[0] != draws[1], draws[0] != draws[3])
"""
    assert printed(code) == "True True"


def test_training_on_two_devices_equals_one():
    code = """
def losses(contexts):
    mx.random.seed(1)
    np.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu", in_units=6), gluon.nn.Dense(2, in_units=8))
    net.initialize(mx.init.Uniform(0.5), ctx=contexts)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    data = mx.nd.array(np.random.rand(8, 6))
    found = []
    for _ in range(4):
        parts = gluon.utils.split_and_load(data, contexts)
        with autograd.record():
            outs = [(net(part) ** 2).sum() for part in parts]
        autograd.backward(outs)
        trainer.step(8)
        found.append(sum(float(out.asnumpy()[0]) for out in outs))
    return found
one, two = losses([mx.cpu()]), losses([mx.gpu(0), mx.gpu(1)])
np.testing.assert_allclose(one, two, rtol=1e-5)
print(len(two))
"""
    assert printed(code) == "4"


def test_errors_pass_from_device_to_device():
    code = """
a = mx.nd.random.normal(0, -1, (2, 2), ctx=mx.gpu(0))
b = a.copyto(mx.gpu(1)) + 1
try:
    b.as_in_context(mx.cpu()).asnumpy()
except mx.MXNetError as error:
    print("scale > 0" in str(error))
"""
    assert printed(code) == "True"
