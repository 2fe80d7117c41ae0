"""Properties of records for passes: identities, joins, batches, inputs that are not read."""

import numpy as np
import pytest

from mxcy._base.dtypes import CODES
from mxcy.graph.evaluate import evaluate_node
from mxcy.graph.graph import Node
from mxcy.ops.core.infer import Spec
from tests.ops.test_records import RECORDS, draw, full_attrs, samples_of


def cases(which):
    for name, record in RECORDS:
        if which(record):
            for index, sample in enumerate(samples_of(record)):
                dtype = (sample.dtypes or record.dtypes)[0]
                if dtype != "bfloat16":
                    yield pytest.param(record, sample, dtype, id=f"{name}-{index}")


def outputs(record, sample, inputs):
    node = Node(
        record, record.name, full_attrs(record, sample), [(i, 0) for i in range(len(inputs))]
    )
    return evaluate_node(node, [np.array(v) for v in inputs])


@pytest.mark.parametrize(("record", "sample", "dtype"), list(cases(lambda record: record.identity)))
def test_identities_hand_on_their_first_input(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    actual = outputs(record, sample, inputs)[0]
    assert actual.dtype == inputs[0].dtype
    np.testing.assert_array_equal(np.ravel(actual), np.ravel(inputs[0]))


@pytest.mark.parametrize(("record", "sample", "dtype"), list(cases(lambda record: record.joins)))
def test_joins_put_inputs_one_after_the_other(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    ins = [Spec(value.shape, CODES[dtype]) for value in inputs]
    attrs = full_attrs(record, sample)
    outs = record.infer(attrs, ins)
    in_order = np.array_equal(
        np.ravel(outputs(record, sample, inputs)[0]), np.concatenate([np.ravel(v) for v in inputs])
    )
    assert in_order or not record.joins(attrs, ins, outs)


@pytest.mark.parametrize(("record", "sample", "dtype"), list(cases(lambda record: record.batched)))
def test_samples_of_a_batch_are_independent(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    ins = [Spec(value.shape, CODES[dtype]) for value in inputs]
    positions = list(record.batched(full_attrs(record, sample), ins))
    whole = outputs(record, sample, inputs)[0]
    for begin in range(len(inputs[positions[0]]) if positions else 0):
        part = slice(begin, begin + 1)
        one = [value[part] if p in positions else value for p, value in enumerate(inputs)]
        got = outputs(record, sample, one)[0]
        np.testing.assert_allclose(got, whole[part], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("record", "sample", "dtype"), list(cases(lambda record: record.ignored)))
def test_ignored_inputs_do_not_matter(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    before = outputs(record, sample, inputs)
    for position in record.ignored:
        inputs[position] = np.full_like(inputs[position], 7)
    for got, want in zip(outputs(record, sample, inputs), before, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("record", "sample", "dtype"), list(cases(lambda record: record.repeatable))
)
def test_repeatable_operators_can_run_twice(record, sample, dtype):
    inputs = draw(record, sample, dtype)
    first = outputs(record, sample, inputs)
    again = list(inputs)
    written = record.mutated(len(inputs))
    for position, value in zip(written, first[len(first) - len(written) :], strict=True):
        again[position] = value
    for got, want in zip(outputs(record, sample, again), first, strict=True):
        np.testing.assert_array_equal(got, want)
