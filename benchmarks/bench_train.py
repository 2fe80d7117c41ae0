"""The training table: steps of training networks, next to other frameworks.

``make peers`` makes the contenders' environments, ``make train-table`` prints the table.
"""

import json
import os
import platform
import time
from pathlib import Path

import pytest

import mxcy as mx
from benchmarks.score.contenders import missing
from benchmarks.score.fma_peak import fma_peak
from benchmarks.train.field import COLUMNS, OURS, Field
from benchmarks.train.material import Material
from benchmarks.train.report import lines
from benchmarks.train.rows import ROWS


def _chosen(config, option, everything):
    text = config.getoption(option)
    return list(everything) if text == "all" else text.split(",")


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", _chosen(metafunc.config, "--network", ROWS))


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
        yield from lines(self.cells, self.gflop, self.peak)
        about = ", ".join(dict.fromkeys(self.about.values()))
        yield f"{about}; {self.threads} threads each, load average {os.getloadavg()[0]:.1f}"
        yield from (f"failed: {failure}" for failure in self.failures)
        absent = missing(self.config.getoption("--peers"), COLUMNS)
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
            "gflop_per_step": self.gflop,
            "cells": [cell.described() for cell in self.cells],
        }


@pytest.fixture(scope="session")
def board(request, announce):
    made = Board(request.config)
    yield made
    announce("training table", made.report())
    path = request.config.getoption("--score-json")
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(made.written(), indent=1))


@pytest.mark.timeout(1800)
def test_train(name, board, benchmark):
    option = board.config.getoption
    peers = Path(option("--peers")).absolute()
    material = Material(name, peers / "material" / "train")
    board.gflop[name] = material.gflop()
    only = {*OURS, *_chosen(board.config, "--contender", COLUMNS)}
    field = Field(material, peers, board.threads, only)
    try:
        cell = field.race(option("--score-seconds"), option("--score-rounds"))
        board.cells.append(cell)
        for column in cell.results:
            benchmark.extra_info[f"{column}, samples/s"] = round(cell.speed(column), 2)
        benchmark.pedantic(field.once, rounds=2)
    finally:
        board.about.update(field.about)
        board.failures += field.failures
        field.close()
