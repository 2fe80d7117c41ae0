"""A few cases of every fuzzer, always the same ones; `make fuzz` runs new ones for longer."""

import importlib

import pytest

from tests.fuzz.harness import fuzzers, run


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", fuzzers())
def test_cases_end_as_documented(name):
    count = importlib.import_module(f"tests.fuzz.{name}").COUNT
    findings, done = run(name, 0, count)
    assert not findings, "\n".join(map(str, findings[:10]))
    assert done == count
