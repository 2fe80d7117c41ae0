"""Wrong calls of all operators: a ninth of the battery, a third of it under the sanitizers."""

import pytest

from tests.fuzz import operator_battery
from tests.fuzz.harness import SANITIZED, run

STEP = 3 if SANITIZED else 9  # calls from one that runs to the next
PARTS = 4 if SANITIZED else 1  # side by side; each has to pass over the calls before its own


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_call_crashes_or_hangs(monkeypatch, part):
    monkeypatch.setenv(operator_battery.STEP, str(STEP))
    count = -(-operator_battery.total() // STEP)
    first, last = (count * i // PARTS for i in (part, part + 1))
    findings, done = run("operator_battery", first, last - first, seconds=60, memory=1 << 32)
    assert not findings, "\n".join(map(str, findings[:20]))
    assert done == last - first
