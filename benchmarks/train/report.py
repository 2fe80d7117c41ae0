"""The table of results and its summary."""

from benchmarks.score.times import TimesTable
from benchmarks.train.field import COLUMNS, OURS

__all__ = ["lines", "ratio"]

_TABLE = TimesTable(tuple(COLUMNS), OURS, "step", goal=1.2, mean_goal=1.5)
ratio = _TABLE.ratio


def lines(cells, gflop, peak):
    """The report; `gflop` has a step's by row. See `TimesTable.lines`."""
    return _TABLE.lines(cells, lambda cell: gflop[cell.network], peak)
