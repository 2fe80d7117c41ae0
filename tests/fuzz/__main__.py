"""Run all fuzzers in turn for a given time: ``python -m tests.fuzz MINUTES [FIRST_SEED]``."""

import sys
import time

from tests.fuzz.harness import fuzzers, run

_TURN = 500  # cases


def main(minutes, first=None):
    """Run and print findings; returns their number."""
    until = time.monotonic() + 60 * minutes
    first = int(time.time()) * 1000 if first is None else first
    findings, counts, turn = [], dict.fromkeys(fuzzers(), 0), 0
    while time.monotonic() < until:
        for name in counts:
            new, done = run(name, first + turn * _TURN, _TURN, until=until)
            counts[name] += done
            for finding in new:
                print(f"{name}: {finding}", flush=True)
            findings += new
        turn += 1
    cases = ", ".join(f"{count} of {name.removeprefix('fuzz_')}" for name, count in counts.items())
    print(f"cases: {cases}; {len(findings)} findings")
    return len(findings)


if __name__ == "__main__":
    sys.exit(1 if main(float(sys.argv[1]), *map(int, sys.argv[2:])) else 0)
