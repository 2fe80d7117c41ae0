"""Quantized graphs equal MXNet 1.9.1's: nodes, names, inputs and attributes."""

import gzip
import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.quantization import collectors, symbols
from tests.quantization import golden

RANGE = ("min_calib_range", "max_calib_range")
NETS = golden.nets(mx)


@pytest.fixture(scope="module")
def wanted():
    return json.loads(gzip.decompress(golden.GRAPHS.read_bytes()))


def named_alike(name):
    """If MXNet does not know an output's name, it writes its index."""
    return name.replace("emb_output", "emb_0")


def rows(nodes):
    """The nodes without ranges."""
    return [
        (op, named_alike(name), [named_alike(entry) for entry in inputs])
        + ({k: text.lower() for k, text in attrs.items() if k not in RANGE},)
        for op, name, inputs, attrs in nodes
    ]


def ranges(nodes):
    return {
        (named_alike(name), key): float(attrs[key])
        for _, name, _, attrs in nodes
        for key in RANGE
        if key in attrs
    }


@pytest.mark.parametrize("backend", (False, True), ids=("plain", "fused"))
@pytest.mark.parametrize("name", NETS)
def test_same_nodes(name, backend, wanted, monkeypatch):
    monkeypatch.setattr(collectors, "_CLIPPED", 1)  # MXNet's clipping is unlimited
    for key, wish in golden.cases(backend):
        key = f"{name}/{'fused' if backend else 'plain'}/{key}"
        if key not in wanted:  # MXNet fails
            continue
        actual = golden.quantized(mx, name, *NETS[name], backend, **wish)[3]
        for got, want in zip(actual, wanted[key], strict=True):
            assert rows(got) == rows(want), key
            # MXNet finds no ranges of unfused layers under their names, and writes six decimals.
            told = ranges(got)
            for place, limit in ranges(want).items():
                assert told[place] == pytest.approx(limit, rel=1e-4, abs=2e-6), (key, place)


@pytest.mark.parametrize("name", NETS)
def test_all_that_can_be_calibrated_is(name):
    wish = {"quantize_mode": "full", "quantized_dtype": "int8", "calib_mode": "naive"}
    qsym, *_ = golden.quantized(mx, name, *NETS[name], False, **wish)
    for op, node, _, attrs in golden.described(qsym):
        if op in ("_contrib_quantize_v2", "_contrib_requantize", "_contrib_quantized_batch_norm"):
            assert set(RANGE) <= attrs.keys(), node


def test_files_of_mxnet_compute_the_same():
    qsym, args, auxs = mx.model.load_checkpoint(str(golden.MODEL), 0)
    assert "_sg_mkldnn_conv" in qsym.tojson()
    with np.load(f"{golden.MODEL}.npz") as file:
        data, output = file["data"], file["output"]
    for sym in (qsym, mx.sym.load_json(qsym.tojson())):
        args["data"] = mx.nd.array(data)
        executor = sym.bind(mx.cpu(), args, aux_states=auxs, grad_req="null")
        actual = executor.forward()[0].asnumpy()
        # MXNet dequantizes dense weights 0.4 % too small, and sums round in another order.
        assert abs(actual - output).max() < 0.02 * abs(output).max()


def test_names_with_numpy_semantics_are_those_of_mxnet_2():
    image, other = mx.sym.var("img"), mx.sym.var("other")
    conv = mx.sym.Convolution(image, kernel=(1, 1), num_filter=4, name="c")
    joined = mx.sym.Concat(conv, other, dim=1, name="cat")
    curved = mx.sym.Activation(conv, act_type="tanh", name="t")
    last = mx.sym.Convolution(curved, kernel=(1, 1), num_filter=4, name="d")
    net = mx.sym.Group([joined, mx.sym.elemwise_add(last, mx.sym.var("more"), name="add")])
    params = [name for name in net.list_arguments() if name[:2] in ("c_", "d_")]
    expected = {
        False: ["img_quantize", "other_quantize", "t_output_quantize", "more_quantize"],
        True: ["c_data_quantize", "cat_arg1_quantize", "t_output_quantize", "add_rhs_quantize"],
    }
    for active, names in expected.items():
        with mx.util.np_array(active):
            qsym, _ = symbols.quantize_symbol(net, offline_params=params)
        nodes = json.loads(qsym.tojson())["nodes"]
        assert [n["name"] for n in nodes if n["op"] == "_contrib_quantize_v2"] == names
