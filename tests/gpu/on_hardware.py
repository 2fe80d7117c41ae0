"""All checks that need a GPU, with a report: ``python -m tests.gpu.on_hardware``.

    python -m tests.gpu.on_hardware --minutes 9 --out "$OUT"
    python -m tests.gpu.on_hardware --parts tests,sanitizer

Each part runs in its own process, which is ended at its time limit; its results so far are kept.
``report.json`` and ``report.md`` are rewritten after each part. It needs a built mxcy (either
front), CuPy, pytest and NVRTC; PyTorch and compute-sanitizer are used if present. With
MXCY_CUDA_DRIVER set to the stand-in and ``--small`` it tests the program, not speed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.gpu.hardware.notes import read
from tests.gpu.hardware.report import markdown

ROOT = Path(__file__).resolve().parents[2]
#: part -> (share of the time, limit in seconds), most important first
PARTS = {
    "machine": (0.03, 40),
    "device": (0.18, 200),
    "launches": (0.07, 60),
    "networks": (0.20, 200),
    "bandwidth": (0.08, 90),
    "products": (0.10, 100),
    "battery": (0.14, 300),
    "libraries": (0.08, 120),
    "sanitizer": (0.12, 300),
}
_LEAST = 5  # a part starts only with this many seconds left


def parsed(words):
    """Parse the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=9, help="for all parts together")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "build/hardware")))
    parser.add_argument("--parts", default=",".join(PARTS), help="some of them, by commas")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to test the program")
    parser.add_argument("--select", default="", help="select tests, as pytest's -k")
    options = parser.parse_args(words)
    options.parts = options.parts.split(",")
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return options


def share(part, parts, left):
    """Return the seconds of a part, given those left for it and the following parts."""
    rest = parts[parts.index(part) :]
    weight = sum(PARTS[name][0] for name in rest)
    return min(PARTS[part][1], left * PARTS[part][0] / weight)


def environment():
    """Return the environment of a part: the real driver, unless another one is named."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        "MXCY_CUDA_DRIVER": "libcuda.so.1",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }


def run(part, options, seconds):
    """Run a part; return its notes, with how it ended."""
    notes = options.out / f"{part}.jsonl"
    notes.unlink(missing_ok=True)
    command = [sys.executable, "-m", f"tests.gpu.hardware.{part}", str(notes), f"{seconds:.0f}"]
    command += ["small" if options.small else "full", options.select]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds + _LEAST,
            check=False,
        )
        ended, printed = f"status {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as error:
        ended = "its time was over"
        printed = (error.stdout or b"").decode(errors="replace")
    found = read(notes)
    found["ended"] = ended
    found["seconds"] = round(time.monotonic() - began, 1)
    if ended != "status 0":
        found["printed"] = printed[-3000:]
    return found


def main(words=None):
    """Run the parts, and write the report.

    Returns
    -------
    int
        0 if all parts completed and all checks passed.
    """
    options = parsed(words)
    options.out.mkdir(parents=True, exist_ok=True)
    end, report = time.monotonic() + 60 * options.minutes, {}
    for part in options.parts:
        seconds = share(part, options.parts, end - time.monotonic())
        if seconds < _LEAST:
            report[part] = {"ended": "there was no time for it"}
        else:
            print(f"== {part}: {seconds:.0f} s at most", flush=True)
            report[part] = run(part, options, seconds)
        text = markdown(report)
        (options.out / "report.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
        (options.out / "report.md").write_text(text, "utf-8")
    print(text)
    wrong = any(found["ended"] != "status 0" or found.get("wrong") for found in report.values())
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
