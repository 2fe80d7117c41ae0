"""mx.nd matches real MXNet 1.9.1, whose results are in tests/data/nd_golden.json."""

import json
from pathlib import Path

import pytest

import mxcy as mx
from tests.ndarray import nd_answers

GOLDEN = json.loads((Path(__file__).resolve().parents[1] / "data" / "nd_golden.json").read_text())
CASES = [(kind, case) for kind, cases in GOLDEN.items() for case in cases]

#: intended differences
DEVIATIONS = {
    # real MXNet trips over its own shape tuple
    "nd.array(3)[0]": ["error", "IndexError", "too many indices (1) for array with 0 dimensions"],
    "len(nd.array(3))": ["error", "TypeError"],
    # real MXNet cannot join arrays while recording
    "nd.concatenate([x,x])": [
        [4, 3, 4],
        ["array", "float32", [2, 3, 4], [4.0 * i for i in range(24)]],
    ],
}


def alike(real, ours):
    """Equality with the tolerance of real MXNet's softmax, which is not very accurate."""
    if isinstance(real, list) and isinstance(ours, list):
        return len(real) == len(ours) and all(map(alike, real, ours))
    if isinstance(real, float) and isinstance(ours, (int, float)):
        return abs(real - ours) <= 4e-6 * max(1, abs(real))
    return real == ours and type(real) is type(ours)


@pytest.mark.parametrize(("kind", "case"), CASES, ids=[f"{k}-{c}" for k, c in CASES])
def test_answers_as_the_original_does(kind, case):
    ours = json.loads(json.dumps(nd_answers.answer(mx, kind, case)))
    expected = DEVIATIONS.get(case, GOLDEN[kind][case])
    assert alike(expected, ours), f"expected {expected}, got {ours}"


def test_deviations_are_cases():
    cases = {case for _, case in CASES}
    assert cases.issuperset(DEVIATIONS)
