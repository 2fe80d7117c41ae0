"""The contenders of the training table, and the comparison of losses before timing."""

import numpy as np

from benchmarks.score import contenders
from benchmarks.score.contenders import Cell, Result

__all__ = ["COLUMNS", "OURS", "Field"]

STEPS = 4  # number of first losses that are compared
TOLERANCE = 1e-3
#: our contenders; the first one's losses are the reference for all others
OURS = ("mxcy Gluon", "mxcy Module")
#: column -> environment (None for this one), class of the worker
COLUMNS = {
    "mxcy Gluon": (None, "with_mxcy:Gluon"),
    "mxcy Module": (None, "with_mxcy:Module"),
    "MXNet Gluon": ("mxnet", "with_mxnet:Gluon"),
    "MXNet Module": ("mxnet", "with_mxnet:Module"),
    "PyTorch": ("torch", "with_torch:Eager"),
    "PyTorch last": ("torch", "with_torch:Last"),
    "PyTorch compile": ("torch", "with_torch:Compiled"),
}
#: rows whose networks run eagerly
EAGER = ("mxcy Gluon", "MXNet Gluon", "PyTorch")
CHAIN = {
    name: (environment, f"{kind.split(':')[0]}:Chain")
    for name, (environment, kind) in COLUMNS.items()
    if name in EAGER
}


def _columns(row):
    if row.network == "chain":
        return CHAIN
    names = EAGER if row.eager else [n for n in COLUMNS if row.image or n != "PyTorch last"]
    return {name: COLUMNS[name] for name in names}


class Field(contenders.Field):
    """All contenders with one row's network, each in a separate process.

    Parameters
    ----------
    material : Material
        Files of the row.
    peers : str or Path
        The folder of environments.
    threads : int
        Threads per contender.
    only : collection of str, optional
        Names of contenders; by default all whose environment exists.
    """

    worker = "benchmarks.train.worker"
    ours = OURS

    def __init__(self, material, peers, threads, only=None):
        self.tables = {"float32": _columns(material.row)}
        super().__init__(material, peers, threads, only)

    def race(self, seconds, rounds):
        """Time interleaved training steps, after comparing each contender's losses with ours.

        Parameters
        ----------
        seconds : float
            Approximate total time of each contender, if the rounds allow it.
        rounds : int
            Smallest number of rounds.

        Returns
        -------
        Cell

        Raises
        ------
        AssertionError
            When losses differ by more than a thousandth.
        """
        cell = Cell(self.material.name, self.material.row.batch)
        expected = None
        for name, answer in self._first(STEPS):
            expected = expected or answer["losses"]
            pairs = zip(answer["losses"], expected, strict=True)
            error = max(abs(loss - other) / abs(other) for loss, other in pairs)
            assert error <= TOLERANCE, f"{name}, {cell.network}: {answer['losses']}, not {expected}"
            cell.results[name] = Result(plan=answer["seconds"], error=error)
        self._measure(cell, seconds, rounds)
        return cell

    def losses(self, steps):
        """Losses of the first steps by contender.

        Parameters
        ----------
        steps : int

        Returns
        -------
        dict of str to numpy.ndarray
        """
        return {name: np.array(answer["losses"]) for name, answer in self._first(steps)}

    def _first(self, steps):
        """Yield each contender that works and its answer to the command `losses`."""
        for name in list(self._processes):
            answer = self._ask(name, "losses", steps=steps)
            if answer is not None:
                yield name, answer
