"""The example trains as on real MXNet 1.9.1, equally on both fronts, and reads digits."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

train_mnist = pytest.importorskip("mxcy.examples.train_mnist", reason="tqdm is not installed")
GOLDEN = Path(__file__).resolve().parents[1] / "data" / "mnist_losses.json"
PROGRAM = """
import json
from mxcy.examples import train_mnist
losses, accuracy = train_mnist.main(["--steps", "40"])
print("RESULT", json.dumps([losses, accuracy]))
"""


def train(run_python, enable_cython):
    """(losses, accuracy) of 40 steps in a separate interpreter."""
    printed = run_python(
        PROGRAM, MXNET_ENABLE_CYTHON=enable_cython, MXNET_ENFORCE_CYTHON=enable_cython
    )
    (result,) = (line for line in printed.splitlines() if line.startswith("RESULT"))
    return json.loads(result.removeprefix("RESULT"))


def test_both_fronts_train_as_real_mxnet_does(run_python):
    golden = json.loads(GOLDEN.read_text())["losses"]
    losses, accuracy = train(run_python, "1")
    np.testing.assert_allclose(losses[: len(golden)], golden, rtol=0, atol=1e-3)
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10]) and accuracy > 0.75
    ctypes_losses, ctypes_accuracy = train(run_python, "0")
    np.testing.assert_allclose(ctypes_losses, losses, rtol=0, atol=1e-4)
    assert ctypes_accuracy == pytest.approx(accuracy, abs=0.002)


def test_weights_and_pictures(tmp_path, capsys, monkeypatch):
    """In this process and with the front of this run: a few steps, a file, a report."""
    monkeypatch.chdir(tmp_path)
    losses, accuracy = train_mnist.main(
        ["--steps", "3", "--optimizer", "adam", "--lr", "0.001", "--losses", "losses.txt"]
    )
    assert Path("losses.txt").read_text().split() == [repr(loss) for loss in losses]
    assert len(losses) == 3 and all(1 < loss < 4 for loss in losses)
    assert os.path.getsize("lenet_mnist.params") > 1e6
    printed = capsys.readouterr().out
    assert f"it reads {accuracy:.1%} of held-out images" in printed
    assert "Read correctly:" in printed and "Misread:" in printed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--optimizer", "adamm"], "adam, "),
        (["--lr", "-1"], "expected a positive number"),
        (["--epochs", "0"], "expected a positive number"),
        (["--weights", "no/such/folder/lenet.params"], "no folder for no/such/folder"),
    ],
)
def test_invalid_arguments_fail_before_training(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        train_mnist.main(arguments)
    assert told in capsys.readouterr().err


def test_the_split_is_stratified():
    (images, digits), (held_images, held_digits) = train_mnist.load_digits()
    assert images.shape == (4000, 1, 28, 28) and held_images.shape == (1000, 1, 28, 28)
    assert images.dtype == np.float32 and images.min() == 0 and images.max() == 1
    assert np.bincount(digits).tolist() == [400] * 10
    assert np.bincount(held_digits).tolist() == [100] * 10
    known = {image.tobytes() for image in images}
    assert not any(image.tobytes() in known for image in held_images)


def test_pictures_are_braille():
    image = np.zeros((28, 28), np.float32)
    image[0, 0] = image[27, 27] = 1
    lines = train_mnist.picture(image)
    assert [len(line) for line in lines] == [14] * 7
    assert lines[0][0] == "\u2801" and lines[6][13] == "\u2880"


@pytest.mark.parametrize("option", ["--epochs", "--batch-size", "--steps"])
def test_nothing_to_train_is_refused(option, capsys):
    with pytest.raises(SystemExit):
        train_mnist.parse_arguments([option, "0"])
    assert "expected a positive number, got 0" in capsys.readouterr().err
