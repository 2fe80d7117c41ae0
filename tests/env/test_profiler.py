"""MXNET_PROFILER_AUTOSTART and MXNET_PROFILER_MODE, in separate processes."""

import os
import signal
import subprocess
import sys

import pytest

from tests.env.run import ROOT, python
from tests.runtime.traces import checked, named

EAGER = """
import mxcy as mx
a = mx.nd.ones((4, 4))
mx.nd.relu(mx.nd.dot(a, a)).wait_to_read()
"""
HYBRID = """
import mxcy as mx
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.Dense(4))
net.initialize()
net.hybridize()
net(mx.nd.ones((2, 3))).wait_to_read()
"""


def profiled(tmp_path, code, **variables):
    """The events of a program that starts with the profiler on."""
    python(code, cwd=tmp_path, MXNET_PROFILER_AUTOSTART="1", **variables)
    assert os.listdir(tmp_path) == ["profile.json"]
    return checked(tmp_path / "profile.json")


def kinds(events):
    """Which of the four categories of events there are."""
    categories = {e["cat"] for e in events if "cat" in e}
    return categories & {"operator", "MXNET_C_API", "Device Storage"}


def test_autostart_writes_a_file(tmp_path):
    events = profiled(tmp_path, EAGER)
    assert kinds(events) == {"operator", "MXNET_C_API", "Device Storage"}
    assert named(events, "operator")[-4:] == ["_ones", "dot", "relu", "WaitForVar"]


def test_without_it_there_is_no_file(tmp_path):
    python(EAGER, cwd=tmp_path, MXNET_PROFILER_MODE="15")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("0", set()),
        ("1", set()),
        ("2", {"operator"}),
        ("3", {"operator"}),
        ("4", {"MXNET_C_API"}),
        ("8", {"Device Storage"}),
        ("13", {"MXNET_C_API", "Device Storage"}),
        ("15", {"operator", "MXNET_C_API", "Device Storage"}),
        ("symbolic", set()),
        ("imperative", {"operator"}),
        ("all", {"operator", "MXNET_C_API", "Device Storage"}),
    ],
)
def test_modes(tmp_path, mode, expected):
    events = profiled(tmp_path, EAGER, MXNET_PROFILER_MODE=mode)
    assert kinds(events) == expected
    if "operator" in expected:
        assert {"_ones", "dot", "relu", "WaitForVar"} <= set(named(events, "operator"))
        assert sum(e["ph"] == "B" for e in events) == len(named(events, "operator"))
    if "MXNET_C_API" in expected:
        counters = {e["name"] for e in events if e["ph"] == "C"}
        assert {"MXNet C API Calls", "MXNet C API Concurrency"} <= counters
    if not expected:
        assert {(e["ph"], e["name"]) for e in events} == {("M", "process_name")}


def test_operators_of_graphs_in_mode_1(tmp_path):
    events = profiled(tmp_path, HYBRID, MXNET_PROFILER_MODE="1")
    assert kinds(events) == {"operator"}
    assert named(events, "operator").count("FullyConnected") == 2


@pytest.mark.parametrize(("bulk", "segments"), [("1", 1), ("0", 0)])
def test_operators_are_recorded_by_segment_unless_bulk_is_off(tmp_path, bulk, segments):
    variables = {f"MXNET_EXEC_BULK_EXEC_{name}": bulk for name in ("INFERENCE", "TRAIN")}
    events = profiled(tmp_path, HYBRID, MXNET_PROFILER_MODE="1", **variables)
    assert named(events, "operator").count("FullyConnected") == 2
    assert sum(e["ph"] == "B" and e["cat"] == "segment" for e in events) == segments


def test_the_mode_holds_until_set_config(tmp_path):
    run = "mx.profiler.set_state('run'); mx.nd.exp(mx.nd.ones(2)); mx.profiler.dump()"
    python(f"import mxcy as mx; {run}", cwd=tmp_path)
    assert kinds(checked(tmp_path / "profile.json")) == {"MXNET_C_API", "Device Storage"}
    python(f"import mxcy as mx; {run}", cwd=tmp_path, MXNET_PROFILER_MODE="2")
    assert kinds(checked(tmp_path / "profile.json")) == {"operator"}
    config = "mx.profiler.set_config(profile_memory=False)"
    python(f"import mxcy as mx; {config}; {run}", cwd=tmp_path, MXNET_PROFILER_MODE="0")
    assert kinds(checked(tmp_path / "profile.json")) == {"operator", "MXNET_C_API"}


