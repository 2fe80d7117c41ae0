"""``python -OO``: everything works without docstrings and assertions."""

import pytest

from tests.env.run import python

ALL_MODULES = """
import pkgutil, sys, mxcy
assert False, "assertions are off"
names = [m.name for m in pkgutil.walk_packages(mxcy.__path__, "mxcy.")]
wanted = [n for n in names if not n.endswith(("__main__", "libmxcy")) and "._cy" not in n]
for name in wanted:
    __import__(name)
print(mxcy.__doc__, len(wanted) > 200, all(name in sys.modules for name in wanted))
"""

TRAINING = """
import mxcy as mx
from mxcy import autograd, gluon

def train(hybridize):
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(2))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer, loss = gluon.Trainer(net.collect_params(), "adam"), gluon.loss.L2Loss()
    x = mx.nd.arange(12).reshape((4, 3)) / 12
    for _ in range(3):
        with autograd.record():
            value = loss(net(x), x[:, :2])
        value.backward()
        trainer.step(4)
    return value.sum().asscalar()

plain, hybrid = train(False), train(True)
module = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
batches = mx.io.NDArrayIter(mx.nd.ones((4, 3)), mx.nd.zeros(4), 2)
module.bind(batches.provide_data, batches.provide_label, for_training=False)
module.init_params()
print(abs(plain - hybrid) < 1e-5, module.predict(batches).shape)
"""


@pytest.mark.parametrize("front", ["cython", "ctypes"])
def test_every_module_is_imported(front, tmp_path):  # one of them begins a profile
    enable = None if front == "cython" else "0"
    done = python(ALL_MODULES, options=["-OO"], cwd=tmp_path, MXNET_ENABLE_CYTHON=enable)
    assert done.out.split() == ["None", "True", "True"]


def test_training():
    done = python(TRAINING, options=["-OO"])
    assert done.out.strip() == "True (4, 3)"


def test_help_of_commands():
    for module in ("mxcy.examples.train_mnist", "mxcy.env"):
        assert "--" in python("-m", module, "--help", options=["-OO"]).out
