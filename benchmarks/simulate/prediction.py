"""Combine the ranks' times into the time of a program's step and what limits it."""

import re
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Operator", "Prediction", "bytes_of", "predict"]

_ARRAY = re.compile(r"([a-z]+)(\d*)\(([\d, ]*)\)")


def bytes_of(arrays):
    """Bytes of arrays as traces describe them, such as ``float32(2, 3)``."""
    total = 0
    for text in arrays:
        kind, bits, shape = _ARRAY.fullmatch(text).groups()
        width = 1 if kind == "bool" else int(bits) // 8
        total += width * int(np.prod([int(n) for n in shape.split(",") if n.strip()]))
    return total


@dataclass
class Operator:
    """One operator of a step.

    Parameters
    ----------
    name, node : str
    serial : float
        Nanoseconds outside regions.
    regions : list of list of float
        Minimum time of each rank, for each region or part of one between barriers.
    size : int
        Bytes of its arrays.
    barriers : float
        Nanoseconds in barriers.
    least : float
        Nanoseconds in which memory delivers its arrays.
    """

    name: str
    node: str
    serial: float
    regions: list = field(default_factory=list)
    size: int = 0
    barriers: float = 0.0
    least: float = 0.0

    @property
    def longest(self):
        """Time of the slowest rank of each region, summed."""
        return sum(max(ranks) for ranks in self.regions)

    @property
    def work(self):
        """Time of all ranks together, plus serial time."""
        return self.serial + sum(sum(ranks) for ranks in self.regions)

    @property
    def time(self):
        """Predicted time."""
        return max(self.serial + self.longest, self.least) + self.barriers

    @property
    def busy(self):
        """Smallest number of ranks that do a noticeable part of a region."""
        counts = [sum(t > max(ranks) / 10 for t in ranks) for ranks in self.regions]
        return min(counts, default=1)


@dataclass
class Prediction:
    """A step of a program on a machine."""

    operators: list
    between: float

    @property
    def time(self):
        """Nanoseconds of a step."""
        return self.between + sum(operator.time for operator in self.operators)


def _inside(play, operators):
    """Assign the regions of a run to operators."""
    begun = [op for op in operators if play["began"] <= op[0] < play["ended"]]
    regions = list(play["regions"])
    found = []
    for began, ended, name, node, arrays in begun:
        own = []
        while regions and regions[0][0] < ended:
            own.append(regions.pop(0))
        serial = max(0, ended - began - sum(longest for _, longest, _, _ in own))
        times, ends = [ranks for _, _, ranks, _ in own], [end for _, _, _, end in own]
        found.append((name, node, arrays, serial, times, ends))
    return found


def _on_own_cores(times, apart):
    """Minimum time of each rank of a region with a core of its own.

    Ranks that never had one are assumed to gain or lose as much by it as those that had.

    Parameters
    ----------
    times : list of list of float
        Of each run and rank.
    apart : list of int
        The rank of each run that had a core of its own. The other ranks shared one.
    """
    times, apart = np.array(times, float), np.array(apart)[:, np.newaxis]
    ranks = np.arange(times.shape[1])
    own = (apart == ranks) | ((apart >= 0) & (len(ranks) == 2))
    alone = np.where(own, times, np.inf).min(axis=0)
    shared = np.where(own, np.inf, times).min(axis=0)
    known, both = np.isfinite(alone), np.isfinite(alone) & np.isfinite(shared)
    gain = alone[both].sum() / shared[both].sum() if shared[both].sum() > 0 else 1.0
    return np.where(known, alone, shared * gain).tolist()


def predict(recorded, machine):
    """Predict a step from the minimum times of each rank on a core of its own.

    Parameters
    ----------
    recorded : dict
        The output of ``runner.py``.
    machine : Machine

    Returns
    -------
    Prediction

    Raises
    ------
    ValueError
        When runs differ in their operators or regions.
    """
    runs = [_inside(run, recorded["operators"]) for run in recorded["runs"]]
    first = runs[0]
    shapes = {tuple((op[0], tuple(map(len, op[4]))) for op in run) for run in runs}
    if len(shapes) != 1:
        raise ValueError("runs of the same program differ in their regions")
    size = sum(bytes_of(op[2]) for op in first)
    part = machine.from_memory(size)
    operators = []
    apart = [run["apart"] for run in recorded["runs"]]
    # Serial code runs on the core of rank 0.
    serial_runs = [run for run, rank in zip(runs, apart, strict=True) if rank <= 0]
    for i, (name, node, arrays, _, regions, ends) in enumerate(first):
        serial = min(run[i][3] for run in serial_runs)
        shortest = [
            _on_own_cores([run[i][4][r] for run in runs], apart) for r in range(len(regions))
        ]
        own = bytes_of(arrays)
        least = machine.least(own, part)
        barriers = sum(map(machine.barrier, ends))
        operators.append(Operator(name, node, serial, shortest, own, barriers, least))
    # Runs without the profiler tell what is left, as recording operators takes time between them.
    serial = sum(operator.serial for operator in operators)
    return Prediction(operators, max(0, min(recorded["outside"]) - serial))
