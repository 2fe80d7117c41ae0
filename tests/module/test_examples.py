"""The Module scripts learn as on real MXNet 1.9.1, on both fronts."""

import importlib.util
import json
import logging
import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "module"
GOLDEN = json.loads((ROOT / "tests" / "data" / "module_losses.json").read_text())["runs"]
if not EXAMPLES.is_dir():
    pytest.skip("the examples are not beside the tests", allow_module_level=True)

PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
import {script}
losses, result = {script}.main({arguments!r})
print("RESULT", json.dumps([[float(loss) for loss in losses], float(result)]))
"""


@pytest.fixture
def script(monkeypatch, tmp_path):
    """A function that imports a script; its files go to a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    with mx.name.NameManager():  # weights are drawn in the order of names: 10 is before 9
        yield load
    sys.modules.pop("digits", None)


def assert_learns_alike(losses, result, golden):
    np.testing.assert_allclose(losses, golden["losses"], rtol=1e-3)
    assert result == pytest.approx(golden["result"], rel=5e-3)


@pytest.mark.parametrize(
    "golden", GOLDEN, ids=lambda run: " ".join([run["script"], *run["arguments"]])
)
def test_scripts_learn_as_on_real_mxnet(script, golden):
    losses, result = script(golden["script"]).main(golden["arguments"])
    assert_learns_alike(losses, result, golden)


@pytest.mark.parametrize("golden", GOLDEN[1:], ids=lambda run: run["script"])
def test_the_ctypes_front_learns_alike(run_python, golden):
    code = PROGRAM.format(
        folder=str(EXAMPLES), script=golden["script"], arguments=golden["arguments"]
    )
    printed = run_python(code, MXNET_ENABLE_CYTHON="0")
    (line,) = (line for line in printed.splitlines() if line.startswith("RESULT"))
    assert_learns_alike(*json.loads(line.removeprefix("RESULT")), golden)


def test_lenet_goes_on_from_a_checkpoint(script, caplog):
    lenet = script("mnist_lenet")
    with caplog.at_level(logging.INFO):
        lenet.main(["--epochs", "1", "--batches", "3", "--prefix", "a"])
    assert 'Saved optimizer state to "a-0001.states"' in caplog.text
    arguments = ["--epochs", "1", "--batches", "3", "--prefix", "a", "--load-epoch", "1"]
    with pytest.warns(UserWarning, match="Parameters already initialized"):
        losses, _ = lenet.main(arguments)
    assert Path("a-0002.params").exists() and len(losses) == 3
    assert max(losses) < 2.3


def test_a_softmax_in_python_learns(script):
    pytest.importorskip("tqdm")
    assert script("custom_softmax").main(["--epochs", "1", "--batches", "40"]) > 0.75
