"""The lists of operators, derived from records, compared with MXNet's."""

import ctypes
import importlib
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp
from mxcy.contrib import amp as classic
from mxcy.ops.core.precision import Precision, read
from mxcy.ops.core.record import REGISTRY

DATA = Path(__file__).resolve().parents[1] / "data" / "amp_lists.txt"
KINDS = {"l": "lp16", "e": "either", "f": "fp32", "w": "widest"}
#: aliases that MXNet 1.9.1 classes differently from 2.0 and from the operator itself
CHANGED = {"_linalg_gemm", "_linalg_gemm2", "linalg_gemm", "linalg_gemm2", "broadcast_hypot"}
CHANGED |= {"_hypot", "_Hypot", "_hypot_scalar", "_HypotScalar", "Convolution_v1"}
CHANGED |= {"_sg_mkldnn_conv", "_sg_mkldnn_fully_connected"}
ODD_ALIASES = {"_add", "_grad_add"}


def golden():
    """(name, its four classes) of every MXNet operator that mxcy has."""
    lines = DATA.read_text(encoding="utf-8").splitlines()
    for line in lines[2:]:
        if not line.startswith(" "):
            kinds = line
        else:
            yield from ((name, kinds) for name in line.split() if name in REGISTRY)


@pytest.mark.parametrize(("target", "places"), [("float16", (2, 0)), ("bfloat16", (3, 1))])
def test_classes_are_those_of_mxnet(target, places):
    wrong = {}
    for name, kinds in golden():
        kind = next((kinds[place] for place in places if kinds[place] != "-"), None)
        record = REGISTRY[name]
        alias = name != record.name and (name.startswith("_sparse_") or name in ODD_ALIASES)
        if kind is None or alias or (name in CHANGED and kinds[places[0]] == "-"):
            continue
        if kind == "c":
            assert record.amp.fp32_when is not None
        elif record.amp.of(target) != KINDS[kind]:
            wrong[name] = (kinds, record.amp.of(target))
    assert not wrong


@pytest.mark.parametrize("target", ["float16", "bfloat16", np.float16, amp.amp.bfloat16])
def test_each_operator_is_in_one_list(target):
    lists = [amp.list_lp16_ops, amp.list_fp32_ops, amp.list_lp16_fp32_ops]
    names = [name for make in (*lists, amp.list_widest_type_cast) for name in make(target)]
    names += [name for name, _, _ in amp.list_conditional_fp32_ops(target)]
    assert len(names) == len(set(names))
    users = {r.name for r in REGISTRY.values() if not r.name.startswith("_backward_")}
    assert users <= set(names)
    assert "Custom" in names
    assert "_foreach" in names


def test_lists_of_names():
    fp16, bf16 = classic.lists.symbol_fp16, classic.lists.symbol_bf16
    assert "_linalg_gemm2" in fp16.FP16_FUNCS
    assert "_Plus" in fp16.WIDEST_TYPE_CASTS
    assert "_Plus" not in amp.lists.symbol_fp16.WIDEST_TYPE_CASTS
    assert "Concat" in bf16.BF16_FP32_FUNCS
    assert ("Activation", "act_type", ["softrelu"]) in bf16.CONDITIONAL_FP32_FUNCS
    assert amp.lists.symbol_fp16.LOSS_OUTPUT_FUNCTIONS == [
        "LinearRegressionOutput",
        "LogisticRegressionOutput",
        "MAERegressionOutput",
        "SoftmaxOutput",
    ]
    states = ["", "gamma", "beta", "moving_mean", "moving_var"]
    assert bf16.BF16_USE_FP32_PARAMS["BatchNorm"] == states
    assert "FP16_FUNCS" in dir(fp16)
    with pytest.raises(AttributeError, match="BF16_FUNCS"):
        _ = fp16.BF16_FUNCS
    assert amp.list_lp16_use_fp32_params("float16") is None
    with pytest.raises(AssertionError, match="not supported type"):
        amp.list_fp32_ops("float64")


def test_both_homes_have_one_implementation():
    assert classic.init is amp.init
    assert classic.amp.convert_model is amp.amp.convert_model
    assert classic.loss_scaler.LossScaler is amp.loss_scaler.LossScaler
    assert classic.amp.bfloat16 == np.dtype([("bfloat16", np.uint16)])


def test_reading_categories():
    assert read(None, "exp") == Precision("either", "fp32")
    assert read(None, "_npi_add") == Precision("either", "either")
    assert read("lp16/fp32", "RNN") == Precision("lp16", "fp32")
    assert read("loss", "x") == Precision("fp32", "fp32", loss=True)
    with pytest.raises(ValueError, match="classes"):
        read("fp8", "x")


def test_all_names_by_way_of_c():
    names, size = ctypes.POINTER(ctypes.c_char_p)(), ctypes.c_uint()
    mx.base._LIB.MXListAllOpNames(ctypes.byref(size), ctypes.byref(names))
    actual = [names[i].decode("utf-8") for i in range(size.value)]
    assert actual == mx.operator.get_all_registered_operators()
    lists = classic.lists.symbol_bf16
    listed = {*lists.BF16_FUNCS, *lists.BF16_FP32_FUNCS, *lists.FP32_FUNCS}
    listed.update(lists.WIDEST_TYPE_CASTS, (row[0] for row in lists.CONDITIONAL_FP32_FUNCS))
    assert {name for name in actual if not name.startswith("_backward_")} == listed
    with pytest.raises(mx.MXNetError, match="does not implement MXNet's C API"):
        mx.base._LIB.MXNDArrayCreate()


def test_lists_after_a_name_came_twice():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    with mx.autograd.record():
        net(mx.nd.ones((1, 2)))
    names = amp.list_fp32_ops("bfloat16")
    assert len(names) == len(set(names))


@pytest.mark.parametrize("module", ["mxcy.contrib.amp", "mxcy.contrib.amp.amp"])
def test_the_older_name_offers_the_same_functions(module):
    names = {}
    exec(f"from {module} import *", names)
    offered = dir(importlib.import_module(module))
    for name in ("init", "scale_loss", "convert_symbol", "list_lp16_ops"):
        assert names[name] is getattr(mx.amp, name) and name in offered
