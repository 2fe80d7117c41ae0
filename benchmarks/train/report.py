"""The table of results and its summary."""

import statistics

from benchmarks.train.field import COLUMNS, OURS

__all__ = ["lines", "ratio"]

WIDTH = 16
GOAL, MEAN_GOAL = 1.2, 1.5


def ratio(cell, how=min):
    """Compute our speed relative to the best peer.

    Parameters
    ----------
    cell : Cell
    how : callable
        Statistic over rounds: `min` of the seconds, or their median.

    Returns
    -------
    float or None
        None without a peer.
    """
    best = {True: [], False: []}
    for name, result in cell.results.items():
        best[name in OURS].append(how(result.seconds))
    return min(best[False]) / min(best[True]) if best[False] else None


def lines(cells, gflop, peak):
    """The report.

    Parameters
    ----------
    cells : list of Cell
    gflop : dict of str to float
        Row -> GFLOP of one step.
    peak : float
        Peak GFLOP/s of the machine's cores together.

    Yields
    ------
    str
    """
    names = [name for name in COLUMNS if any(name in cell.results for cell in cells)]
    yield "milliseconds of a step: shortest / median of rounds, peak MiB"
    yield " " * 24 + "".join(f"{name:>{WIDTH + 6}}" for name in names)
    for cell in cells:
        row = f"{cell.network:18}b{cell.batch:<5}"
        for name in names:
            result = cell.results.get(name)
            if result is None:
                text = "-"
            else:
                middle = statistics.median(result.seconds)
                times = (f"{1e3 * seconds:.4g}" for seconds in (result.best(), middle))
                text = f"{' / '.join(times)} {result.peak / 2**20:5.0f}"
            row += f"{text:>{WIDTH + 6}}"
        yield row
    yield ""
    yield f"{'ours / best peer':24}{'shortest':>10}{'medians':>10}{'of FMA peak':>13}"
    shortest = []
    for cell in cells:
        best = min(cell.results[name].best() for name in OURS if name in cell.results)
        row = f"{cell.network:18}b{cell.batch:<5}"
        if ratio(cell) is not None:
            shortest.append(ratio(cell))
            row += f"{shortest[-1]:>10.2f}{ratio(cell, statistics.median):>10.2f}"
        else:
            row += f"{'-':>10}{'-':>10}"
        share = gflop[cell.network] / best / peak
        yield row + (f"{share:>13.0%}" if share else f"{'-':>13}")
    if shortest:
        mean, least = statistics.geometric_mean(shortest), min(shortest)
        yield f"geometric mean {mean:.2f} (asked: {MEAN_GOAL}), least {least:.2f} (asked: {GOAL})"
    yield f"FMA peak of this machine: {peak:.0f} GFLOP/s"
