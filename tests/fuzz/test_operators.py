"""Wrong calls of all operators: a part of the battery, under the sanitizers another, larger one.

Which one these take depends on the version, so that in time releases take them all.
"""

import os
import zlib

import pytest

import mxcy as mx
from tests.fuzz import operator_battery
from tests.fuzz.harness import SANITIZED, run

STEP = 9 if SANITIZED else 54  # calls from one that runs to the next
OFFSET = 1 + zlib.crc32(mx.__version__.encode()) % (STEP - 1) if SANITIZED else 0
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
PARTS = WORKERS if SANITIZED else 1  # each has to make all the calls that it passes over


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_call_crashes_or_hangs(part):
    step = STEP * PARTS
    numbers = range(OFFSET + STEP * part, operator_battery.total(), step)
    findings, done = run(
        "operator_battery", numbers.start, len(numbers), seconds=60, memory=1 << 32, step=step
    )
    assert not findings, "\n".join(map(str, findings[:20]))
    assert done == len(numbers)
