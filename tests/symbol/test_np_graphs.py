"""Graphs of `mx.np` calls compared with those of MXNet 2.0.0b1."""

import gzip
import json
import math

import numpy as onp
import pytest

import mxcy as mx
from mxcy import _deferred_compute as deferred
from mxcy import np, npx
from mxcy.graph.node import attrs_of
from mxcy.ops.core.record import REGISTRY, find
from tests.data import make_np_graphs as made

CASES = json.loads(gzip.decompress(made.TARGET.read_bytes()))

#: calls whose results are factors that are unique up to signs only
SIGNS = ("np.linalg.eigh(spd)", "np.linalg.svd(x)")

_WAITS = "its shape depends on values: blocks with such calls stay eager (5)"
_NAMES = "two names of one function in MXNet (2.2)"
_OPEN = "extents that are not given stay open (4)"
_PARTS = "composed of other operators, with gradients (2.5)"
_SIZES = "kernel=(3, 3), num_filter=2, no_bias=True"
_SYNC = "npx.sync_batch_norm(img, np.ones(2), np.zeros(2), np.zeros(2), np.ones(2), key='k')"
#: calls recorded differently -> reason, with the paragraph of the specification
OURS = {
    "np.delete(v, i[0])": _WAITS,
    "np.flatnonzero(x)": _WAITS,
    "np.insert(v, i[0], v3)": _WAITS,
    "np.nonzero(x)": _WAITS,
    "np.where(x)": _WAITS,
    "np.unique_values(v)": _WAITS,
    "x[x > y]": _WAITS,
    "np.triu_indices(3)": "constants of NumPy's (2.4)",
    "np.triu_indices_from(s)": "constants of NumPy's (2.4)",
    "np.meshgrid(v, w)": "one reshape for each array (2.4)",
    "np.hsplit(x, 3)": "the axis is the one that is cut (2.4)",
    "np.hstack((x, y))": "the attribute dim has no meaning (2.4)",
    "np.hypot(x, 2)": _NAMES,
    "np.maximum(x, y)": _NAMES,
    "np.maximum(x, 2)": _NAMES,
    "np.minimum(x, y)": _NAMES,
    "np.minimum(x, 2)": _NAMES,
    "np.linalg.diagonal(s)": _PARTS,
    "np.linalg.trace(s)": _PARTS,
    "np.linalg.vecdot(x, y, axis=1)": _PARTS,
    "np.linalg.matrix_norm(x)": "axes are counted from the first (2.5)",
    f"npx.convolution(img, ker, {_SIZES})": _OPEN,
    f"npx.deconvolution(img, ker.transpose(1, 0, 2, 3), {_SIZES})": _OPEN,
    f"npx.deconvolution(img, ker, {_SIZES})": _OPEN,
    "npx.pooling(img, kernel=(2, 2))": _OPEN,
    _SYNC: "the key, by which devices meet in MXNet, has no meaning (4)",
}


def given(whole):
    return {k: np.array(a, dtype=a.dtype) for k, a in made.operands(whole).items()}


def draws(graph):
    """Whether a graph's results are random."""
    ops = [find(node["op"]) for node in graph["nodes"] if node["op"] != "null"]
    return any(op is not None and op.uses_rng for op in ops)


@pytest.mark.parametrize("call", CASES)
@mx.util.use_np
def test_graphs_of_mxnet_2_compute_here(call):
    graph, results, whole = CASES[call]
    symbol = mx.sym.fromjson(json.dumps(graph)).as_np_ndarray()
    arrays = given(whole)
    outputs = symbol.eval(**{name: arrays[name] for name in symbol.list_inputs()})
    assert len(outputs) == len(results)
    for output, (dtype, shape, values) in zip(outputs, results, strict=True):
        assert (output.dtype.name, output.shape) == (dtype, tuple(shape))
        if draws(graph):
            continue
        wanted = onp.array(values, dtype).reshape(shape)
        actual = output.asnumpy()
        if call in SIGNS:
            wanted, actual = abs(wanted), abs(actual)
        onp.testing.assert_allclose(actual, wanted, 1e-4, 1e-5)


def noted(call, whole):
    """The entries of a call's graph."""
    arrays = given(whole)
    with deferred.context():
        deferred.set_variable(list(arrays.values()), [mx.sym.var(name) for name in arrays])
        outputs = made.flat(eval(call, {"np": np, "npx": npx, "mx": mx, "onp": onp, **arrays}))
        entries, constants = deferred.noted(outputs)
    assert not constants
    return entries


def same_value(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-5)
    return one == other


def check_same(entry, place, nodes, seen):
    """Compare an entry of ours with an entry of MXNet's file."""
    (node, index), (number, other_index, _) = entry, place
    theirs = nodes[number]
    assert index == other_index
    if (id(node), number) in seen:
        return
    seen.add((id(node), number))
    if node.op is None:
        assert theirs["op"] == "null" and theirs["name"] == node.name
        return
    known = REGISTRY[theirs["op"]]
    meant = REGISTRY.get(known.in_symbols.under_np_shape, known)
    assert node.op in (known, meant) or theirs["op"] == node.op.name
    spellings = known.in_symbols.spellings
    texts = {spellings.get(k, k): text for k, text in theirs.get("attrs", {}).items()}
    for key in texts.keys() - node.op.schema.by_name.keys() - {"__profiler_scope__"}:
        assert texts[key] in ("None", "0", "1"), key  # unused by MXNet
    wanted = attrs_of(node.op, {k: t for k, t in texts.items() if k in node.op.schema.by_name})
    for field in node.op.schema.fields:
        pair = getattr(node.parsed, field.name), getattr(wanted, field.name)
        assert field.name == "ctx" or same_value(*pair), (field.name, pair)
    assert len(node.inputs) == len(theirs["inputs"])
    for source, other in zip(node.inputs, theirs["inputs"], strict=True):
        check_same(source, other, nodes, seen)


@pytest.mark.parametrize("call", [call for call in CASES if call not in OURS])
@mx.util.use_np
def test_calls_are_noted_down_as_mxnet_2_does(call):
    graph, _, whole = CASES[call]
    entries = noted(call, whole)
    assert len(entries) == len(graph["heads"])
    for entry, head in zip(entries, graph["heads"], strict=True):
        check_same(entry, head, graph["nodes"], set())


@pytest.mark.parametrize("call", OURS)
@mx.util.use_np
def test_own_graphs_differ_but_compute_the_same(call):
    graph, _, whole = CASES[call]
    try:
        entries = noted(call, whole)
        for entry, head in zip(entries, graph["heads"], strict=True):
            check_same(entry, head, graph["nodes"], set())
    except (AssertionError, KeyError, TypeError, ValueError, mx.MXNetError):
        return
    pytest.fail(f"{call} is noted down as MXNet does: no difference to list")
