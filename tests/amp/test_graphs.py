"""The placement of casts in symbols, compared with MXNet 1.9.1."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp

DATA = Path(__file__).resolve().parents[1] / "data"
_spec = importlib.util.spec_from_file_location("amp_graphs", DATA / "make_amp_graphs.py")
graphs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(graphs)


def golden():
    """{name: lines} of MXNet's graphs."""
    actual, name = {}, ""
    for line in (DATA / "amp_graphs.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            actual[name].append(line)
        else:
            name = line
            actual[name] = []
    return actual


GOLDEN = golden()


@pytest.mark.parametrize("name", [name for name in GOLDEN if name != "init"])
def test_conversion(name):
    symbol, given = graphs.networks(mx)[name]
    assert graphs.described(amp.convert_symbol(symbol, **given)) == GOLDEN[name]


@pytest.mark.parametrize("name", [name for name in GOLDEN if name != "init"])
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_a_second_conversion_changes_nothing(name, target):
    symbol, keywords = graphs.networks(mx)[name]
    keywords = {key: value for key, value in keywords.items() if not key.endswith("_ops")}
    once = amp.convert_symbol(symbol, target, **keywords)
    assert graphs.described(amp.convert_symbol(once, target, **keywords)) == graphs.described(once)


def test_symbols_made_under_init(mixed, caplog):
    mixed("float16")
    assert graphs.described(graphs.under_init(mx)) == GOLDEN["init"]
    assert "SoftmaxOutput does not support dynamic loss scaling" in caplog.text


def test_a_later_init_keeps_the_type_and_says_so(mixed, caplog):
    mixed("bfloat16")
    mixed("bfloat16")
    assert "amp.reset" not in caplog.text
    mixed("float16")
    assert "AMP runs in bfloat16 since an earlier amp.init" in caplog.text
    with pytest.raises(AssertionError, match="received 'bf16'"):
        amp.convert_symbol(mx.sym.var("data"), "bf16")


@pytest.mark.parametrize("name", list(graphs.networks(mx)))
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_files_are_those_of_float32(name, target):
    symbol, keywords = graphs.networks(mx)[name]
    keywords = {key: value for key, value in keywords.items() if not key.endswith("_ops")}
    converted = amp.convert_symbol(symbol, target, **keywords)
    plain, nodes = (json.loads(one.tojson())["nodes"] for one in (symbol, converted))
    inner = [node for node in nodes if node["op"] not in ("amp_cast", "amp_multicast")]
    told = [{key: node[key] for key in ("op", "name", "inputs")} for node in inner]
    assert told == [{key: node[key] for key in ("op", "name", "inputs")} for node in plain]
    casts = len(nodes) - len(inner)  # only those of outputs, which MXNet keeps as well
    assert casts <= len(converted.list_outputs())
    whole = json.loads(converted.tojson(remove_amp_cast=False))["nodes"]
    assert any(node["op"].startswith("amp_") for node in whole) or whole == nodes


def test_inputs_of_float32_beside_bfloat16():
    x = mx.sym.var("x")
    dense = mx.sym.FullyConnected(x, num_hidden=3, name="f")
    low = mx.sym.amp_cast(mx.sym.var("gamma"), dtype="bfloat16", name="low")
    symbol = amp.convert_symbol(mx.sym.BatchNorm(dense, gamma=low, name="bn"), "bfloat16")
    assert "  amp_cast low_output_amp_cast_float32(low:0) dtype=float32" in graphs.described(symbol)


def test_arrays_of_two_types_are_joined_in_the_widest():
    x = mx.sym.var("x")
    dense = mx.sym.FullyConnected(x, num_hidden=3, name="f")
    joined = mx.sym.concat(dense, mx.sym.exp(x, name="e"), name="cc")
    symbol = amp.convert_symbol(joined, "bfloat16")
    out = symbol.eval(x=mx.nd.ones((2, 2)), f_weight=mx.nd.ones((3, 2)), f_bias=mx.nd.zeros(3))[0]
    assert out.dtype == np.float32
    np.testing.assert_allclose(out.asnumpy(), [[2, 2, 2, np.e, np.e]] * 2, rtol=1e-6)


def test_control_flow_runs_in_float32():
    x = mx.sym.var("x")
    dense = mx.sym.FullyConnected(x, num_hidden=2, name="f")
    total, _ = mx.sym.contrib.foreach(lambda row, s: (row + s, row + s), dense, mx.sym.var("s"))
    symbol = amp.convert_symbol(total, "bfloat16")
    keywords = {"x": mx.nd.ones((3, 2)), "f_weight": mx.nd.ones((2, 2)), "f_bias": mx.nd.zeros(2)}
    out = symbol.eval(s=mx.nd.zeros(2), **keywords)[0]
    np.testing.assert_array_equal(out.asnumpy(), [[2, 2], [4, 4], [6, 6]])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"target_dtype": "float64"}, "Only target_dtype"),
        ({"target_dtype_ops": "FullyConnected"}, "target_dtype_ops should be a list of strs"),
        ({"fp32_ops": 3}, "fp32_ops should be a list of strs"),
        ({"conditional_fp32_ops": 3}, "conditional_fp32_ops should be a list"),
        ({"excluded_sym_names": "x"}, "excluded_sym_names should be a list of strs"),
        (
            {"target_dtype_ops": ["exp"], "fp32_ops": ["exp"]},
            "Common ops in target_dtype_ops and fp32_ops {'exp'}",
        ),
        ({"fp32_ops": ["elemwise_add"]}, "not in any of them"),
        ({"target_dtype_ops": ["foo"]}, "Op {'foo'} not in any of them"),
        (
            {"fp32_ops": ["Activation"], "conditional_fp32_ops": [("Activation", "a", ["b"])]},
            "Common ops in fp32_ops and conditional_fp32_ops",
        ),
    ],
)
def test_wrong_arguments(given, words):
    symbol = mx.sym.exp(mx.sym.var("x"))
    with pytest.raises(AssertionError) as caught:
        amp.convert_symbol(symbol, **given)
    assert words in str(caught.value)


def test_other_wrong_arguments():
    with pytest.raises(AssertionError, match="should be Symbol"):
        amp.convert_symbol(3)
    with pytest.warns(UserWarning, match="nope"):
        amp.convert_symbol(mx.sym.exp(mx.sym.var("x")), excluded_sym_names=["nope"])
    excluded = mx.sym.FullyConnected(
        mx.sym.var("x"), num_hidden=2, name="f", attr={"__opt_constraint__": "1"}
    )
    assert graphs.described(amp.convert_symbol(excluded)) == graphs.described(excluded)
