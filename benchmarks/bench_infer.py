"""The inference table: transformers, recurrent, mobile and detection networks, next to others.

``make peers`` makes the contenders' environments, ``make infer-table`` prints the table.
"""

from pathlib import Path

import pytest

from benchmarks.infer.field import Field
from benchmarks.infer.material import Material
from benchmarks.infer.report import lines
from benchmarks.infer.rows import ROWS
from benchmarks.score.board import Board, chosen
from benchmarks.score.contenders import CONTENDERS


def pytest_generate_tests(metafunc):
    rows = [ROWS[name] for name in chosen(metafunc.config, "--network", ROWS)]
    sizes = metafunc.config.getoption("--batch-size")
    # The largest first: peak memory is that of the first batch of a process.
    cells = [
        (row.name, size)
        for row in rows
        for size in sorted(row.sizes, reverse=True)
        if sizes == "all" or str(size) in sizes.split(",")
    ]
    metafunc.parametrize(("field", "batch"), cells, indirect=["field"], scope="module")


@pytest.fixture(scope="session")
def board(request, announce, note):
    board = Board(request.config, lines, "sample")
    yield board
    board.close(announce, "inference table", note)


@pytest.fixture(scope="module")
def field(request, board):
    option = board.config.getoption
    peers = Path(option("--peers")).absolute()
    material = Material(request.param, peers / "material" / "infer")
    board.gflop[material.name] = material.gflop()
    only = {*chosen(board.config, "--contender", CONTENDERS), *Field.ours}
    field = Field(material, peers, board.threads, only)
    yield field
    board.leave(field)


@pytest.mark.timeout(1800)
def test_infer(field, batch, board, benchmark):
    option = board.config.getoption
    cell = field.race(batch, option("--score-seconds"), option("--score-rounds"))
    board.add(cell, field, benchmark, "samples")
