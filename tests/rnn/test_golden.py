"""Cells of mx.rnn build real MXNet 1.9.1's networks, with its results."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

HERE = Path(__file__).resolve().parent
ANSWERS = json.loads((HERE.parent / "data" / "rnn_golden.json").read_text())["answers"]


def load_scenarios():
    spec = importlib.util.spec_from_file_location("rnn_scenarios", HERE / "scenarios.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SCENARIOS


SCENARIOS = load_scenarios()


def assert_alike(actual, expected, where=""):
    if isinstance(expected, dict):
        assert sorted(actual) == sorted(expected), where
        for name in expected:
            assert_alike(actual[name], expected[name], f"{where} {name}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), where
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            assert_alike(one, other, f"{where} {number}")
    elif isinstance(expected, float):
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4, err_msg=where)
    else:
        assert actual == expected, where


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_are_those_of_real_mxnet(name):
    assert_alike(SCENARIOS[name](mx), ANSWERS[name])


def test_there_is_an_answer_for_each_scenario():
    assert sorted(ANSWERS) == sorted(SCENARIOS)
