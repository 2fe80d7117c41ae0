"""Pytest runs as parts of the program: counts, and messages of failures."""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

__all__ = ["run_tests"]

ROOT = Path(__file__).resolve().parents[3]
_MOST = 40  # failures reported in full


def _cases(file):
    """Return the test cases of the JUnit file; none if pytest was killed before writing it."""
    try:
        return list(xml.parse(file).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return []


def _outcome(case):
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            return kind, found
    return "passed", None


def run_tests(notes, *words, before=(), name="tests", seconds=None):
    """Run tests in a separate process; note failures.

    Parameters
    ----------
    notes : Notes
    *words : str
        Arguments of ``pytest``.
    before : sequence of str
        Command before the interpreter, such as a sanitizer with its options.
    name : str
        Of the row that tells the counts.
    seconds : float, optional
        The time; the part's by default.

    Returns
    -------
    str
        What was printed.
    """
    seconds = max(notes.left - 3 if seconds is None else seconds, 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "junit.xml")
        command = [*before, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-o", "junit_family=xunit1", f"--junitxml={file}", *words]
        if notes.select:
            command += ["-k", notes.select]
        with open(Path(folder, "printed"), "w+", encoding="utf-8", errors="replace") as printed:
            process = subprocess.Popen(command, cwd=ROOT, stdout=printed, stderr=printed)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(2)  # pytest ends with a report of what has run
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                notes.row("left out", what=name, why="its time was over before all had run")
            printed.seek(0)
            text = printed.read()
        _tell(notes, name, _cases(file), text)
    return text


def _tell(notes, name, cases, text):
    counts = dict.fromkeys(("passed", "failure", "error", "skipped"), 0)
    reasons = {}
    for case in cases:
        kind, found = _outcome(case)
        counts[kind] += 1
        if kind == "skipped":
            reason = (found.get("message") or "")[:100]
            reasons[reason] = reasons.get(reason, 0) + 1
        elif found is not None and counts["failure"] + counts["error"] <= _MOST:
            message = (found.get("message") or "")[:300]
            notes.wrong(
                f"{case.get('classname')}::{case.get('name')}: {message}\n"
                f"{(found.text or '')[-700:]}"
            )
    notes.row(name, **counts)
    for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1])[:12]:
        notes.row(f"{name}: skipped", count=count, reason=reason)
    if not cases:
        notes.wrong(f"{name}: no test has run\n{text[-1500:]}")
