"""The training table: its files, its programs for mxcy, its report."""

from dataclasses import replace

import numpy as np
import pytest

import mxcy as mx
from benchmarks import compare_losses
from benchmarks.score.contenders import Cell, Result
from benchmarks.train import material as files
from benchmarks.train import with_gluon
from benchmarks.train.report import lines, ratio
from benchmarks.train.rows import ROWS, find

SMALL = {
    "lenet": {"batch": 4},
    "lstm_language": {"batch": 2, "words": 50, "classes": 50, "about": {"units": 8}},
    "gru": {"batch": 3, "shape": (5, 8), "about": {"units": 8}},
    "recommender_dense": {"batch": 8, "words": 40},
    "recommender_sparse": {"batch": 8, "words": 40},
    "mlp_eager": {"batch": 4},
}


class Gluon(with_gluon.Gluon):
    mx = mx


class Module(with_gluon.Module):
    mx = mx


class Chain(with_gluon.Chain):
    mx = mx


@pytest.fixture
def material(request, tmp_path, monkeypatch):
    """Files of a row, made smaller."""
    row = replace(ROWS[request.param], **SMALL[request.param])
    monkeypatch.setitem(ROWS, row.name, row)
    return files.Material(row.name, tmp_path)


@pytest.mark.parametrize("material", SMALL, indirect=True)
def test_gluon_and_module_start_alike(material):
    programs = [kind(material.folder, 1) for kind in (Gluon, Module)]
    losses = np.array([_first(program, 4) for program in programs])
    assert np.isfinite(losses).all()
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
    assert losses[0, 3] != losses[0, 0]  # the same batch as at first, with other weights


def test_smaller_rows_train_in_both_types(tmp_path):
    for dtype in ("float32", "float64"):
        material = compare_losses.SmallMaterial(f"lenet_{dtype}", tmp_path)
        assert material.row is find(material.name)
        programs = [kind(material.folder, 1) for kind in (Gluon, Module)]
        assert all(np.dtype(array.dtype) == dtype for array in programs[0].batches[0])
        losses = np.array([_first(program, 2) for program in programs])
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6 if dtype == "float32" else 1e-13)


def test_differences_of_losses_are_the_largest_of_ten_steps():
    expected = np.ones(20)
    ours = expected + np.array([0, 0.25] + 17 * [0] + [-0.5])
    found = compare_losses.differences({"MXNet Gluon": expected, "mxcy Gluon": ours})
    assert {name: list(values) for name, values in found.items()} == {"mxcy Gluon": [0.25, 0.5]}


def _first(program, steps):
    losses = []
    for number in range(steps):
        program.step(number)
        losses.append(float(program.loss()))
    program.finish()
    return losses


def test_loss_decreases(tmp_path):
    folder = files.Material("chain_eager", tmp_path).folder
    losses = _first(Chain(folder, 1), 3)
    assert losses[2] < losses[1] < losses[0]


@pytest.mark.parametrize("material", ["lenet", "gru"], indirect=True)
def test_arithmetic_of_a_step_is_counted(material):
    expected = {
        "lenet": 4 * (20 * 25 * 24**2 + 50 * 500 * 8**2 + 800 * 500 + 500 * 10),
        # weights and biases of two layers at 15 places, and the head
        "gru": 15 * 2 * (3 * 8 * 16 + 6 * 8) + 3 * 8 * 10,
    }
    assert material.gflop() == pytest.approx(6e-9 * expected[material.name])


def test_report_prints_ratios_to_the_best_peer():
    seconds = {"mxcy Gluon": [0.2, 0.3], "mxcy Module": [0.1, 0.5], "PyTorch": [0.15, 0.6]}
    cell = Cell("lenet", 64, {name: Result(list(times)) for name, times in seconds.items()})
    assert ratio(cell) == pytest.approx(1.5)
    text = "\n".join(lines([cell], {"lenet": 1.0}, 100.0))
    assert "1.50" in text and "100.0 / 300" in text.replace("100 /", "100.0 /")
    assert ratio(Cell("lenet", 64, {"mxcy Gluon": Result([0.1])})) is None
