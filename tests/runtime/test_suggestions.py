"""Errors about mistyped names suggest the most similar one."""

import json
import time

import pytest

import mxcy as mx
from mxcy._base.suggestions import did_you_mean, nearest
from tests.env.run import python


def test_nearest():
    known = ["adam", "Adamax", "sgd", "_adam", "BatchNorm", "Dropout", "dropout"]
    assert nearest("adma", known) == "adam"
    assert nearest("batchnorm", known) == "BatchNorm"
    assert nearest("droput", known) == "dropout"
    assert nearest("Droput", known) == "Dropout"
    assert nearest("_adma", known) == "_adam"
    assert nearest("_adam", ["adam"]) == "adam"
    assert nearest("something else", known) is None
    bulk = ["EXEC_BULK_TRAINING_MAX", "EXEC_BULK_TRAINING", "EXEC_BIND"]
    assert nearest("EXEC_BULK", bulk) == "EXEC_BULK_TRAINING"


def test_ends_of_messages():
    assert did_you_mean("adma", ["adam"]) == "; did you mean 'adam'?"
    assert did_you_mean("zzz", ["adam"]) == did_you_mean(3, ["adam"]) == ""


MODULES = [
    (mx, "ndarry", "ndarray"),
    (mx.nd, "softmaxx", "softmax"),
    (mx.nd.linalg, "gemm3", "gemm"),
    (mx.nd.contrib, "box_nmss", "box_nms"),
    (mx.sym, "fullyconnected", "FullyConnected"),
    (mx.sym.random, "unifrom", "uniform"),
    (mx.init, "Xavierr", "Xavier"),
    (mx.optimizer, "Adma", "Adam"),
    (mx.lr_scheduler, "FactorSchedulr", "FactorScheduler"),
    (mx.metric, "Acuracy", "Accuracy"),
    (mx.io, "NDArrayItr", "NDArrayIter"),
    (mx.mod, "Modul", "Module"),
    (mx.contrib, "onx", "onnx"),
    (mx.gluon, "Trainr", "Trainer"),
    (mx.gluon.nn, "Densee", "Dense"),
    (mx.gluon.rnn, "LTSM", "LSTM"),
    (mx.gluon.loss, "L2Los", "L2Loss"),
    (mx.gluon.data, "DataLoadr", "DataLoader"),
    (mx.gluon.data.vision, "MNISTT", "MNIST"),
    (mx.gluon.model_zoo.vision, "resnet18v1", "resnet18_v1"),
]


@pytest.mark.parametrize(("module", "name", "near"), MODULES, ids=[row[1] for row in MODULES])
def test_attributes(module, name, near):
    hint = f"; did you mean '{near}'?" if near else ""
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == f"module {module.__name__!r} has no attribute {name!r}{hint}"
    assert caught.value.name == name and not hasattr(module, name)


def test_hasattr_computes_no_suggestions():
    def timed():
        began = time.perf_counter()
        assert not hasattr(mx.nd, "softmaxx")
        return time.perf_counter() - began

    began = time.perf_counter()
    did_you_mean("softmaxx", dir(mx.nd))
    assert min(timed() for _ in range(20)) < (time.perf_counter() - began) / 5


def test_one_hint_in_a_traceback():
    text = python("import mxcy as mx; mx.nd.softmaxx", fails=True).err
    assert text.count("softmax'") == 1 and text.lower().count("did you mean") == 1


GRAPH = {
    "nodes": [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "softmx", "name": "y", "inputs": [[0, 0, 0]]},
    ],
    "arg_nodes": [0],
    "heads": [[1, 0, 0]],
}
CALLS = {
    "adam": lambda: mx.optimizer.create("adma"),
    "sgd": lambda: mx.gluon.Trainer({}, "sdg"),
    "xavier": lambda: mx.init.create("xavir"),
    "uniform": lambda: mx.gluon.nn.Dense(2).initialize("unifrom"),
    "accuracy": lambda: mx.metric.create("acuracy"),
    "rmse": lambda: mx.gluon.metric.create("rsme"),
    "resnet18_v1": lambda: mx.gluon.model_zoo.vision.get_model("resnet18v1"),
    "local": lambda: mx.kv.create("locl"),
    "glove": lambda: mx.contrib.text.embedding.create("glov"),
    "softmax": lambda: mx.sym.load_json(json.dumps(GRAPH)),
    "relu": lambda: mx.gluon.nn.HybridLambda("rellu"),
    "axis": lambda: mx.nd.sum(mx.nd.ones(3), axs=0),
}


@pytest.mark.parametrize("near", CALLS)
def test_names_in_calls(near):
    with pytest.raises((ValueError, AssertionError, mx.base.MXNetError)) as caught:
        CALLS[near]()
    assert f"; did you mean '{near}'?" in str(caught.value)


def test_custom_operators():
    @mx.operator.register("suggested_operator")
    class Property(mx.operator.CustomOpProp):
        pass

    with pytest.raises(mx.base.MXNetError, match="; did you mean 'suggested_operator'"):
        mx.nd.Custom(mx.nd.ones(1), op_type="sugested_operator")
