"""Every operator on its samples: the bound symbol matches the eager call."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.graph.storage_types import makes_sparse
from mxcy.ndarray import register
from mxcy.symbol import compose
from mxcy.symbol.attributes import text_of
from tests.each_sample import each_sample
from tests.ops.test_records import RECORDS, attrs_of, draw, samples_of, to_array

MOST = 3  # samples of one operator


def cases():
    for name, record in RECORDS:
        # Symbols have outputs, and random numbers are not the same twice.
        if record.eager is None and not record.uses_rng and name != "reset_arrays":
            for index, sample in enumerate(samples_of(record)[:MOST]):
                # Operators that are sparse or fail for dense inputs have separate tests.
                attrs = record.schema.intern(name, attrs_of(record, sample))
                if makes_sparse(record, attrs, len(sample.inputs)):
                    continue
                yield pytest.param(record, sample, id=f"{name}-{index}")


def symbol_of(record, sample, count):
    attrs = {
        key: text_of(record.schema.by_name[key], v) for key, v in attrs_of(record, sample).items()
    }
    inputs = [mx.sym.var(f"in{i}") for i in range(count)]
    return mx.sym.Symbol(compose.apply(record, "n", attrs, inputs, {}))


def bits(array):
    return np.asarray(array.numpy_view())


@each_sample(cases())
def test_the_bound_symbol_equals_the_eager_call(record, sample):
    dtype = (sample.dtypes or record.dtypes)[0]
    values = draw(record, sample, dtype)
    symbol = symbol_of(record, sample, len(values))
    arrays = {f"in{i}": to_array(v) for i, v in enumerate(values)}
    states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(mx.cpu(), arrays, aux_states=states, grad_req="null")
    eager = [to_array(v) for v in values]
    with autograd.train_mode() if sample.train else autograd.predict_mode():
        expected = register.function(record)(*eager, **sample.attrs)
    actual = executor.forward(is_train=sample.train)
    expected = expected if isinstance(expected, list) else [expected]
    for ours, other in zip(actual, expected, strict=True):
        assert ours.shape == other.shape and ours.dtype_code == other.dtype_code
        close(bits(ours), bits(other), dtypes.name_of(ours.dtype_code))
    for name, after in {**arrays, **states}.items():  # inputs that the operator writes
        close(bits(after), bits(eager[int(name[2:])]), dtypes.name_of(after.dtype_code))


def differentiable():
    for case in cases():
        record, sample = case.values
        if record.differentiable and sample.grad and not record.variadic and record.inputs:
            yield case


@each_sample(differentiable())
def test_the_gradients_equal_the_eager_ones(record, sample):
    values = draw(record, sample, (sample.dtypes or record.dtypes)[0])
    symbol = symbol_of(record, sample, len(values))
    names = [f"in{i}" for i in range(len(values))]
    arrays = dict(zip(names, map(to_array, values), strict=True))
    states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
    gradients = {name: mx.nd.zeros_like(array) for name, array in arrays.items()}
    executor = symbol.bind(mx.cpu(), arrays, gradients, aux_states=states)
    eager = [to_array(v) for v in values]
    wanted = [array for name, array in zip(names, eager, strict=True) if name in arrays]
    for array in wanted:
        array.attach_grad()
    with autograd.record(train_mode=True):
        out = register.function(record)(*eager, **sample.attrs)
    heads = out if isinstance(out, list) else [out]
    try:
        autograd.backward(heads, train_mode=True)
    except MXNetError as refusal:
        assert "no gradient" in str(refusal)
        with pytest.raises(MXNetError, match="no gradient"):
            executor.forward(is_train=True)
        return
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones_like(head) for head in heads])
    for name, array in zip(arrays, wanted, strict=True):
        close(bits(gradients[name]), bits(array.grad), dtypes.name_of(array.dtype_code), 1e-5)


def close(ours, other, dtype, tolerance=1e-6):
    if dtype in ("float32", "float64"):
        np.testing.assert_allclose(ours, other, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(ours, other)
