"""Layers, losses, optimizers and so on match MXNet 1.9.1 (golden/golden.npz)."""

import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

GOLDEN = Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from cases import ALL, resumed  # noqa: E402

sys.path.remove(str(GOLDEN))


@pytest.fixture(scope="module")
def golden():
    with np.load(GOLDEN / "golden.npz") as file:
        collected = {}
        for key in file.files:
            program, name, part = key.split("/")
            collected.setdefault((program, name), {})[part] = file[key]
        return collected


def tolerances(values):
    """Tolerances relative to MXNet: float16 weights have three digits."""
    return (
        {"rtol": 2e-3, "atol": 2e-3} if values.dtype == np.float16 else {"rtol": 3e-5, "atol": 3e-6}
    )


@pytest.mark.parametrize(
    ("program", "name"), ALL, ids=[f"{program.__name__}-{name}" for program, name in ALL]
)
def test_equals_mxnet(program, name, golden):
    expected = golden[program.__name__, name]
    actual = program(mx, name)
    assert actual.keys() == expected.keys()
    for part, values in expected.items():
        assert actual[part].dtype == values.dtype, part
        np.testing.assert_allclose(actual[part], values, **tolerances(values), err_msg=part)


def test_states_of_mxnet_are_continued(golden):
    weight, trainer = resumed(mx, str(GOLDEN / "adam.states"))
    np.testing.assert_allclose(weight, golden["resumed", "adam"]["weight"], rtol=1e-6)
    assert trainer.optimizer.num_update == 3
    assert trainer.learning_rate == pytest.approx(0.001 / 4)
