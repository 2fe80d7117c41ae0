"""Curves as pictures: means over windows, and files where matplotlib is installed."""

import importlib.util

import numpy as np
import pytest

from mxcy.examples import curves
from tests.env.run import python


def test_windows_of_the_last_values():
    np.testing.assert_allclose(curves.smoothed([2, 4, 6, 8], 2), [2, 3, 5, 7])
    np.testing.assert_allclose(curves.smoothed([2, 4], 9), [2, 3])
    assert curves.smoothed([], 3).size == 0


def test_files_of_numbers_are_drawn(tmp_path):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed")
    (tmp_path / "train.txt").write_text("".join(f"{1 / (n + 1)}\n" for n in range(200)))
    picture = tmp_path / "curves.svg"
    python("-m", "mxcy.examples.curves", str(tmp_path / "train.txt"), str(picture))
    assert b"<svg" in picture.read_bytes()


def test_files_that_cannot_be_drawn_are_named(tmp_path, capsys):
    (tmp_path / "words.txt").write_text("loss\n")
    for name, told in (("words.txt", "could not convert"), ("none.txt", "No such file")):
        with pytest.raises(SystemExit):
            curves.main([str(tmp_path / name), "curves.png"])
        message = capsys.readouterr().err
        assert name in message and told in message


def test_missing_matplotlib_is_named(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no matplotlib')")
    code = "from mxcy.examples import curves\ncurves.draw('a.png', {'loss': [1, 2]})"
    done = python(code, fails=True, PYTHONPATH=f"{tmp_path}:{python.__globals__['ROOT']}")
    assert "no matplotlib: pip install 'mxcy[plots]'" in done.err
