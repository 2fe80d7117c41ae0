"""PS_VERBOSE: the log of connections and messages."""

import numpy as np
import pytest

from mxcy.dist.worlds.memory_world import MemoryJob
from mxcy.dist.worlds.message_log import logged
from tests.dist.jobs import job, needs_mpi
from tests.env.run import python

PROGRAM = """
import mxcy as mx
store = mx.kv.create('dist_sync')
store.init('weight', mx.nd.zeros(5))
store.push('weight', mx.nd.ones(5))
out = mx.nd.zeros(5)
store.pull('weight', out)
print(f"\\n{out.asnumpy().tolist()}", flush=True)
"""


@pytest.mark.parametrize("level, connections, sums", [(0, 0, 0), (1, 1, 0), (2, 1, 1)])
def test_messages_of_a_program_are_logged(level, connections, sums):
    told = python(PROGRAM, PS_VERBOSE=str(level))
    assert told.out.strip() == str([1.0] * 5)
    lines = told.err.splitlines()
    assert sum("connected to process 0 (worker on" in line for line in lines) == connections
    assert sum("worker 0: begins all_reduce of 20 bytes" in line for line in lines) == sums


def test_messages_of_both_kinds_pass_unchanged(capsys):
    first, second = (logged(world, 2) for world in MemoryJob(2).worlds)
    first.send_control(1, b'{"kind": "who"}')
    assert second.receive_control() == (0, b'{"kind": "who"}') and second.receive_control() is None
    second.send_message(0, b'["push", 3]', np.arange(4, dtype="float32"))
    place, head, body = first.receive_message()
    assert (place, head) == (1, b'["push", 3]') and first.receive_message() is None
    assert body.view("float32").tolist() == [0, 1, 2, 3]
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "worker 0: connected to process 0 (worker on memory), which is this one, by threads of "
        "one process",
        "worker 0: connected to process 1 (worker on memory), by threads of one process",
    ]
    assert lines[4:] == [
        'worker 0: sends to rank 1: {"kind": "who"}',
        'worker 1: receives from rank 0: {"kind": "who"}',
        'worker 1: sends to process 0: ["push", 3] and 16 bytes',
        'worker 0: receives from process 1: ["push", 3] and 16 bytes',
    ]


@needs_mpi
def test_two_workers():
    ended = job(2, PROGRAM, PS_VERBOSE="2")
    assert ended.code == 0, ended.err
    assert ended.lines == [str([2.0] * 5)] * 2
    for rank in range(2):
        assert f"worker {rank}: connected to process {1 - rank} (worker on" in ended.err
        assert f'worker {rank}: sends to rank {1 - rank}: {{"kind": "bye"' in ended.err
        assert f"worker {rank}: begins all_reduce of 20 bytes" in ended.err
