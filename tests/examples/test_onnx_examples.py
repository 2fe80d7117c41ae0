"""The examples of examples/onnx, shortened."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the example runs what it exports")
EXAMPLE = Path(__file__).parents[2] / "examples" / "onnx" / "export_digits.py"


def test_onnx_file_classifies_digits(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("export_digits", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pytest.importorskip("sklearn", reason="its digits are the data")
    path = tmp_path / "digits.onnx"
    accuracy, difference = module.main(["--path", str(path), "--epochs", "3"])
    assert accuracy > 0.8 and difference < 1e-4
    assert path.exists() and "epoch 2" in capsys.readouterr().out
