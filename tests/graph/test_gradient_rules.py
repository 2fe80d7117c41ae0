"""Every gradient rule as a graph: its references match eager autograd."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import HEAD, gradient
from mxcy.graph.storage_types import makes_sparse
from mxcy.graph.verify import verify
from mxcy.ops.core.infer import Spec
from tests.each_sample import each_sample
from tests.ops.test_records import RECORDS, attrs_of, call_eagerly, draw, samples_of

REFUSES = "_shuffle"  # the rule raises


def cases():
    for name, record in RECORDS:
        if record.differentiable and record.eager is None and name != REFUSES:
            for index, sample in enumerate(samples_of(record)):
                attrs = record.schema.intern(name, attrs_of(record, sample))
                if makes_sparse(record, attrs, len(sample.inputs)):
                    continue  # or rejects dense arrays
                kinds = sample.dtypes or record.dtypes
                dtype = "float64" if "float64" in kinds else "float32"
                if dtype in kinds:
                    yield pytest.param(record, sample, dtype, id=f"{name}-{index}")


def is_float(values):
    return values.dtype in (np.float64, np.float32)


def by_graph(record, sample, inputs, wanted, weights):
    """The gradients of the wanted inputs from a graph."""
    builder = Builder(sample.train)
    entries = [
        builder.variable(f"in{i}", Spec(v.shape, dtypes.code_of(v.dtype)))
        for i, v in enumerate(inputs)
    ]
    number, _ = builder.add(record, attrs_of(record, sample), entries)
    visible = record.visible(builder.nodes[number].attrs)
    graph = builder.finish([(number, i) for i in range(visible)])
    training = verify(gradient(graph, wanted, train=sample.train), record.name)
    values = {f"in{i}": v for i, v in enumerate(inputs)}
    values.update((f"{HEAD}{i}", w) for i, w in enumerate(weights))
    assert_no_silent_zeros(training)
    if any(node.op is not None and node.op.uses_rng for node in training.nodes):
        return None  # building the graph is the only check
    return evaluate(training, values)[0][visible:]


def assert_no_silent_zeros(training):
    """Check that operators which rules apply to their inputs have a rule too, if only an error.

    An operator without one counts as a constant, so gradients of gradients would be silent zeros.
    """
    depends = []
    for node in training.nodes:
        depends.append(node.op is None or any(depends[source] for source, _ in node.inputs))
        if node.op is not None and depends[-1]:
            assert node.op.differentiable, f"{node.op.name} has no gradient rule: see no_rule"


def eagerly(record, sample, inputs, wanted):
    """Head gradients of the outputs, and the gradients of the wanted inputs from the tape."""
    arrays = [front.from_numpy(v.copy(), dtypes.code_of(v.dtype), mx.cpu()) for v in inputs]
    grads = [
        front.from_numpy(np.zeros_like(inputs[i]), dtypes.code_of(inputs[i].dtype), mx.cpu())
        for i in wanted
    ]
    autograd.mark_variables([arrays[i] for i in wanted], grads)
    with autograd.record(train_mode=sample.train):
        outs = call_eagerly(record, arrays, sample)
    rng = np.random.default_rng(3)
    weights = [np.asarray(rng.uniform(0.5, 1.5, o.shape)).astype(o.dtype) for o in outs]
    heads = [
        (out, front.from_numpy(weight, out.dtype_code, mx.cpu()))
        for out, weight in zip(outs, weights, strict=True)
        if out.node is not None
    ]
    if heads:
        autograd.backward(*map(list, zip(*heads, strict=True)), train_mode=sample.train)
    return weights, [grad.numpy_view() for grad in grads]


@each_sample(cases())
def test_graphs_agree_with_the_tape(record, sample, dtype):
    inputs = [np.ascontiguousarray(v) if v.ndim else v for v in draw(record, sample, dtype)]
    written = record.mutated(len(inputs))
    wanted = [i for i, v in enumerate(inputs) if is_float(v) and i not in written]
    try:
        weights, tape = eagerly(record, sample, inputs, wanted)
    except MXNetError as refusal:
        assert "no gradient" in str(refusal)
        with pytest.raises(MXNetError, match="no gradient"):
            by_graph(record, sample, inputs, wanted, [])
        return
    actual = by_graph(record, sample, inputs, wanted, weights)
    if actual is None:
        return
    tolerance = 1e-9 if dtype == "float64" else 2e-5
    for got, want in zip(actual, tape, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, tolerance * sample.tol, tolerance * sample.tol)
