"""What is said about ranks that others wait for, on threads of one process."""

import os
import re
import time

import numpy as np
import pytest

from mxcy.dist.agreement import Agreement
from mxcy.dist.progress import ProgressThread
from mxcy.dist.worlds.memory_world import MemoryJob
from tests.conditions import await_that
from tests.dist.ranks import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)


def test_timeout_names_missing_ranks():
    def program(rank):
        rank.init(a=np.zeros(2))
        if rank.rank != 1:
            rank.push("a", np.ones(2))
            rank.pull("a")
        else:
            time.sleep(1.5)

    results = run(3, program, patience=0.5)
    for result in (results[0], results[2]):
        assert str(result) == (
            "waited 0.5 seconds (MXCY_DIST_TIMEOUT) for round 1 of key 'a': "
            "rank 1 (memory) has not reached it"
        )


def test_one_warning_names_ranks_that_are_late(monkeypatch, caplog):
    monkeypatch.setattr(Agreement, "patience", 0.2)

    def program(rank):
        if rank.rank == 1:
            await_that(lambda: caplog.records)
        rank.init(a=np.zeros(2))

    assert run(3, program) == [None] * 3
    (said,) = [record.getMessage() for record in caplog.records]
    late = r"rank 1 \(memory\) has not reached it"
    assert re.fullmatch(rf"waiting for init of key 'a' for \d+ seconds: {late}", said)


def test_a_warning_while_processes_have_not_started(monkeypatch, caplog):
    monkeypatch.setattr(Agreement, "patience", 0.05)

    def open_world():
        await_that(lambda: caplog.records)
        return MemoryJob(1).worlds[0]

    ProgressThread(open_world).close()
    said = caplog.records[0].getMessage()
    assert re.fullmatch(r"waiting for \d+ seconds for all processes of the job", said)
