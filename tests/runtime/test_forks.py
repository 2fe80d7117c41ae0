"""Processes that are forked after the parent has used everything."""

import pytest

CHILD = """
import os, signal, sys, time
import numpy as np
import mxcy as mx
from mxcy.gluon import nn

def in_child(function):
    "Call a function in a forked child; its time is limited, and failures are the parent's."
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            function()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
"""

USES = {
    "operators": """
a = mx.nd.random.uniform(shape=(700, 700))
def use():
    return (mx.nd.dot(a, a) + a).exp().sum(axis=0).asnumpy()
""",
    "large products": """
a = mx.nd.random.uniform(shape=(1000, 1000))
def use():
    return mx.nd.dot(a, a).asnumpy()
""",
    "plans": """
net = nn.HybridSequential()
net.add(nn.Conv2D(16, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Flatten(), nn.Dense(10))
net.initialize()
net.hybridize()
a = mx.nd.random.uniform(shape=(8, 16, 28, 28))
def use():
    return net(a).asnumpy()
""",
    "training": """
net = nn.Dense(300)
net.initialize()
net.hybridize()
a = mx.nd.random.uniform(shape=(600, 300))
a.attach_grad()
def use():
    with mx.autograd.record():
        loss = net(a).square().sum()
    loss.backward()
    return a.grad.asnumpy()
""",
    "sorting": """
a = mx.nd.random.uniform(shape=(300, 4000))
def use():
    return mx.nd.sort(a, axis=1).asnumpy()
""",
}
COMPARE = """
expected = use()
use()
def check():
    np.testing.assert_allclose(use(), expected, rtol=1e-4)
    in_child(lambda: np.testing.assert_allclose(use(), expected, rtol=1e-4))
for _ in range(2):
    in_child(check)
    check()
"""


@pytest.mark.parametrize("what", USES)
def test_features_used_by_the_parent_work_in_the_child(run_python, what):
    run_python(CHILD + USES[what] + COMPARE, OMP_NUM_THREADS="2", MXNET_CPU_PARALLEL_SIZE="1000")


def test_random_numbers_go_on(run_python):
    code = """
mx.random.seed(3)
mx.nd.random.uniform(shape=(100000,))
def check():
    np.testing.assert_array_equal(mx.nd.random.normal(shape=(50000,)).asnumpy(), expected)
state = mx.random.get_state()
expected = mx.nd.random.normal(shape=(50000,)).asnumpy()
mx.random.set_state(state)
in_child(check)
check()
"""
    run_python(CHILD + code, OMP_NUM_THREADS="2", MXNET_CPU_PARALLEL_SIZE="1000")


def test_asynchronous_work_is_done_before(run_python):
    code = """
a = mx.nd.ones((1000, 1000))
for _ in range(5):
    a = mx.nd.dot(a, a) / 1000
child = lambda: np.testing.assert_allclose(a.asnumpy(), 1)
in_child(child)
child()
"""
    run_python(CHILD + code)


def test_other_threads_may_be_at_work(run_python):
    # The child has only the thread that forked; it must not inherit locks held by others.
    code = """
from threading import Thread

def draw():
    while not done:
        mx.nd.random.uniform(shape=(20000,))

def plan():
    while not done:
        net = nn.Dense(5, in_units=7)
        net.initialize()
        net.hybridize()
        net(mx.nd.ones((3, 7)))

def check():
    assert mx.nd.random.uniform(shape=(20000,)).asnumpy().max() <= 1
    net = nn.Dense(5, in_units=8)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((3, 8))).asnumpy()

done = False
threads = [Thread(target=draw), Thread(target=draw), Thread(target=plan)]
for thread in threads:
    thread.start()
try:
    for _ in range(15):
        in_child(check)
finally:
    done = True
"""
    run_python(CHILD + code, OMP_NUM_THREADS="2")


def test_another_thread_may_open_a_memory_pool(run_python):
    code = """
from threading import Event, Thread
opening, forked = Event(), Event()

class Blocked:
    "Standard error that blocks the thread that opens a pool."
    def write(self, text):
        opening.set()
        assert forked.wait(20)
    def flush(self):
        pass

def check():
    sys.stderr = sys.__stderr__
    assert mx.nd.ones(3, ctx=mx.cpu(2)).sum().asscalar() == 3

real, sys.stderr = sys.stderr, Blocked()
thread = Thread(target=lambda: mx.nd.ones(3, ctx=mx.cpu(1)))
thread.start()
assert opening.wait(20)
try:
    in_child(check)
finally:
    forked.set()
    thread.join()
    sys.stderr = real
"""
    run_python(CHILD + code, MXCY_VERBOSE="storage")


def test_an_operator_may_be_planning(run_python):
    # The fork waits for the operator, which must not wait for what the fork holds.
    code = """
from threading import Event
started = Event()

class PlanLate(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        started.set()
        time.sleep(0.3)
        self.assign(out_data[0], req[0], net(in_data[0]))

@mx.operator.register("plan_late")
class PlanLateProp(mx.operator.CustomOpProp):
    def infer_shape(self, shapes):
        return shapes, shapes

    def create_operator(self, ctx, shapes, dtypes):
        return PlanLate()

net = nn.HybridSequential()
for _ in range(2):
    net.add(nn.Conv2D(64, 3, padding=1, in_channels=64), nn.BatchNorm(in_channels=64))
net.initialize()
net.hybridize()
a = mx.nd.random.uniform(shape=(2, 64, 28, 28))
late = mx.nd.Custom(a, op_type="plan_late")
assert started.wait(20)
check = lambda: np.testing.assert_allclose(late.asnumpy(), net(a).asnumpy(), rtol=1e-5)
in_child(check)
check()
"""
    run_python(CHILD + code)


def test_other_threads_may_name_scopes(run_python):
    # Names are kept under a lock although no profiler runs; ctypes gives up the GIL meanwhile.
    code = """
from threading import Thread

def name():
    while not done:
        with mx.profiler.scope("layer:"):
            pass

done = False
threads = [Thread(target=name) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for _ in range(60):
        in_child(lambda: mx.profiler.scope("child:").__enter__())
finally:
    done = True
"""
    run_python(CHILD + code)