@pytest.mark.parametrize("text", ["16", "-1", "some"])
def test_bad_modes(text):
    done = python("import mxcy", fails=True, MXNET_PROFILER_MODE=text)
    assert f"MXNET_PROFILER_MODE={text!r}" in done.err and "0 to 15, or one of symbolic" in done.err


def test_an_exception_does_not_lose_the_file(tmp_path):
    python(EAGER + "1 / 0\n", fails=True, cwd=tmp_path, MXNET_PROFILER_AUTOSTART="1")
    assert "dot" in named(checked(tmp_path / "profile.json"), "operator")


def started(tmp_path, code):
    """A process that runs `code`, which prints a line when it is ready."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MXNET_PROFILER_AUTOSTART": "1"}
    environment.pop("MXNET_PROFILER_MODE", None)
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    return process


WAIT = "print('ready', flush=True)\nimport time\nwhile True: time.sleep(0.01)\n"


def test_sigterm_does_not_lose_the_file(tmp_path):
    with started(tmp_path, EAGER + WAIT) as process:
        process.terminate()
        assert process.wait(timeout=30) == -signal.SIGTERM
    assert os.listdir(tmp_path) == ["profile.json"]
    assert "dot" in named(checked(tmp_path / "profile.json"), "operator")


def test_sigkill_leaves_a_valid_trace(tmp_path):
    config = "mx.profiler.set_config(dump_period=0.02); mx.profiler.set_state('run')\n"
    code = "import os, mxcy as mx\n" + config + EAGER
    code += "file = 'profile.json'\n"
    code += "while not (os.path.exists(file) and 'dot' in open(file).read()): mx.nd.ones(3)\n"
    code += WAIT
    with started(tmp_path, code) as process:
        process.kill()
    assert "dot" in named(checked(tmp_path / "profile.json"), "operator")


def test_a_program_with_a_handler_keeps_it(tmp_path):
    code = "import signal; signal.signal(signal.SIGTERM, lambda *a: exit(7))\n" + EAGER + WAIT
    with started(tmp_path, code) as process:
        process.terminate()
        assert process.wait(timeout=30) == 7
    assert "dot" in named(checked(tmp_path / "profile.json"), "operator")


def test_forked_children_leave_the_file_alone(tmp_path):
    code = (
        EAGER + "import os, sys\nchild = os.fork()\n"
        "if child == 0:\n"
        "    mx.nd.tan(mx.nd.ones(2))\n"
        "    mx.profiler.set_config(filename='child.json')\n"
        "    mx.profiler.set_state('run')\n"
        "    mx.nd.sin(mx.nd.ones(2))\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "mx.nd.cos(mx.nd.ones(2))\n"
    )
    python(code, cwd=tmp_path, MXNET_PROFILER_AUTOSTART="1")
    assert sorted(os.listdir(tmp_path)) == ["child.json", "profile.json"]
    parent = named(checked(tmp_path / "profile.json"), "operator")
    assert "dot" in parent and "cos" in parent and not {"sin", "tan"} & set(parent)
    child = named(checked(tmp_path / "child.json"), "operator")
    assert "sin" in child and not {"dot", "tan", "cos"} & set(child)


def test_workers_and_devices_have_their_rows(tmp_path):
    code = """
import mxcy as mx
for context in (mx.cpu(), mx.gpu(1)):
    a = mx.nd.ones((300, 300), ctx=context)
    mx.nd.dot(a, a)
"""  # without a wait: the file contains operations until the end
    events = profiled(tmp_path, code, MXCY_VIRTUAL_DEVICES="2", MXCY_ENGINE_WORK="0")
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"
    }
    dots = [e for e in events if e["ph"] == "B" and e["name"] == "dot"]
    places = [(processes[e["pid"]], threads[e["pid"], e["tid"]][:-1]) for e in dots]
    assert sorted(places) == [("cpu/0", "mx-cpu0-w"), ("gpu/1", "mx-gpu1-w")]
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert {"Memory: cpu/0", "Memory: gpu/1"} <= counters
