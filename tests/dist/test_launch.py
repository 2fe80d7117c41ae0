"""The launcher: options, command lines, starting and ending jobs."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mxcy.base import MXNetError
from mxcy.dist.hostfile import read_hosts
from mxcy.tools import launch, rank
from tests.conditions import await_that
from tests.dist.jobs import job, needs_mpi, start


def line(*arguments, kind="mpich"):
    return launch.job_line(launch.parse(list(arguments)), "mpiexec", kind)


def test_sections_of_workers_and_servers():
    words = line("-n", "3", "-s", "2", "--env-worker", "A:b:c", "python", "train.py", "-n", "9")
    worker, server = " ".join(words).split(" : ")
    command = f"{sys.executable} {rank.__file__} python train.py -n 9"
    assert worker.endswith(f"-n 3 -env DMLC_ROLE worker -env A b:c {command}")
    assert server == f"-n 2 -env DMLC_ROLE server {command}"
    assert "-genv DMLC_NUM_WORKER 3 -genv DMLC_NUM_SERVER 2" in worker
    assert "-launcher fork" in worker


def test_as_many_servers_as_workers():
    assert " ".join(line("-n", "2", "x")).count(" : -n 2 ") == 1
    assert ":" not in line("-n", "2", "-s", "0", "x")


def test_open_mpi():
    words = " ".join(line("-n", "2", "-s", "0", "--env", "HOME", "x", kind="openmpi"))
    assert "--oversubscribe" in words and "-x DMLC_NUM_WORKER=2" in words
    assert f"-x HOME={os.environ['HOME']}" in words
    assert words.endswith(f"-n 2 env DMLC_ROLE=worker {sys.executable} {rank.__file__} x")


def test_other_machines(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("# ours\nalpha:4\nbeta slots=2\n\nalpha\n", encoding="utf-8")
    assert read_hosts(hosts) == ["alpha", "beta"]
    words = line("-n", "4", "-s", "0", "-H", str(hosts), "x")
    assert words[1:5] == ["-launcher", "ssh", "-f", str(hosts)]
    assert "slurm" in line("-n", "4", "--launcher", "slurm", "x")
    with pytest.raises(MXNetError, match="No such file"):
        read_hosts(tmp_path / "none")
    hosts.write_text("#\n", encoding="utf-8")
    with pytest.raises(MXNetError, match="lists no machines"):
        read_hosts(hosts)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["x"], "-n/--num-workers"),
        (["-n", "0", "x"], "expected 1 or more, got 0"),
        (["-n", "2"], "a command to run is required"),
        (["-n", "2", "--launcher", "yarn", "x"], "yarn is not supported"),
        (["-n", "2", "--launcher", "ssh", "x"], "needs a hostfile"),
        (["-n", "2", "--env-worker", "A", "x"], "expected NAME:VALUE"),
    ],
)
def test_refusals(arguments, text, capsys):
    with pytest.raises(SystemExit) as end:
        launch.parse(arguments)
    assert end.value.code == 2 and text in capsys.readouterr().err


def test_a_missing_command():
    done = subprocess.run(
        [sys.executable, rank.__file__, "/no/such/program"], capture_output=True, text=True
    )
    assert done.returncode == 127 and "/no/such/program: No such file" in done.stderr


_SHOW = r"""
import os, json
names = ("DMLC_ROLE", "DMLC_WORKER_ID", "DMLC_SERVER_ID", "DMLC_NUM_WORKER", "A")
print("\n" + json.dumps([os.environ.get(name) for name in names]), flush=True)
"""


@needs_mpi
def test_environment():
    ended = job(2, _SHOW, "--env-worker", "A:1", servers=1)
    assert ended.code == 0, ended.err
    assert [json.loads(said) for said in ended.lines] == [
        ["server", None, "0", "2", None],
        ["worker", "0", None, "2", "1"],
        ["worker", "1", None, "2", "1"],
    ]


@needs_mpi
def test_a_dry_run():
    done = subprocess.run(
        [sys.executable, "tools/launch.py", "-n", "2", "--dry-run", "echo", "a b"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert done.returncode == 0, done.stderr
    assert shlex.split(done.stdout)[-2:] == ["echo", "a b"]


@needs_mpi
@pytest.mark.dist_long
def test_the_code_of_a_failure_and_restarts():
    code = "import os, sys; sys.exit(3 * (os.environ['DMLC_NUM_ATTEMPT'] == '0'))"
    assert job(2, code).code == 3
    again = job(2, code, "--max-restarts", "1")
    assert again.code == 0 and "the job ended with code 3; restarting it" in again.err


@needs_mpi
@pytest.mark.dist_long
def test_a_time_limit():
    ended = job(1, "import time; time.sleep(60)", "--timeout", "0.5")
    assert ended.code == 124 and "longer than 0.5 seconds" in ended.err


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, None])
def test_no_process_is_left(number, tmp_path):
    """Whatever ends the launcher, its ranks end too; None: kill_mxnet ends them."""
    own = {"TMPDIR": str(tmp_path)}  # jobs of other tests are recorded elsewhere and continue
    code = "import os, time; print(f'\\n {os.getpid()}', flush=True); time.sleep(60)"
    process = start(2, code, **own)
    try:
        said = (line.strip() for line in process.stdout)
        ranks = [int(next(filter(None, said))) for _ in range(2)]
        if number is None:
            said = subprocess.run(
                [sys.executable, "-m", "mxcy.tools.kill_mxnet"],
                capture_output=True,
                text=True,
                cwd=Path(__file__).resolve().parents[2],
                env={**os.environ, **own},
            )
            assert "ended 1 job" in said.stdout, said.stderr
        else:
            process.send_signal(number)
        assert process.wait(20) != 0
        await_that(lambda: not any(_runs(one) for one in ranks))
    finally:
        process.kill()
        process.communicate()


def _runs(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("program", [["-m", "mxcy.tools.launch"], ["tools/launch.py"]])
def test_the_launcher_imports_neither_numpy_nor_the_library(program):
    """It starts before its processes do, and needs none of what these import."""
    line = [sys.executable, *program, "-n", "2", "-s", "0", "--dry-run", "true"]
    root = str(Path(__file__).resolve().parents[2])
    variables = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1", "PYTHONPATH": root}
    ended = subprocess.run(
        line, capture_output=True, text=True, check=True, cwd=root, env=variables
    )
    assert "-n 2" in ended.stdout
    imported = {row.rsplit("|", 1)[-1].strip() for row in ended.stderr.splitlines()}
    assert "mxcy.dist.hostfile" in imported
    assert not imported & {"numpy", "mxcy.ndarray", "mxcy._library.open"}


def test_a_signal_after_the_end_of_the_command():
    """The wrapper, which gives others time to report their errors, ends at once and silently."""
    command = [sys.executable, rank.__file__, "sh", "-c", "kill -KILL $$"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as wrapper:
        assert wrapper.stderr.readline().endswith(" died of SIGKILL\n")
        wrapper.terminate()
        assert wrapper.stderr.read() == ""
    assert wrapper.returncode == -signal.SIGTERM


def test_stores_import_no_symbols():
    code = "import sys, mxcy; mxcy.kv.create('local'); print('mxcy.symbol' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
