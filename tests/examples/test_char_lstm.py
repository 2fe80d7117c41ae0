"""The language model of examples/gluon, on a small part of its text."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("tqdm")
EXAMPLE = Path(__file__).parents[2] / "examples" / "gluon" / "char_lstm.py"


def test_it_learns(capsys):
    spec = importlib.util.spec_from_file_location("char_lstm", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    options = "--characters 6000 --units 48 --layers 1 --batch-size 4 --steps 16 --epochs 2"
    actual = module.main(options.split())
    text = capsys.readouterr().out
    assert actual < 30  # of 70 and more characters
    assert "The " in text
