"""Higher derivatives of every record: equal to finite differences, or an error."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.graph.storage_types import makes_sparse
from tests.each_sample import each_sample
from tests.ops.test_records import RECORDS, attrs_of, call_eagerly, draw, samples_of

STEP = 1e-5
#: samples at points without a second derivative: singular matrices, equal elements
SINGULAR = {"_linalg_inverse_or_zero-2", "_linalg_slogdet-3", "_mx_slogdet-3", "sort-3", "sort-4"}
SINGULAR |= {"_npi_std-3", "_npi_std-4"}


def cases():
    for name, record in RECORDS:
        if not record.differentiable or record.eager is not None or record.uses_rng:
            continue
        if "float64" not in record.dtypes:
            continue
        for index, sample in enumerate(samples_of(record)):
            attrs = record.schema.intern(name, attrs_of(record, sample))
            if makes_sparse(record, attrs, len(sample.inputs)):
                continue
            if "float64" in (sample.dtypes or record.dtypes) and f"{name}-{index}" not in SINGULAR:
                yield pytest.param(record, sample, id=f"{name}-{index}")


def as_array(values):
    return front.from_numpy(values.copy(), dtypes.code_of(values.dtype), mx.cpu())


def symmetric(move):
    """Make matrices symmetric: factorizations read a triangle and give symmetric gradients."""
    if move.ndim >= 2 and move.shape[-1] == move.shape[-2]:
        return move + move.swapaxes(-1, -2)
    return move


class Constant(Exception):
    """No output of a call has a gradient."""


class Gradients:
    """The gradients of one sample's outputs, weighted, as a function of its inputs."""

    def __init__(self, record, sample, inputs):
        self.record, self.sample, self.inputs = record, sample, inputs
        written = record.mutated(len(inputs))
        self.wanted = [
            i for i, v in enumerate(inputs) if v.dtype == np.float64 and i not in written
        ]

    def _recorded(self, inputs):
        """The variables, the recorded outputs, and their head gradients."""
        arrays = [as_array(v) for v in inputs]
        variables = [arrays[i] for i in self.wanted]
        for variable in variables:
            variable.attach_grad()
        with autograd.record(train_mode=self.sample.train):
            outs = call_eagerly(self.record, arrays, self.sample)
        rng = np.random.default_rng(3)
        weights = [np.asarray(rng.uniform(0.5, 1.5, o.shape)).astype(o.dtype) for o in outs]
        heads = [
            (o, as_array(w))
            for o, w in zip(outs, weights, strict=True)
            if o.node is not None and w.dtype == np.float64
        ]
        if not heads:
            raise Constant
        return variables, heads

    def at(self, inputs, factor=1.0):
        """The gradients of the outputs times a factor, as NumPy arrays."""
        variables, heads = self._recorded(inputs)
        outs, arrays = map(list, zip(*heads, strict=True))
        arrays = [as_array(np.asarray(g.asnumpy() * factor, g.dtype)) for g in arrays]
        autograd.backward(outs, arrays, train_mode=self.sample.train)
        return [variable.grad.asnumpy() for variable in variables]

    def twice(self, weights):
        """The tape's gradients of the weighted gradients, by the inputs and by the factor."""
        variables, heads = self._recorded(self.inputs)
        outs, given = map(list, zip(*heads, strict=True))
        for each in given:
            each.attach_grad()
        mode = {"create_graph": True, "train_mode": self.sample.train}
        first = autograd.grad(outs, variables, given, **mode)
        pairs = [
            (f, as_array(w)) for f, w in zip(first, weights, strict=True) if f.node is not None
        ]
        if pairs:
            autograd.backward(*map(list, zip(*pairs, strict=True)), train_mode=self.sample.train)
        by_factor = sum(np.sum(g.grad.asnumpy() * g.asnumpy()) for g in given)
        return [variable.grad.asnumpy() for variable in variables], by_factor


@each_sample(cases())
def test_gradients_of_gradients(record, sample):
    inputs = [np.ascontiguousarray(v) if v.ndim else v for v in draw(record, sample, "float64")]
    function = Gradients(record, sample, inputs)
    rng = np.random.default_rng(5)
    try:
        first = function.at(inputs)
        weights = [rng.uniform(0.5, 1.5, v.shape) * (v != 0).any() for v in first]
        second, by_factor = function.twice(weights)
    except Constant:
        return
    except MXNetError as refusal:
        assert "no gradient" in str(refusal)
        return
    moves = [
        symmetric(rng.uniform(-1, 1, inputs[i].shape)) * (v != 0).any()
        for i, v in zip(function.wanted, first, strict=True)
    ]  # inputs without a gradient count as constants

    def along(step, factor):
        moved = list(inputs)
        for i, move in zip(function.wanted, moves, strict=True):
            moved[i] = inputs[i] + step * move
        gradients = function.at(moved, factor)
        return sum(np.sum(w * g) for w, g in zip(weights, gradients, strict=True))

    want = (along(STEP, 1) - along(-STEP, 1)) / (2 * STEP)
    got = sum(np.sum(move * g) for move, g in zip(moves, second, strict=True))
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)
    want = (along(0, 1 + STEP) - along(0, 1 - STEP)) / (2 * STEP)
    np.testing.assert_allclose(by_factor, want, 1e-5, 1e-7)


def third_cases():
    """The first sample of every operator with one input."""
    for case in cases():
        if len(case.values[1].inputs) == 1 and case.id.endswith("-0"):
            yield case


def nested(record, sample, values, weights):
    """Differentiate an operator repeatedly, weighting each gradient: the last gradient."""
    x = as_array(values)
    x.attach_grad()
    with autograd.record(train_mode=sample.train):
        outs = [out for out in call_eagerly(record, [x], sample) if out.node is not None]
        if not outs or values.dtype != np.float64:
            raise Constant
        y = sum(out.sum() for out in outs)
        for weight in weights:
            (y,) = autograd.grad(y, x, create_graph=True, train_mode=sample.train)
            if y.node is None:
                raise Constant
            y = y * as_array(weight)
    y.backward(train_mode=sample.train)
    return x.grad.asnumpy()


@each_sample(third_cases())
def test_third_derivatives(record, sample):
    (values,) = (np.ascontiguousarray(v) for v in draw(record, sample, "float64"))
    rng = np.random.default_rng(5)
    weights = [rng.uniform(0.5, 1.5, values.shape) for _ in range(2)]
    move = symmetric(rng.uniform(-1, 1, values.shape))
    try:
        third = nested(record, sample, values, weights)
        low, high = (
            nested(record, sample, values + step * move, weights[:1]) for step in (-STEP, STEP)
        )
    except Constant:
        return
    except MXNetError as refusal:
        assert "no gradient" in str(refusal)
        return
    want = np.sum(weights[1] * (high - low)) / (2 * STEP)
    np.testing.assert_allclose(np.sum(move * third), want, 1e-4, 1e-4)
