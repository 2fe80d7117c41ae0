"""Figures of earlier runs, kept as JSON files, and what has become slower since.

A machine that others use is slower as a whole, and so is what mxcy was compared with: times are
judged by how those of the other libraries have changed in the same two runs.
"""

import json
import os
import platform
import statistics
import time
from pathlib import Path

__all__ = ["History", "compared", "machine"]

OURS = "mxcy"
SLOWER = 1.15  # so much longer than before is told


def machine():
    """What figures depend on: the CPU's name and how many of it there are."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


class History:
    """The kept runs of one kind of benchmark.

    Parameters
    ----------
    folder : str or Path
        Where all kinds are kept; it is made with the first run.
    kind : str
        The name of a folder in it.
    """

    def __init__(self, folder, kind):
        self.folder = Path(folder, kind.replace(" ", "-"))

    def last(self):
        """The rows of the newest run on a machine like this one.

        Returns
        -------
        dict
            {label: {contender: seconds}}, over all runs: of each row the newest figures, so that
            runs of a part of the rows hide nothing.
        """
        rows = {}
        for run in self.runs():
            rows.update(run)
        return rows

    def runs(self):
        """The rows of each run on a machine like this one, a list of dicts, the newest last."""
        known = [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]
        return [run["rows"] for run in known if run["machine"] == machine()]

    def keep(self, rows):
        """Write the rows of a run; returns the file's path.

        Parameters
        ----------
        rows : dict
            As `last` gives them.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        now = time.time_ns()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9))
        path = self.folder / f"{stamp}.{now % 10**9:09}.json"
        about = {"machine": machine(), "load": os.getloadavg()[0], "rows": rows}
        path.write_text(json.dumps(about, indent=1))
        return path


def compared(rows, before, slower=SLOWER):
    """Lines that tell which of our times have become longer.

    Parameters
    ----------
    rows, before : dict
        As `History.last` gives them: of this run, and of the last ones.
    slower : float
        The smallest factor that counts.

    Yields
    ------
    str
    """
    common = [label for label in rows if OURS in rows[label] and OURS in before.get(label, ())]
    if not common:
        yield "nothing was kept to compare with"
        return
    drifts = {label: list(_drifts(rows[label], before[label])) for label in common}
    everywhere = [drift for label in common for drift in drifts[label]]
    drift = statistics.median(everywhere) if everywhere else 1.0
    told = 0
    for label in common:
        factor = rows[label][OURS] / before[label][OURS]
        # Others in the same row tell best how the machine did; none: those of all rows.
        expected = max(1.0, statistics.median(drifts[label] or [drift]))
        if factor / expected >= slower:
            told += 1
            yield (
                f"{label}: {factor:.2f} times as long as before"
                f" ({before[label][OURS]:.3g} s, now {rows[label][OURS]:.3g}),"
                f" others {expected:.2f}"
            )
    others = f"; other libraries took {drift:.2f} times as long" if everywhere else ""
    yield f"{told} of {len(common)} rows are slower than kept ones{others}"


def _drifts(now, before):
    """How much longer each of the others took than before."""
    return (now[name] / before[name] for name in now if name != OURS and name in before)
