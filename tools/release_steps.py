"""The steps of `make release-check`, each by make: a failure ends no other step.

python tools/release_steps.py lint docs wheels

A step that passed on the same commit, with nothing changed since, is not repeated: after an
interruption, or once a failure of the machine is mended, the same command goes on where it was.
`--again` runs them all. What has passed is kept in build/release-check.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Passed:
    """The steps that have passed on a commit, with their seconds.

    Parameters
    ----------
    root : Path
        A source tree; where git does not know all of it, nothing is remembered.
    """

    def __init__(self, root):
        commit = _git(root, "rev-parse", "HEAD")
        clean = commit and _git(root, "status", "--porcelain") == ""
        self.path = root / "build" / "release-check" / f"{commit}.json" if clean else None

    def steps(self):
        """{step: seconds}."""
        if self.path is None or not self.path.exists():
            return {}
        return json.loads(self.path.read_text(encoding="utf-8"))

    def add(self, step, seconds):
        """Remember a step."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            steps = json.dumps({**self.steps(), step: seconds})
            self.path.write_text(steps, encoding="utf-8")


def _git(root, *command):
    """What git prints, or None where it fails or there is none."""
    try:
        done = subprocess.run(["git", "-C", root, *command], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def run(steps, make, root, again=False):
    """Run steps; lines that sum them up, and the number that failed.

    Parameters
    ----------
    steps : list of str
        Targets of make.
    make : str
    root : Path
    again : bool
        Whether what has passed before is repeated, too.

    Returns
    -------
    lines : list of str
    failed : int
    """
    lines, failed = [], 0
    before = {} if again else Passed(root).steps()
    for step in steps:
        if step in before:
            lines.append(f"{step:<12} passed before on this commit, in {before[step]} s")
            continue
        print(f"== make {step}", flush=True)
        passed, began = Passed(root), time.monotonic()
        status = subprocess.run([make, step], cwd=root).returncode
        seconds = round(time.monotonic() - began)
        failed += status != 0
        lines.append(f"{step:<12} {'FAILED' if status else 'passed'} after {seconds} s")
        print(f"== {lines[-1]}", flush=True)
        if status == 0 and passed.path == Passed(root).path:  # no other commit came meanwhile
            passed.add(step, seconds)
    return lines, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", default="make")
    parser.add_argument("--again", action="store_true", help="repeat what has passed before")
    parser.add_argument("steps", nargs="+")
    asked = parser.parse_args()
    lines, failed = run(asked.steps, asked.make, ROOT, asked.again)
    print("== release-check", *lines, sep="\n   ")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
