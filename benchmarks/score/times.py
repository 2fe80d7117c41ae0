"""A table of times: a row per network and batch, a column per contender, ratios below."""

import statistics
from dataclasses import dataclass

__all__ = ["TimesTable"]

WIDTH = 24


@dataclass
class TimesTable:
    """What the report of such a table depends on.

    Parameters
    ----------
    columns : collection of str
        All possible contenders.
    ours : collection of str
        Those of mxcy, of which the best one counts.
    unit : str
        What is timed: a step, a batch.
    goal, mean_goal : float
        Required ratios to the best peer: of each row, and their geometric mean.
    """

    columns: tuple
    ours: tuple
    unit: str
    goal: float
    mean_goal: float

    def ratio(self, cell, how=min):
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
            best[name in self.ours].append(how(result.seconds))
        return min(best[False]) / min(best[True]) if best[False] else None

    def lines(self, cells, gflop, peak):
        """The report.

        Parameters
        ----------
        cells : list of Cell
        gflop : callable
            ``gflop(cell)``: the arithmetic of what is timed.
        peak : float
            Peak GFLOP/s of the machine's cores together.

        Yields
        ------
        str
        """
        names = [name for name in self.columns if any(name in cell.results for cell in cells)]
        yield f"milliseconds of a {self.unit}: shortest / median of rounds, peak MiB"
        yield " " * 24 + "".join(f"{name:>{WIDTH}}" for name in names)
        for cell in cells:
            texts = (_text(cell.results.get(name)) for name in names)
            yield _label(cell) + "".join(f"{text:>{WIDTH}}" for text in texts)
        yield ""
        yield f"{'ours / best peer':24}{'shortest':>10}{'medians':>10}{'of FMA peak':>13}"
        for cell in cells:
            figures = (self.ratio(cell), self.ratio(cell, statistics.median))
            row = "".join(f"{'-' if f is None else f'{f:.2f}':>10}" for f in figures)
            best = min(cell.results[name].best() for name in self.ours if name in cell.results)
            share = gflop(cell) / best / peak
            yield f"{_label(cell)}{row}{f'{share:.0%}' if share else '-':>13}"
        ratios = [ratio for ratio in map(self.ratio, cells) if ratio is not None]
        if ratios:
            mean, least = statistics.geometric_mean(ratios), min(ratios)
            yield (
                f"geometric mean {mean:.2f} (asked: {self.mean_goal}), "
                f"least {least:.2f} (asked: {self.goal})"
            )
        yield f"FMA peak of this machine: {peak:.0f} GFLOP/s"


def _label(cell):
    return f"{cell.network:18}b{cell.batch:<5}"


def _text(result):
    if result is None:
        return "-"
    middle = statistics.median(result.seconds)
    times = (f"{1e3 * seconds:.4g}" for seconds in (result.best(), middle))
    return f"{' / '.join(times)} {result.peak / 2**20:5.0f}"
