"""The table of results and its summary."""

from benchmarks.score.contenders import CONTENDERS, OURS
from benchmarks.score.times import TimesTable

__all__ = ["lines", "ratio"]

_TABLE = TimesTable(tuple(CONTENDERS), (OURS,), "batch", goal=1.05, mean_goal=1.3)
ratio = _TABLE.ratio


def lines(cells, gflop, peak):
    """The report; `gflop` has a sample's by row. See `TimesTable.lines`."""
    return _TABLE.lines(cells, lambda cell: gflop[cell.network] * cell.batch, peak)
