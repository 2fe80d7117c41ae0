"""The scoring table: images/s of classifiers at several batch sizes, next to other frameworks.

``make peers`` makes the contenders' environments, ``make score`` prints the table.
"""

import functools
from pathlib import Path

import pytest

from benchmarks.score.board import Board, chosen
from benchmarks.score.contenders import CONTENDERS, OURS, PRECISIONS, Field
from benchmarks.score.material import Material
from benchmarks.score.report import BF16_DEMANDS, DEMANDS, INT8_DEMANDS, lines
from examples.image_classification.symbols import NETWORKS

# The largest first: peak memory is that of the first batch of a process.
BATCHES = (32, 16, 8, 4, 2, 1)
NARROW_DEMANDS = {"int8": INT8_DEMANDS, "bf16": BF16_DEMANDS}


def pytest_generate_tests(metafunc):
    networks = chosen(metafunc.config, "--network", NETWORKS, others=True)
    metafunc.parametrize("field", networks, indirect=True, scope="module")
    batches = chosen(metafunc.config, "--batch-size", BATCHES, others=True)
    metafunc.parametrize("batch", sorted(map(int, batches), reverse=True))


@pytest.fixture(scope="session")
def board(request, announce, note):
    precision = request.config.getoption("--precision")
    table = functools.partial(lines, demands=NARROW_DEMANDS.get(precision, DEMANDS))
    board = Board(request.config, table, "image", PRECISIONS[precision])
    yield board
    board.close(announce, f"scoring table {precision}", note)


@pytest.fixture(scope="module")
def field(request, board):
    config = request.config
    peers = Path(config.getoption("--peers")).absolute()
    material = Material(request.param, peers / "material")
    board.gflop[material.name] = material.gflop()
    only = {OURS, *chosen(config, "--contender", CONTENDERS)}
    field = Field(material, peers, board.threads, only, config.getoption("--precision"))
    yield field
    board.leave(field)


@pytest.mark.timeout(1800)
def test_score(field, batch, board, benchmark):
    option = board.config.getoption
    cell = field.race(batch, option("--score-seconds"), option("--score-rounds"))
    board.add(cell, field, benchmark, "images")
