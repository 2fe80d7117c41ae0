"""Pickles written by real MXNet 1.9.1 load as working mxcy objects."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import compat

KEPT = pickle.loads((Path(__file__).resolve().parents[1] / "data" / "pickles.bin").read_bytes())


def weights_after_a_step(optimizer):
    weight = mx.nd.ones((2,))
    optimizer.update(0, weight, mx.nd.array([1, 2]), optimizer.create_state(0, weight))
    return weight.asnumpy()


def initialized(initializer):
    array = mx.nd.zeros((2, 3))
    mx.random.seed(1)
    initializer(mx.init.InitDesc("fc_weight"), array)
    return array.asnumpy()


#: name -> check of the loaded object
RIGHT = {
    "array": lambda x: x.dtype == np.int32 and x.asnumpy().tolist() == [[1, 2], [3, 4]],
    "half": lambda x: x.dtype == np.float16 and (x + 1).asnumpy().tolist() == [1.5],
    "context": lambda x: x == mx.cpu(2),
    "schedule": lambda x: type(x) is mx.lr_scheduler.FactorScheduler and x(11) == 0.15,
    "optimizer": lambda x: (
        type(x) is mx.optimizer.Adam
        and x.learning_rate == 0.3
        and x.num_update == 1
        and np.allclose(weights_after_a_step(x), 1 - 0.3, atol=0.1)
    ),
    "sgd": lambda x: x.momentum == 0.9 and np.allclose(weights_after_a_step(x), [0.99, 0.98]),
    "metric": lambda x: x.get() == ("accuracy", 0.5) and x.get_config()["axis"] == 1,
    "initializer": lambda x: (initialized(x) == initialized(mx.init.Xavier(magnitude=2))).all(),
    "symbol": lambda x: x.infer_shape(data=(2, 5))[1] == [(2, 3)],
    "desc": lambda x: x == ("data", (2, 3)) and x.layout == "NCHW" and x.dtype == np.float32,
    "updater": lambda x: weights_after_a_step(x).shape == (2,),
    "vocabulary": lambda x: x.to_indices(["<p>", "?"]) == [1, 0] and len(x) == 2,
    "stepwise": lambda x: x.step == [3, 5] and [x(1), x(6)] == [0.01, 0.01],
    "plain": lambda x: x.tolist() == [0, 1, 2],
}


@pytest.mark.parametrize("name", KEPT)
def test_objects_work(name):
    compat.install()
    try:
        loaded = pickle.loads(KEPT[name])
    finally:
        compat.uninstall()
    assert RIGHT[name](loaded)


def test_all_are_tested():
    assert list(KEPT) == list(RIGHT)


def test_older_paths_lead_to_the_same_classes():
    assert mx.optimizer.optimizer.SGD is mx.optimizer.SGD
    assert mx.symbol.symbol.Variable is mx.sym.Variable
    assert mx.nd.utils.zeros is mx.nd.zeros
    assert mx.gluon.parameter.ParameterDict is mx.gluon.ParameterDict
    for module in (mx.optimizer.optimizer, mx.symbol.symbol, mx.nd.utils, mx.gluon.parameter):
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nothing'"):
            module.nothing  # noqa: B018


def test_arrays_without_elements_take_a_state():
    array = mx.nd.NDArray(None)
    assert array.shape == (0,)
    array.__setstate__(mx.nd.ones((2, 2)).__reduce__()[2])
    assert array.asnumpy().tolist() == [[1, 1], [1, 1]]
    with pytest.raises(mx.MXNetError, match="without elements"):
        array.__setstate__(mx.nd.ones(3).__reduce__()[2])
    with pytest.raises(TypeError, match="mx.nd.array"):
        mx.nd.NDArray()
    with pytest.raises(TypeError, match="mx.nd.array"):
        mx.nd.NDArray([1, 2])
