"""Operators give what real MXNet gave: outputs, gradients and changed inputs (golden/*.npz)."""

from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from tests.ops.golden.cases import ALL

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = {"float16": (2e-3, 1e-3), "float32": (2e-5, 2e-6), "float64": (1e-9, 1e-10)}


@pytest.fixture(scope="module")
def golden():
    found = {}
    for path in GOLDEN.glob("*.npz"):
        with np.load(path) as file:
            for key in file.files:
                name, _, part = key.rpartition("/")
                found.setdefault(name, {})[part] = file[key]
    return found


@pytest.mark.parametrize("name", ALL)
def test_equals_mxnet(name, golden):
    want, found, factor = golden[name], ALL[name].run(mx), ALL[name].tol
    assert found.keys() == want.keys()
    for part, values in want.items():
        assert found[part].dtype == values.dtype, part
        assert found[part].shape == values.shape, part
        rtol, atol = (factor * x for x in TOLERANCE.get(str(values.dtype), (0, 0)))
        np.testing.assert_allclose(found[part], values, rtol=rtol, atol=atol, err_msg=part)


def test_every_golden_value_has_a_case(golden):
    assert golden.keys() == ALL.keys()
