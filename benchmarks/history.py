"""Figures of earlier runs, stored as JSON files, and reports of what has become slower.

A busy machine slows down all libraries alike, so mxcy's times are judged relative to the change of
the other libraries' times between the same two runs.
"""

import json
import os
import platform
import statistics
import time
from pathlib import Path

__all__ = ["History", "compared", "machine"]

OURS = "mxcy"
SLOWER = 1.15  # factor from which a slowdown is reported


def machine():
    """The machine as figures depend on it: the CPU's name and the number of cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


class History:
    """The stored runs of one kind of benchmark.

    Parameters
    ----------
    folder : str or Path
        Folder of all kinds; created with the first run.
    kind : str
        Name of its subfolder.
    """

    def __init__(self, folder, kind):
        self.folder = Path(folder, kind.replace(" ", "-"))

    def last(self):
        """Read the newest figures of each row on a machine like this one.

        Returns
        -------
        dict
            {label: {contender: seconds}}: the newest figures of each row over all runs, so that a
            run with only some rows does not hide the others.
        """
        rows = {}
        for run in self.runs():
            rows.update(run)
        return rows

    def runs(self):
        """Read the rows of each run on a machine like this one, the newest last."""
        known = [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]
        return [run["rows"] for run in known if run["machine"] == machine()]

    def keep(self, rows):
        """Write the rows of a run and return the file's path.

        Parameters
        ----------
        rows : dict
            In the form of `last`.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        now = time.time_ns()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9))
        path = self.folder / f"{stamp}.{now % 10**9:09}.json"
        about = {"machine": machine(), "load": os.getloadavg()[0], "rows": rows}
        path.write_text(json.dumps(about, indent=1))
        return path


def compared(rows, before, slower=SLOWER):
    """Report which of our times have become longer.

    Parameters
    ----------
    rows, before : dict
        In the form of `History.last`: this run, and earlier ones.
    slower : float
        Smallest factor that counts.

    Yields
    ------
    str
    """
    common = [label for label in rows if OURS in rows[label] and OURS in before.get(label, ())]
    if not common:
        yield "no stored run to compare with"
        return
    drifts = {label: list(_drifts(rows[label], before[label])) for label in common}
    everywhere = [drift for label in common for drift in drifts[label]]
    drift = statistics.median(everywhere) if everywhere else 1.0
    slowdowns = 0
    for label in common:
        factor = rows[label][OURS] / before[label][OURS]
        # The machine's own slowdown: others in the same row, or in all rows if there are none.
        expected = max(1.0, statistics.median(drifts[label] or [drift]))
        if factor / expected >= slower:
            slowdowns += 1
            yield (
                f"{label}: {factor:.2f} times as long as before"
                f" ({before[label][OURS]:.3g} s, now {rows[label][OURS]:.3g}),"
                f" others {expected:.2f}"
            )
    others = f"; other libraries took {drift:.2f} times as long" if everywhere else ""
    yield f"{slowdowns} of {len(common)} rows are slower than kept ones{others}"


def _drifts(now, before):
    """Yield the factor by which each other library became slower."""
    return (now[name] / before[name] for name in now if name != OURS and name in before)
