"""The scoring table: images/s of classifiers at several batch sizes, next to other frameworks.

``make peers`` makes the contenders' environments, ``make score`` prints the table.
"""

import json
import platform
import time
from pathlib import Path

import pytest

import mxcy as mx
from benchmarks.score.contenders import CONTENDERS, OURS, Field, missing
from benchmarks.score.fma_peak import fma_peak
from benchmarks.score.material import Material
from benchmarks.score.report import BF16_DEMANDS, DEMANDS, INT8_DEMANDS, lines
from examples.image_classification.symbols import NETWORKS

# The largest first: peak memory is that of the first batch of a process.
BATCHES = (32, 16, 8, 4, 2, 1)


def _chosen(config, option, everything):
    text = config.getoption(option)
    return list(everything) if text == "all" else text.split(",")


def pytest_generate_tests(metafunc):
    networks = _chosen(metafunc.config, "--network", NETWORKS)
    metafunc.parametrize("field", networks, indirect=True, scope="module")
    batches = [int(text) for text in _chosen(metafunc.config, "--batch-size", BATCHES)]
    metafunc.parametrize("batch", sorted(batches, reverse=True))


class Board:
    """What has been measured so far."""

    def __init__(self, config):
        self.config, self.start = config, time.perf_counter()
        self.threads = mx.env.omp_threads()
        self.cells, self.gflop, self.about, self.failures = [], {}, {}, []
        self.peak = fma_peak(self.threads)

    def report(self):
        """Lines: the table, what it comes to, and who did not take part."""
        self.peak = max(self.peak, fma_peak(self.threads))
        narrow = {"int8": INT8_DEMANDS, "bf16": BF16_DEMANDS}
        demands = narrow.get(self.config.getoption("--precision"), DEMANDS)
        yield from lines(self.cells, self.gflop, self.peak, demands)
        yield ", ".join(self.about.values()) + f"; {self.threads} threads each"
        yield from (f"failed: {failure}" for failure in self.failures)
        absent = missing(self.config.getoption("--peers"))
        if absent:
            yield f"not there, see make peers: {', '.join(absent)}"

    def written(self):
        """Everything as one dict for JSON."""
        return {
            "machine": platform.processor() or platform.machine(),
            "threads": self.threads,
            "fma_peak_gflops": self.peak,
            "wall_seconds": time.perf_counter() - self.start,
            "versions": self.about,
            "failures": self.failures,
            "gflop_per_image": self.gflop,
            "cells": [cell.described() for cell in self.cells],
        }


@pytest.fixture(scope="session")
def board(request, announce):
    made = Board(request.config)
    yield made
    announce("scoring table", made.report())
    path = request.config.getoption("--score-json")
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(made.written(), indent=1))


@pytest.fixture(scope="module")
def field(request, board):
    config = request.config
    peers = Path(config.getoption("--peers")).absolute()
    material = Material(request.param, peers / "material")
    board.gflop[material.name] = material.gflop()
    only = {OURS, *_chosen(config, "--contender", CONTENDERS)}
    made = Field(material, peers, board.threads, only, config.getoption("--precision"))
    yield made
    board.about.update(made.about)
    board.failures += made.failures
    made.close()


@pytest.mark.timeout(1800)
def test_score(field, batch, board, benchmark):
    option = board.config.getoption
    cell = field.race(batch, option("--score-seconds"), option("--score-rounds"))
    board.cells.append(cell)
    for name in cell.results:
        benchmark.extra_info[f"{name}, images/s"] = round(cell.speed(name), 2)
    benchmark.pedantic(field.once, rounds=2)
