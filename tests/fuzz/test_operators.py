"""Wrong calls of all operators: some of the battery here, all of it under the sanitizers."""

import pytest

from tests.fuzz import operator_battery
from tests.fuzz.harness import SANITIZED, run

STEP = 1 if SANITIZED else 9  # calls from one that runs to the next


@pytest.mark.timeout(7200)
def test_no_wrong_call_crashes_or_hangs(monkeypatch):
    monkeypatch.setenv(operator_battery.STEP, str(STEP))
    count = -(-operator_battery.total() // STEP)
    findings, done = run("operator_battery", 0, count, seconds=60, memory=1 << 32)
    assert not findings, "\n".join(map(str, findings[:20]))
    assert done == count
