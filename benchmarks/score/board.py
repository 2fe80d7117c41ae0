"""Collects the measurements of a table, reports them at its end and writes them as JSON."""

import json
import os
import platform
import time
from pathlib import Path

import pytest

import mxcy as mx
from benchmarks.score.contenders import CONTENDERS, OURS, missing
from benchmarks.score.fma_peak import fma_peak

__all__ = ["Board", "chosen"]


def chosen(config, option, everything, others=False):
    """Parse an option: a comma-separated list, or ``all``.

    Parameters
    ----------
    config : pytest.Config
    option : str
    everything : collection
        The values meant by ``all``.
    others : bool
        Whether values outside `everything` are accepted too.

    Raises
    ------
    pytest.UsageError
        If a value is not accepted.
    """
    text = config.getoption(option)
    if text == "all":
        return list(everything)
    values = text.split(",")
    unknown = [value for value in values if value not in everything]
    if unknown and not others:
        raise pytest.UsageError(
            f"{option}: there is no {', '.join(unknown)}, only {', '.join(everything)}"
        )
    return values


class Board:
    """The cells of a table and its contenders.

    Parameters
    ----------
    config : pytest.Config
    lines : callable
        ``lines(cells, gflop, peak)`` gives the lines of the table.
    unit : str
        Unit of the floating-point operation counts: an image, a step.
    columns : collection of str
        All possible contenders.
    """

    def __init__(self, config, lines, unit, columns=CONTENDERS):
        self.config, self.start = config, time.perf_counter()
        self.threads = mx.env.omp_threads()
        self.cells, self.gflop, self.about, self.failures = [], {}, {}, []
        self.peak = fma_peak(self.threads)
        self._lines, self._unit, self._columns = lines, unit, columns

    def report(self):
        """Lines of the report: the table, its summary, and the missing contenders."""
        self.peak = max(self.peak, fma_peak(self.threads))
        yield from self._lines(self.cells, self.gflop, self.peak)
        about = ", ".join(dict.fromkeys(self.about.values()))
        yield f"{about}; {self.threads} threads each, load average {os.getloadavg()[0]:.1f}"
        yield from (f"failed: {failure}" for failure in self.failures)
        absent = missing(self.config.getoption("--peers"), self._columns)
        if absent:
            yield f"not there, see make peers: {', '.join(absent)}"

    def add(self, cell, field, benchmark, what):
        """Add a cell, and show its speeds next to the benchmark's times."""
        self.cells.append(cell)
        for column in cell.results:
            benchmark.extra_info[f"{column}, {what}/s"] = round(cell.speed(column), 2)
        benchmark.pedantic(field.once, rounds=2)

    def leave(self, field):
        """Store a field's description and end its processes."""
        self.about.update(field.about)
        self.failures += field.failures
        field.close()

    def rows(self):
        """Minimum seconds of each contender in each cell; "mxcy" is the best of ours."""
        rows = {}
        for cell in self.cells:
            times = {name: result.best() for name, result in cell.results.items()}
            ours = [times.pop(name) for name in list(times) if name.startswith(OURS)]
            rows[f"{cell.network} b{cell.batch}, {self.threads} threads"] = {
                OURS: min(ours),
                **times,
            }
        return rows

    def close(self, announce, title, note):
        """Print and store the table, and write all figures to the file of ``--score-json``."""
        announce(title, self.report())
        note(title, self.rows())
        path = self.config.getoption("--score-json")
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(json.dumps(self._written(), indent=1))

    def _written(self):
        return {
            "machine": platform.processor() or platform.machine(),
            "threads": self.threads,
            "fma_peak_gflops": self.peak,
            "wall_seconds": time.perf_counter() - self.start,
            "versions": self.about,
            "failures": self.failures,
            f"gflop_per_{self._unit}": self.gflop,
            "cells": [cell.described() for cell in self.cells],
        }
