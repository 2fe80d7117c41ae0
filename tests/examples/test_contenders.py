"""Processes of the benchmarks' contenders."""

import sys
import time
from pathlib import Path

from benchmarks.score.process import Process


def _state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_contender_is_stopped_between_commands(tmp_path):
    process = Process(sys.executable, "with_mxcy:Contender", 1, tmp_path / "log")
    for _ in range(2):
        assert process.ask("peak")["bytes"] > 0
        until = time.monotonic() + 30
        while _state(process.pid) != "T" and time.monotonic() < until:
            time.sleep(0.01)
        assert _state(process.pid) == "T"
    process.close()
    assert not Path(f"/proc/{process.pid}").exists()
