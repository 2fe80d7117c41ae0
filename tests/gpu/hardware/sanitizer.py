"""Our kernels under compute-sanitizer: memcheck, racecheck, synccheck, initcheck."""

import re
import shutil

from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.suites import run_tests

#: records with a variety of kernels
RECORDS = "FullyConnected or Convolution or BatchNorm or LayerNorm or Pooling or softmax or sum"
RECORDS += " or transpose or concat or sgd_mom_update or adam_update or pick or exp or slice"
_SUMMARY = re.compile(r"^=+ (ERROR SUMMARY: .*|RACECHECK SUMMARY: .*)$", re.MULTILINE)
_FIRST = re.compile(r"^=+ .*\b(?:Invalid|Uninitialized|hazard|Barrier error).*$", re.MULTILINE)
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def main(notes):
    """Run the battery of some records under each tool."""
    if shutil.which("compute-sanitizer") is None:
        notes.row("left out", what="all of it", why="compute-sanitizer is not installed")
        return
    notes.select = notes.select or RECORDS
    for number, tool in enumerate(TOOLS):
        before = ("compute-sanitizer", "--tool", tool, "--target-processes", "all")
        before += ("--kernel-name-exclude", "kns=cupy")
        text = run_tests(
            notes,
            "-x",
            "-p",
            "no:xdist",
            "tests/gpu/battery",
            before=before,
            name=tool,
            seconds=notes.left / (len(TOOLS) - number),
        )
        for summary in _SUMMARY.findall(text)[-1:]:
            notes.fact(tool, summary)
            if not re.search(r"\b0 (errors|hazards)", summary):
                notes.wrong(f"{tool}: {summary}\n" + "\n".join(_FIRST.findall(text)[:8]))


if __name__ == "__main__":
    main(begun())
