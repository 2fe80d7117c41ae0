"""The contenders of the benchmarks, and the table of ratios at the end of a run.

MXCY_BENCH_TORCH names a Python with PyTorch, MXCY_REAL_MXNET_19 one with MXNet 1.9.1, as for the
tests; without them these contenders are left out.
"""

import os
import time
from pathlib import Path

import pytest

from benchmarks.contenders import Local, Worker, race
from benchmarks.history import History, compared

_rows = []
_tables = {}
_sections = []


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=15, help="number of interleaved rounds")
    parser.addoption("--history", default=None, help="folder for stored figures; see history.py")
    group = parser.getgroup("scoring table")
    group.addoption("--network", default="all", help="networks, separated by commas")
    group.addoption("--batch-size", default="all", help="batch sizes, separated by commas")
    group.addoption("--contender", default="all", help="columns besides mxcy, separated by commas")
    group.addoption("--peers", default=".peers", help="folder of the contenders' environments")
    group.addoption("--precision", default="float32", help="float32, int8 or bf16")
    group.addoption("--score-seconds", type=float, default=1.0, help="for a contender in a cell")
    group.addoption("--score-rounds", type=int, default=3, help="in a cell, at least")
    group.addoption("--score-json", default=None, help="file to write all figures to")


def pytest_collection_modifyitems(items):
    """Raise the tests' time limit: on a busy machine the largest arrays take minutes."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def torch_python():
    """The Python of PyTorch's environment, or None."""
    return os.environ.get("MXCY_BENCH_TORCH")


@pytest.fixture(scope="session")
def announce():
    """``announce(title, lines)``: print a section at the end of the run."""
    return lambda title, lines: _sections.append((title, list(lines)))


@pytest.fixture(scope="session")
def note():
    """``note(kind, rows)``: store rows of seconds by contender and compare them at the end."""
    return lambda kind, rows: _tables.setdefault(kind, {}).update(rows)


@pytest.fixture(scope="session")
def mxnet_python():
    """The Python of MXNet's environment, or None."""
    return os.environ.get("MXCY_REAL_MXNET_19")


@pytest.fixture(scope="session")
def workers():
    """Cached worker processes in other environments, by Python and threads."""
    opened = {}
    yield opened
    for worker in opened.values():
        worker.close()


@pytest.fixture
def compare(request, benchmark, workers, torch_python, mxnet_python, note):
    """``compare(label, setups, statements)``: race, print a row, and feed pytest-benchmark.

    `setups` and `statements` are dicts by contender: "mxcy" and any others. "torch" and "mxnet" run
    in separate environments, with `threads` threads if given.
    """
    pythons = {"torch": torch_python, "mxnet": mxnet_python}

    def run(label, setups, statements, seconds=0.02, threads=None):
        contenders = {}
        for name in statements:
            python = pythons.get(name)
            if name in pythons and python is None:
                continue
            if python is None:
                contenders[name] = Local(setups[name])
                continue
            if (python, threads) not in workers:
                workers[python, threads] = Worker(python, "", threads)
            contenders[name] = workers[python, threads]
            contenders[name].run(setups[name])
        racing = {name: statements[name] for name in contenders}
        times = race(contenders, racing, request.config.getoption("--rounds"), seconds)
        _rows.append((label, times))
        note("bench", {label: {name: best for name, (best, _) in times.items()}})
        ours = times["mxcy"][0]
        for name, (best, median) in times.items():
            benchmark.extra_info[f"{name}_best_us"] = round(best * 1e6, 4)
            benchmark.extra_info[f"{name}_median_us"] = round(median * 1e6, 4)
            if name != "mxcy":
                benchmark.extra_info[f"mxcy_to_{name}"] = round(ours / best, 3)
        benchmark.pedantic(
            contenders["mxcy"].time, (statements["mxcy"], 1), rounds=5, warmup_rounds=1
        )
        return times

    return run


@pytest.fixture
def key_figure(request, benchmark, note):
    """``key_figure(label, setups, statements)``: race in CPU time, and store a key figure."""

    def run(label, setups, statements):
        contenders = {name: Local(setups[name], time.process_time) for name in statements}
        times = race(contenders, statements, request.config.getoption("--rounds"))
        note("key figures", {label: {name: best for name, (best, _) in times.items()}})
        benchmark.pedantic(contenders["mxcy"].time, (statements["mxcy"], 1), rounds=1)

    return run


def pytest_terminal_summary(terminalreporter):
    for title, lines in _sections:
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)
    if _rows:
        _write_rows(terminalreporter)
    folder = terminalreporter.config.getoption("--history")
    for kind, rows in _tables.items() if folder else ():
        history = History(folder, kind)
        terminalreporter.section(f"{kind}, and what was kept in {folder}")
        for line in compared(rows, history.last()):
            terminalreporter.write_line(line)
        history.keep(rows)


def _write_rows(terminalreporter):
    names = sorted({name for _, times in _rows for name in times} - {"mxcy"})
    terminalreporter.section("best time, microseconds; in brackets mxcy's time as a multiple of it")
    terminalreporter.write_line(f"{'':44}{'mxcy':>12}" + "".join(f"{n:>22}" for n in names))
    for label, times in _rows:
        ours = times["mxcy"][0]
        cells = [
            f"{times[n][0] * 1e6:>12.2f} [{ours / times[n][0]:6.2f}]" if n in times else " " * 21
            for n in names
        ]
        terminalreporter.write_line(f"{label:44}{ours * 1e6:>12.2f} " + " ".join(cells))
    load = os.getloadavg()[0]
    terminalreporter.write_line(f"load average {load:.1f} on {os.cpu_count()} cores")
