"""Programs whose loader has worker processes: interrupted, killed, started in other ways."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from tests.conditions import await_that

PROGRAM = """
import os, sys, time
import mxcy as mx

class Slow(mx.gluon.data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        time.sleep(0.01)
        return os.getpid()

if __name__ == "__main__":
    loader = mx.gluon.data.DataLoader(Slow(), 1, num_workers=2)
    for number, batch in enumerate(loader):
        if number < 2:
            print(int(batch.asscalar()), flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """A program that keeps loading and prints its worker processes."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [sys.executable, path],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process.workers = [int(process.stdout.readline()) for _ in range(2)]
    yield process
    process.kill()
    process.communicate(timeout=10)


def alive(process):
    try:
        return "Z" not in pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    except FileNotFoundError:
        return False


def test_interrupting_the_program(program):
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does for Ctrl-C
    _, errors = program.communicate(timeout=20)
    assert program.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1
    await_that(lambda: not any(map(alive, program.workers)))


def test_workers_end_with_a_killed_program(program):
    program.kill()
    program.wait(timeout=10)
    await_that(lambda: not any(map(alive, program.workers)))
    assert program.stderr.read() == ""


START = """
import multiprocessing, os, sys
import numpy as np
import mxcy as mx

class Rows(mx.gluon.data.Dataset):
    def __init__(self):
        self.rows = mx.nd.arange(20000).reshape((4, 5000))
    def __len__(self):
        return 4
    def __getitem__(self, index):
        assert multiprocessing.get_start_method() == sys.argv[1]
        return self.rows[index], mx.util.is_np_shape()

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with mx.np_shape():
        loader = mx.gluon.data.DataLoader(Rows(), 2, num_workers=2)
    for number, (rows, flags) in enumerate(loader):
        assert rows.context == mx.context.cpu_shared(0)
        assert (rows.asnumpy()[:, 0] == [10000 * number, 10000 * number + 5000]).all()
        assert flags.asnumpy().all()
    print("good")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods(method, tmp_path):
    path = tmp_path / "start.py"
    path.write_text(START)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, path, method], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("good\n", "")
