"""Write symbol_golden.json: MXNet 1.9.1's information about symbols of single operators.

Reads the cases from stdin, see `tests/symbol/cases.py`. Runs under a Python with MXNet 1.9.1.
"""

import ctypes
import json
import sys
import warnings
import zlib
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet.base import _LIB, c_str
from mxnet.symbol._internal import _symbol_creator

warnings.simplefilter("ignore")


def make(op, attrs):
    """The symbol of an operator without inputs, named n; None if there is no such operator."""
    handle = ctypes.c_void_p()
    if _LIB.NNGetOpHandle(c_str(op), ctypes.byref(handle)) != 0:
        return None
    return _symbol_creator(handle.value, None, {}, list(attrs), list(attrs.values()), "n", False)


def names(types):
    return [[None if t is None else np.dtype(t).name for t in part] for part in types]


def answers(case):
    """One line of the file."""
    symbol = make(case["op"], case["attrs"])
    if symbol is None:
        return None
    text = symbol.tojson()
    actual = {
        "args": symbol.list_arguments(),
        "aux": symbol.list_auxiliary_states(),
        "outs": symbol.list_outputs(),
        "json": zlib.crc32(text.encode()),
    }
    inputs = symbol.list_inputs()
    shapes = {name: tuple(shape) for name, shape in zip(inputs, case["shapes"], strict=False)}
    types = {n: t for n, t in zip(inputs, case["dtypes"], strict=False) if t != "bfloat16"}

    def ask(key, function):
        try:
            actual[key] = function()
        except mx.MXNetError:
            pass

    ask("shape", lambda: symbol.infer_shape_partial(**shapes))
    ask("type", lambda: names(symbol.infer_type_partial(**types)))
    if inputs:
        first, last = inputs[0], inputs[len(case["shapes"]) - 1]
        ask("shape of first", lambda: symbol.infer_shape_partial(**{first: shapes[first]}))
        ask("shape of last", lambda: symbol.infer_shape_partial(**{last: shapes[last]}))
        ask("type of first", lambda: names(symbol.infer_type_partial(**{first: "float64"})))
    if inputs and len(symbol) == 1 and actual.get("shape"):
        whole = symbol + mx.sym.var("other")
        out = tuple(actual["shape"][1][0])
        ask("shape of output", lambda: whole.infer_shape_partial(other=out))
        ask("type of output", lambda: names(whole.infer_type_partial(other="float64")))
    return actual


lines = []
for case in json.load(sys.stdin):
    try:
        answer = answers(case)
    except mx.MXNetError:
        continue
    if answer is not None:
        lines.append(json.dumps({**case, **answer}))
path = Path(__file__).parent / "symbol_golden.json"
path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
print(f"{len(lines)} cases in {path}")
