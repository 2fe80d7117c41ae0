"""The table of results and its summary."""

import statistics

from benchmarks.infer.field import COLUMNS, OURS

__all__ = ["lines", "ratio"]

WIDTH = 24
GOAL, MEAN_GOAL = 1.05, 1.3


def ratio(cell, how=min):
    """Compute our speed relative to the best peer.

    Parameters
    ----------
    cell : Cell
    how : callable
        Statistic over runs: `min` of the seconds, or their median.

    Returns
    -------
    float or None
        None without a peer.
    """
    seconds = {name: how(result.seconds) for name, result in cell.results.items()}
    ours = seconds.pop(OURS)
    return min(seconds.values()) / ours if seconds else None


def lines(cells, gflop, peak):
    """The report.

    Parameters
    ----------
    cells : list of Cell
    gflop : dict of str to float
        Row -> GFLOP of one sample.
    peak : float
        Peak GFLOP/s of the machine's cores together.

    Yields
    ------
    str
    """
    names = [name for name in COLUMNS if any(name in cell.results for cell in cells)]
    yield "milliseconds of a batch: shortest / median of runs, peak MiB"
    yield " " * 24 + "".join(f"{name:>{WIDTH}}" for name in names)
    for cell in cells:
        texts = (_text(cell.results.get(name)) for name in names)
        yield f"{_label(cell)}{''.join(f'{text:>{WIDTH}}' for text in texts)}"
    yield ""
    yield f"{'ours / best peer':24}{'shortest':>10}{'medians':>10}{'of FMA peak':>13}"
    for cell in cells:
        figures = (ratio(cell), ratio(cell, statistics.median))
        row = "".join(f"{'-' if figure is None else f'{figure:.2f}':>10}" for figure in figures)
        yield f"{_label(cell)}{row}{cell.speed(OURS) * gflop[cell.network] / peak:>13.0%}"
    ratios = [ratio(cell) for cell in cells if len(cell.results) > 1]
    if ratios:
        mean, least = statistics.geometric_mean(ratios), min(ratios)
        yield f"geometric mean {mean:.2f} (asked: {MEAN_GOAL}), least {least:.2f} (asked: {GOAL})"
    yield f"FMA peak of this machine: {peak:.0f} GFLOP/s"


def _label(cell):
    return f"{cell.network:18}b{cell.batch:<5}"


def _text(result):
    if result is None:
        return "-"
    middle = statistics.median(result.seconds)
    times = (f"{1e3 * seconds:.4g}" for seconds in (result.best(), middle))
    return f"{' / '.join(times)} {result.peak / 2**20:5.0f}"
