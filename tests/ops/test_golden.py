"""Operators match real MXNet: outputs, gradients and mutated inputs (golden/*.npz)."""

from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY
from tests.ops.golden.cases import ALL
from tests.ops.random import random_cases

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = {"float16": (2e-3, 1e-3), "float32": (2e-5, 2e-6), "float64": (1e-9, 1e-10)}


@pytest.fixture(scope="module")
def golden():
    collected = {}
    for path in GOLDEN.glob("*.npz"):
        with np.load(path) as file:
            for key in file.files:
                name, _, part = key.rpartition("/")
                collected.setdefault(name, {})[part] = file[key]
    return collected


@pytest.mark.parametrize("name", ALL)
def test_equals_mxnet(name, golden):
    want, actual, factor = golden[name], ALL[name].run(mx), ALL[name].tol
    assert actual.keys() == want.keys()
    for part, values in want.items():
        assert actual[part].dtype == values.dtype, part
        assert actual[part].shape == values.shape, part
        rtol, atol = (factor * x for x in TOLERANCE.get(str(values.dtype), (0, 0)))
        np.testing.assert_allclose(actual[part], values, rtol=rtol, atol=atol, err_msg=part)


def test_every_golden_value_has_a_case(golden):
    assert golden.keys() == ALL.keys()


#: public operators without golden values
WITHOUT = {
    **dict.fromkeys(
        (
            "_contrib_ModulatedDeformableConvolution",
            "_contrib_count_sketch",
            "_contrib_fft",
            "_contrib_ifft",
            "_contrib_mrcnn_mask_target",
        ),
        "MXNet has them on GPUs only",
    ),
    **dict.fromkeys(
        ("_contrib_getnnz", "_contrib_group_adagrad_update", "_sparse_adagrad_update"),
        "MXNet takes sparse arrays only",
    ),
    **dict.fromkeys(
        (
            "_random_binomial",
            "_sample_binomial",
            "_image_random_crop",
            "_image_random_resized_crop",
        ),
        "draw other numbers than MXNet 2.0, which alone has them",
    ),
    **dict.fromkeys(
        ("_contrib_quantize_asym", "_contrib_quantized_rnn"),
        "MXNet's crash or find no oneDNN primitive",
    ),
    "_linalg_inverse_or_zero": "is no operator of MXNet's",
    **dict.fromkeys(
        ("_sparse_retain", "cast_storage"),
        "make or take sparse arrays: tests/ndarray/sparse has values of MXNet 1.9.1",
    ),
}


def record_of(op):
    """The record behind a name below ``mx.nd``."""
    *space, name = op.split(".")
    where = space[0] if space else homes.MAIN
    actual = homes.registered(where, name) or REGISTRY.get(
        f"_{where}_{name}" if where else f"_{name}"
    )
    return actual.name


def test_every_public_operator_has_golden_values():
    asked = {record_of(case.op) for case in ALL.values()}
    asked |= {REGISTRY[case.operator].name for case in random_cases.cases()}
    lacking = {
        record.name
        for record in REGISTRY.values()
        if any(
            homes.home(name)[0] not in (homes.INTERNAL, None)
            for name in (record.name, *record.aliases)
        )
    } - asked
    assert lacking == WITHOUT.keys()
