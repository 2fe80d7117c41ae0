"""Stores of one process match those of real MXNet 1.9.1."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

HERE = Path(__file__).resolve().parent
ANSWERS = json.loads((HERE.parent / "data" / "kvstore_golden.json").read_text())["answers"]


def load_scenarios():
    spec = importlib.util.spec_from_file_location("kvstore_scenarios", HERE / "scenarios.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SCENARIOS


SCENARIOS = load_scenarios()


def assert_alike(actual, expected):
    if isinstance(expected, list):
        for one, other in zip(actual, expected, strict=True):
            assert_alike(one, other)
    elif isinstance(expected, float):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    else:
        assert actual == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_are_those_of_real_mxnet(name):
    assert_alike(SCENARIOS[name](mx), ANSWERS[name])


def test_there_is_an_answer_for_each_scenario():
    assert sorted(ANSWERS) == sorted(SCENARIOS)
