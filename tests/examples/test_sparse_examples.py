"""The examples of examples/sparse, shortened."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "sparse"


def test_factorization_machine_separates_even_from_odd(capsys):
    pytest.importorskip("sklearn", reason="the data set is scikit-learn's")
    path = FOLDER / "factorization_machine.py"
    spec = importlib.util.spec_from_file_location("factorization_machine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(["--epochs", "6"]) > 0.93
    assert len(capsys.readouterr().out.splitlines()) == 7
