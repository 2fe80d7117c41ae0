"""Run the cases of a fuzzer in a child process that may crash, hang or exhaust memory.

A fuzzer is a module ``tests/fuzz/fuzz_NAME.py``. Its ``case(seed)`` does one thing, the same for
the same seed, and lets every error out that is not documented (`expected` keeps the others in);
its ``COUNT`` is how many cases the ordinary tests run, its ``prepare()``, if there is one, runs
before the first.
"""

import contextlib
import dataclasses
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mxcy.base import MXNetError

__all__ = ["Finding", "expected", "fuzzers", "repeat", "run"]

HERE = Path(__file__).resolve().parent
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
_STARTING = 120  # seconds allowed for importing and preparing
_SLOWER = 5 if SANITIZED else 1  # factor for memory with a sanitizer's shadow


@dataclasses.dataclass
class Finding:
    """A wrong outcome of a case."""

    fuzzer: str
    seed: int
    what: str

    def __str__(self):
        return f"{self.what}\n    repeat: {repeat(self.fuzzer, self.seed)}"


def repeat(fuzzer, seed):
    """The command that repeats a case."""
    return f"python -m tests.fuzz.worker {fuzzer} {seed} 1"


def fuzzers():
    """The names of all fuzzers."""
    return sorted(path.stem for path in HERE.glob("fuzz_*.py"))


@contextlib.contextmanager
def expected(*errors):
    """Suppress MXNetError and other documented errors."""
    with contextlib.suppress(MXNetError, *errors):
        yield


def run(fuzzer, first, count, seconds=20, memory=2**30, until=None, step=1):
    """Run cases, restarting the child after each case that ended it.

    Parameters
    ----------
    fuzzer : str
        The module's name.
    first, count : int
        The first seed, and how many there are.
    seconds : float
        How long a case may take; five times as long under a sanitizer.
    memory : int
        How many bytes a case may add to the child's address space; under a sanitizer there is no
        such limit.
    until : float, optional
        When to stop, as `time.monotonic` tells it.
    step : int
        From one seed to the next.

    Returns
    -------
    findings : list of Finding
    done : int
        How many cases were run.
    """
    findings, seeds = [], range(first, first + count * step, step)
    while seeds and not (until and time.monotonic() > until):
        done, finding = _child(fuzzer, seeds, seconds, memory, until)
        if finding is not None:
            findings.append(finding)
            done += 1
        seeds = seeds[done:]
    return findings, count - len(seeds)


def _child(fuzzer, seeds, seconds, memory, until):
    """Run cases until one is a finding: (how many went before it, Finding or None)."""
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.worker",
        fuzzer,
        *map(str, (seeds.start, len(seeds), memory, seeds.step)),
    ]
    with (
        tempfile.TemporaryDirectory(prefix="fuzz") as folder,
        subprocess.Popen(
            command,
            cwd=HERE.parents[1],
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as child,
    ):
        try:
            return _watch(child, fuzzer, seeds, seconds * _SLOWER, until)
        finally:
            child.kill()


def _watch(child, fuzzer, seeds, seconds, until):
    lines, tail, wait, done = _lines(child.stdout), [], _STARTING, 0
    while True:
        line = lines(wait)
        seed = seeds[min(done, len(seeds) - 1)]  # some crash after the last one
        if line is None:
            return done, Finding(fuzzer, seed, f"no end after {wait} seconds")
        if line == "":
            status = child.wait()
            if status == 0:
                return done, None
            # a sanitizer's report begins with the error and ends with Python's frames
            text = "\n    ".join(tail if len(tail) <= 25 else [*tail[:15], "...", *tail[-9:]])
            return done, Finding(fuzzer, seed, f"ended with status {status}:\n    {text}")
        if line.startswith("begins "):
            wait, tail = seconds, []
            if until and time.monotonic() > until:
                return done, None
        elif line.startswith("done "):
            done += 1
        else:
            tail.append(line)


def _lines(stream):
    """A function that waits for the next line: None if none comes in time, "" at the end."""
    selector = selectors.DefaultSelector()
    selector.register(stream, selectors.EVENT_READ)
    os.set_blocking(stream.fileno(), False)
    kept = bytearray()

    def line(wait):
        end = time.monotonic() + wait
        while b"\n" not in kept:
            if not selector.select(max(end - time.monotonic(), 0)):
                return None
            part = stream.read(65536)
            if part == b"":
                rest = bytes(kept)
                kept.clear()
                return rest.decode(errors="replace")
            kept.extend(part or b"")
        head, _, rest = bytes(kept).partition(b"\n")
        kept[:] = rest
        return head.decode(errors="replace") or " "

    return line
