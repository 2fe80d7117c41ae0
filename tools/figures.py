"""Key figures of releases: stored in benchmarks/history, compared, and drawn on the site.

python tools/figures.py measure               runs benchmarks/bench_key.py, and keeps what it gives
python tools/figures.py keep --kind calls     of what `make bench` kept here; or training, scoring
python tools/figures.py keep --kind training --table FILE       of a file that --score-json wrote
python tools/figures.py slower                what became slower since the release before

A developer's own runs are in .benchmarks/history (benchmarks/history.py); a release's figures are
their newest rows. Only figures measured several times for both releases are compared: one is slower
if the best of its runs is slower by more than the yardsticks are. Noise rarely causes that, and
measuring again adds runs, which removes the effect of noise only.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.history import OURS, History, machine  # noqa: E402

HISTORY = ROOT / "benchmarks" / "history"
#: kind of figures -> names of their rows in benchmarks/conftest.py
KINDS = {
    "training": "training table",
    "scoring": "scoring table float32",
    "int8 scoring": "scoring table int8",
    "calls": "bench",
    "key": "key figures",
}
MOST = 1.05  # tolerated ratio to the previous release
#: minimum number of runs of a figure in each release: on a busy machine, with three runs one of
#: thirty figures was falsely slower in 2 of 5 comparisons, with five in 1 of 20, after more runs in
#: 1 of 100; figures slower by 15 % were found in 93 of 100 cases
RUNS = 5


def from_rows(rows, kind):
    """Extract key figures from stored rows: our best seconds, and those of the others.

    Parameters
    ----------
    rows : dict
        Result of `History.last`.
    kind : str
        Kind of figures, e.g. ``training``.

    Returns
    -------
    dict
        {title: {"seconds": ..., "others": {contender: seconds}}}
    """
    entries = {}
    for label, times in rows.items():
        ours = [seconds for name, seconds in times.items() if name.startswith(OURS)]
        if ours:
            others = {n: seconds for n, seconds in times.items() if not n.startswith(OURS)}
            entries[f"{kind}, {label}"] = {"seconds": min(ours), "others": others}
    return entries


def rows_of_table(path):
    """The rows of a file that ``--score-json`` of the benchmarks has written.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        Result of `History.last`.
    """
    table = json.loads(path.read_text(encoding="utf-8"))
    rows = {}
    for cell in table["cells"]:
        label = f"{cell['network']} b{cell['batch_size']}, {table['threads']} threads"
        rows[label] = {n: min(found["seconds"]) for n, found in cell["contenders"].items()}
    return rows


def runs(folder):
    """Return the stored runs, by day.

    Parameters
    ----------
    folder : Path
    """
    known = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return sorted(known, key=lambda run: (run["day"], run["release"]))


def pair(folder):
    """Return the newest run and that of the previous release on the same machine, or None.

    Parameters
    ----------
    folder : Path
    """
    known = runs(folder)
    newest = known[-1] if known else None
    before = [
        run
        for run in known
        if run["machine"] == newest["machine"] and run["release"] != newest["release"]
    ]
    return (newest, before[-1]) if before else None


def judged(newest, before):
    """Return the ratios to the previous release, of figures with enough runs in both.

    Parameters
    ----------
    newest, before : dict
        Runs from `runs`.

    Returns
    -------
    dict
        {title: factor}: the best new time by the typical old one, corrected by the slow-down of
        NumPy or other libraries timed alongside.
    """
    drifts, factors = {}, {}
    for title, now in newest["figures"].items():
        then = before["figures"].get(title, {})
        if min(len(now.get("runs", ())), len(then.get("runs", ()))) >= RUNS:
            factors[title] = min(now["runs"]) / statistics.median(then["runs"])
            others = now["others"].keys() & then["others"].keys()
            drifts[title] = [now["others"][name] / then["others"][name] for name in others]
    everywhere = [drift for several in drifts.values() for drift in several] or [1.0]
    for title in factors:
        factors[title] /= max(1.0, statistics.median(drifts[title] or everywhere))
    return factors


def slower(folder):
    """Return a line per figure that is slower than in the previous release on the same machine.

    Parameters
    ----------
    folder : Path
    """
    both = pair(folder)
    factors = judged(*both) if both else {}
    return [
        f"{title}: {factor:.2f} times as long as in {both[1]['release']}, best of "
        f"{len(both[0]['figures'][title]['runs'])} runs: python tools/figures.py measure adds some"
        for title, factor in factors.items()
        if factor > MOST
    ]


def told(folder):
    """Return a line with the number of compared figures and the previous release.

    Parameters
    ----------
    folder : Path
    """
    both = pair(folder)
    if both is None:
        return "no release before has figures of this machine: none was compared"
    newest, before = both
    count = len(judged(newest, before))
    return f"{count} key figures of {newest['release']} were compared with {before['release']}"


def keep(rows, kind, folder, release, machine, load=None, day=None):
    """Add the figures of rows to the stored run of this release, machine and day.

    Parameters
    ----------
    rows : dict
        Result of `History.last`.
    kind, release, machine : str
    folder : Path
    load : float, optional
        The load average meanwhile, kept for each kind.
    day : date, optional

    Returns
    -------
    Path
        The written file.
    """
    day = day or datetime.datetime.now(datetime.UTC).date()
    name = re.sub(r"\W+", "-", f"{release} {day} {machine}").strip("-").lower()
    target = folder / f"{name}.json"
    about = {"release": release, "day": str(day), "machine": machine, "loads": {}, "figures": {}}
    if target.exists():
        about = json.loads(target.read_text(encoding="utf-8"))
    about["loads"][kind] = load
    about["figures"].update(from_rows(rows, kind))
    _write(target, about)
    return target


def _write(target, about):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def add_runs(target, several, kind):
    """Add runs to a stored file's runs of the same figures.

    Parameters
    ----------
    target : Path
        File written by `keep`.
    several : list of dict
        Rows from `History.runs`.
    kind : str
    """
    about = json.loads(target.read_text(encoding="utf-8"))
    for rows in several:
        for title, new in from_rows(rows, kind).items():
            figure = about["figures"].setdefault(title, {**new, "runs": []})
            figure.setdefault("runs", []).append(new["seconds"])
            figure["seconds"] = min(figure["runs"])
            for name, seconds in new["others"].items():
                figure["others"][name] = min(seconds, figure["others"].get(name, seconds))
    _write(target, about)


def measure(runs_wanted, folder, release, about_machine):
    """Measure the key figures several times, each in its own process; return the file.

    Parameters
    ----------
    runs_wanted : int
    folder : Path
    release, about_machine : str
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as work:
        for number in range(runs_wanted):
            print(
                f"== run {number + 1} of {runs_wanted}, load {os.getloadavg()[0]:.1f}", flush=True
            )
            command = [sys.executable, "-m", "pytest", "-q", "benchmarks/bench_key.py"]
            command += ["--benchmark-only", "--benchmark-disable-gc", "--history", work]
            environment = {**os.environ, **threads}
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
            if done.returncode:
                raise SystemExit(done.stdout.decode(errors="replace"))
        several = History(work, KINDS["key"]).runs()
    target = keep({}, "key", folder, release, about_machine, round(os.getloadavg()[0], 1))
    add_runs(target, several, "key")
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_subparsers(dest="what", required=True)
    one = which.add_parser("keep", help="keep the newest rows of this machine's own runs")
    one.add_argument("--kind", required=True, choices=KINDS)
    one.add_argument("--rows", help="only those whose label has this regular expression")
    one.add_argument("--table", type=Path, help="a file of --score-json, instead of kept runs")
    one.add_argument("--history", type=Path, default=ROOT / ".benchmarks" / "history")
    one.add_argument("--load", type=float, default=round(os.getloadavg()[0], 1))
    one.add_argument("--day", type=datetime.date.fromisoformat)
    again = which.add_parser("measure", help="measure the key figures, and keep them")
    again.add_argument("--runs", type=int, default=RUNS)
    which.add_parser("slower", help="tell which key figures became slower")
    asked = parser.parse_args()
    if asked.what == "slower":
        print(*slower(HISTORY) or ["no key figure became slower"], told(HISTORY), sep="\n")
        return
    source = (ROOT / "mxcy" / "libinfo.py").read_text(encoding="utf-8")
    release = re.search(r'^__version__ = "(.+)"$', source, re.M).group(1)
    if asked.what == "measure":
        print(measure(asked.runs, HISTORY, release, machine()))
        return
    rows = History(asked.history, KINDS[asked.kind]).last()
    if asked.table:
        rows = rows_of_table(asked.table)
    rows = {label: rows[label] for label in rows if re.search(asked.rows or "", label)}
    if not rows:
        raise SystemExit(
            f"{asked.table or asked.history} has no such rows of {KINDS[asked.kind]!r} of "
            f"{machine()}"
        )
    print(keep(rows, asked.kind, HISTORY, release, machine(), asked.load, asked.day))


if __name__ == "__main__":
    main()
