"""Stored benchmark figures: which runs count, and what is reported as slower."""

import json
from types import SimpleNamespace

import pytest

from benchmarks import history
from benchmarks.history import History, compared
from benchmarks.score.board import Board
from benchmarks.score.contenders import Cell, Result

ROWS = {
    "exp": {"mxcy": 1.0, "numpy": 2.0},
    "dot": {"mxcy": 0.5, "numpy": 0.5, "torch": 0.7},
    "alone": {"mxcy": 3.0},
}


def test_the_newest_figures_of_each_row_count(tmp_path):
    kept = History(tmp_path / "deep" / "folder", "training table")
    assert kept.last() == {}
    kept.keep(ROWS)
    kept.keep({"exp": {"mxcy": 4.0}})
    assert kept.last() == {**ROWS, "exp": {"mxcy": 4.0}}
    assert History(tmp_path / "deep" / "folder", "training").last() == {}
    assert len(list(tmp_path.glob("deep/folder/training-table/*.json"))) == 2


def test_figures_of_other_machines_are_left_out(tmp_path, monkeypatch):
    kept = History(tmp_path, "bench")
    path = kept.keep(ROWS)
    assert json.loads(path.read_text())["machine"] == history.machine()
    monkeypatch.setattr(history, "machine", lambda: "another CPU, 64 cores")
    assert kept.last() == {}


def scaled(factors):
    """`ROWS` with all times of each contender multiplied."""
    return {
        label: {name: seconds * factors.get(name, 1) for name, seconds in row.items()}
        for label, row in ROWS.items()
    }


@pytest.mark.parametrize(
    ("factors", "slower"),
    [
        ({}, []),
        ({"mxcy": 1.1}, []),
        ({"mxcy": 1.3}, ["exp", "dot", "alone"]),
        ({"mxcy": 0.5}, []),
        ({"mxcy": 1.3, "numpy": 1.3, "torch": 1.3}, []),  # the machine was slower
        ({"mxcy": 1.3, "numpy": 0.5, "torch": 0.5}, ["exp", "dot", "alone"]),
        ({"mxcy": 1.3, "numpy": 1.3, "torch": 1.0}, ["alone"]),
    ],
)
def test_rows_are_slower_than_kept_ones_as_others_allow(factors, slower):
    kept = {**ROWS, "alone": {"mxcy": 2.0}} if factors.get("torch") == 1.0 else ROWS
    *told, summary = compared(scaled(factors), kept)
    assert [line.partition(":")[0] for line in told] == slower
    assert summary.startswith(f"{len(slower)} of 3 rows are slower")


def test_new_rows_have_nothing_to_be_compared_with():
    assert list(compared(ROWS, {})) == ["no stored run to compare with"]
    assert list(compared({}, ROWS)) == ["no stored run to compare with"]
    *told, summary = compared({**ROWS, "new": {"mxcy": 9.0}}, ROWS)
    assert not told and summary.startswith("0 of 3")


def test_a_table_keeps_the_better_of_our_programs():
    cell = Cell("lenet", 64)
    for name, seconds in (("mxcy Gluon", 2.0), ("mxcy Module", 1.0), ("PyTorch", 3.0)):
        cell.results[name] = Result(seconds=[seconds, 9.0])
    rows = Board.rows(SimpleNamespace(cells=[cell], threads=2))
    assert rows == {"lenet b64, 2 threads": {"mxcy": 1.0, "PyTorch": 3.0}}
