"""Symbols of every operator against MXNet 1.9.1: names, files, forward and backward inference."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core.record import find
from mxcy.symbol import compose

CASES = json.loads((Path(__file__).parents[1] / "data" / "symbol_golden.json").read_text())
SINGLE = [pytest.param(case, id=f"{case['op']}-{i}") for i, case in enumerate(CASES)]

#: (operator, what) -> why ours differs
DIFFERENT = {
    ("GroupNorm", "shape"): "gamma and beta have one value per channel, as in 2.0",
    ("Concat", "shape of first"): "the original adds up only the known extents",
    ("Concat", "shape of last"): "the original adds up only the known extents",
    ("_rnn_param_concat", "shape of first"): "the original adds up only the known extents",
    ("_rnn_param_concat", "shape of last"): "the original adds up only the known extents",
    ("LeakyReLU", "outs"): "rrelu's second output is hidden",
    ("SliceChannel", "outs"): "one part is one output",
    ("_unravel_index", "shape"): "the original counts one dimension less for a shape with -1",
    ("_unravel_index", "shape of first"): "the original counts one dimension less",
    ("_unravel_index", "shape of last"): "the original counts one dimension less",
    ("_histogram", "type of first"): "the original takes the edges for the data's dtype",
}


def learns(case, what):
    """Whether both MXNet and mxcy infer an operator's inputs from its output."""
    return what in case and find(case["op"]).infer_back is not None


def symbol_of(case):
    return mx.sym.Symbol(compose.apply(find(case["op"]), "n", case["attrs"], [], {}))


def names(types):
    def name(dtype):
        return (
            None
            if dtype is None
            else ("bfloat16" if np.dtype(dtype).names else np.dtype(dtype).name)
        )

    return [[name(dtype) for dtype in part] for part in types]


def tells_as_much(ours, theirs):
    """Whether a shape or dtype agrees with MXNet's; it may be more specific."""
    if theirs in (None, []):
        return True
    if isinstance(theirs, str):
        return ours == theirs
    return len(ours) == len(theirs) and all(
        their == 0 or our == their for our, their in zip(ours, theirs, strict=True)
    )


def check(case, what, actual):
    if what not in case:
        return  # MXNet raises an error
    for ours, theirs in zip(actual, case[what], strict=True):
        if (case["op"], what) not in DIFFERENT:
            assert len(ours) == len(theirs) and all(map(tells_as_much, ours, theirs)), (
                f"{what}: {actual}, the original's {case[what]}"
            )


@pytest.mark.parametrize("case", SINGLE)
def test_names_and_file(case):
    symbol = symbol_of(case)
    assert symbol.list_arguments() == case["args"]
    assert symbol.list_auxiliary_states() == case["aux"]
    if (case["op"], "outs") in DIFFERENT:
        return
    assert symbol.list_outputs() == case["outs"]
    text = symbol.tojson()
    assert zlib.crc32(text.encode()) == case["json"], text
    again = mx.sym.load_json(text)
    assert again.tojson() == text and again.list_inputs() == symbol.list_inputs()


@pytest.mark.parametrize("case", SINGLE)
def test_shapes(case):
    symbol = symbol_of(case)
    inputs = symbol.list_inputs()
    shapes = {name: tuple(s) for name, s in zip(inputs, case["shapes"], strict=False)}
    check(case, "shape", symbol.infer_shape_partial(**shapes))
    if "shape of first" in case:
        check(case, "shape of first", symbol.infer_shape_partial(**{inputs[0]: shapes[inputs[0]]}))
    if "shape of last" in case:
        last = inputs[len(case["shapes"]) - 1]
        check(case, "shape of last", symbol.infer_shape_partial(**{last: shapes[last]}))
    if learns(case, "shape of output"):
        whole = symbol + mx.sym.var("other")
        out = tuple(case["shape"][1][0])
        check(case, "shape of output", whole.infer_shape_partial(other=out))


@pytest.mark.parametrize("case", SINGLE)
def test_dtypes(case):
    symbol = symbol_of(case)
    inputs = symbol.list_inputs()
    types = {n: t for n, t in zip(inputs, case["dtypes"], strict=False) if t != "bfloat16"}
    check(case, "type", names(symbol.infer_type_partial(**types)))
    if "type of first" in case:
        check(case, "type of first", names(symbol.infer_type_partial(**{inputs[0]: "float64"})))
    if learns(case, "type of output"):
        whole = symbol + mx.sym.var("other")
        check(case, "type of output", names(whole.infer_type_partial(other="float64")))
