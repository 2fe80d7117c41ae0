"""Modules with fixed seeds match those of real MXNet 1.9.1."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

HERE = Path(__file__).resolve().parent
ANSWERS = json.loads((HERE.parent / "data" / "module_golden.json").read_text())["answers"]


def load_scenarios():
    spec = importlib.util.spec_from_file_location("scenarios", HERE / "scenarios.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SCENARIOS


SCENARIOS = load_scenarios()


def assert_alike(actual, expected, where=""):
    if isinstance(expected, dict):
        assert sorted(actual) == sorted(expected), where
        for name in expected:
            assert_alike(actual[name], expected[name], f"{where} {name}")
    elif isinstance(expected, str):
        assert actual == expected
    elif isinstance(expected, list) and any(isinstance(part, str) for part in expected):
        for one, other in zip(actual, expected, strict=True):
            assert_alike(one, other, where)
    elif isinstance(expected, list) and expected and isinstance(expected[0], list):
        assert len(actual) == len(expected), where
        for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
            assert_alike(one, other, f"{where} {i}")
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4, err_msg=where)


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_are_those_of_real_mxnet(name):
    assert_alike(SCENARIOS[name](mx), ANSWERS[name])


def test_there_is_an_answer_for_each_scenario():
    assert sorted(ANSWERS) == sorted(SCENARIOS)
