"""The training table: steps of training networks, next to other frameworks.

``make peers`` makes the contenders' environments, ``make train-table`` prints the table.
"""

from pathlib import Path

import pytest

from benchmarks.score.board import Board, chosen
from benchmarks.train.field import COLUMNS, OURS, Field
from benchmarks.train.material import Material
from benchmarks.train.report import lines
from benchmarks.train.rows import ROWS


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", chosen(metafunc.config, "--network", ROWS))


@pytest.fixture(scope="session")
def board(request, announce, note):
    board = Board(request.config, lines, "step", COLUMNS)
    yield board
    board.close(announce, "training table", note)


@pytest.mark.timeout(1800)
def test_train(name, board, benchmark):
    option = board.config.getoption
    peers = Path(option("--peers")).absolute()
    material = Material(name, peers / "material" / "train")
    board.gflop[name] = material.gflop()
    only = {*OURS, *chosen(board.config, "--contender", COLUMNS)}
    field = Field(material, peers, board.threads, only)
    try:
        cell = field.race(option("--score-seconds"), option("--score-rounds"))
        board.add(cell, field, benchmark, "samples")
    finally:
        board.leave(field)
