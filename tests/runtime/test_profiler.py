"""The profiler: configuration, states and statistics."""

import json
import os
import stat
import threading
import time

import pytest

import mxcy as mx
from mxcy.base import MXNetError
from tests.runtime.traces import checked, configure, intervals, named


def three_operators():
    a = mx.nd.ones((4, 4))
    b = mx.nd.dot(a, a)
    return mx.nd.relu(b).asnumpy()


def trained(net, x):
    with mx.autograd.record():
        y = net(x)
    y.backward()
    mx.nd.waitall()


def small_network():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.Dense(4))
    net.initialize()
    net.hybridize()
    return net


# --- what is recorded ---


def test_eager_operators_calls_and_waits(profiler):
    profiler.set_state("run")
    three_operators()
    profiler.set_state("stop")
    profiler.dump()
    events = checked(profiler.path)
    assert named(events, "operator") == ["_ones", "dot", "relu", "WaitForVar"]
    assert named(events, "MXNET_C_API") == ["MXImperativeInvokeEx"] * 3 + ["MXNDArraySyncCopyToCPU"]
    dot = next(e for e in events if e["name"] == "dot" and e["ph"] == "B")
    assert dot["args"]["inputs"] == ["float32(4, 4)"] * 2
    assert dot["args"]["outputs"] == ["float32(4, 4)"]
    rows = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert rows[dot["pid"]] == "cpu/0"


def test_operators_of_plans_and_their_segments(profiler):
    net, x = small_network(), mx.nd.ones((2, 3))
    net(x)
    profiler.set_state("run")
    trained(net, x)
    profiler.dump()
    events = checked(profiler.path)
    begins = [e for e in events if e["ph"] == "B"]
    dense = [e for e in begins if e["name"] == "FullyConnected"]
    assert [e["args"]["outputs"] for e in dense] == [["float32(2, 8)"], ["float32(2, 4)"]]
    assert len({e["args"]["node"] for e in dense}) == 2
    segments = [e for e in begins if e["cat"] == "segment"]
    assert segments and all(e["name"].startswith("[") for e in segments)
    assert sum(e["args"]["operators"] for e in segments) <= len(begins)
    api = named(events, "MXNET_C_API")
    assert "MXInvokeCachedOpEx" in api and "MXAutogradBackwardEx" in api


def test_executors(profiler):
    data = mx.sym.var("data")
    executor = mx.sym.exp(data * 2, name="grown").simple_bind(mx.cpu(), data=(2, 3))
    profiler.set_state("run")
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 3)))
    profiler.dump()
    api = named(checked(profiler.path), "MXNET_C_API")
    assert api[0] == "MXExecutorForward" and "MXExecutorBackwardEx" in api


def test_references_are_recorded_too(profiler):
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((4, 3))
    configure(profiler, profile_api=False)
    profiler.set_state("run")
    mx.nd.khatri_rao(a, b)
    profiler.dump()
    assert named(checked(profiler.path), "operator") == ["khatri_rao"]


@pytest.mark.parametrize(
    ("options", "operators", "calls"),
    [
        ({"profile_imperative": False}, False, True),
        ({"profile_api": False}, True, False),
        ({"profile_api": False, "profile_imperative": "0"}, False, False),
        ({"profile_api": False, "profile_imperative": False, "profile_all": True}, True, True),
    ],
)
def test_options_choose_what_is_recorded(profiler, options, operators, calls):
    configure(profiler, **options)
    profiler.set_state("run")
    three_operators()
    profiler.dump()
    events = checked(profiler.path)
    assert bool(named(events, "operator")) == operators
    assert bool(named(events, "MXNET_C_API")) == calls


def test_threads_have_rows_of_their_own(profiler):
    gate = threading.Barrier(4)

    def work():
        gate.wait()
        for _ in range(200):
            three_operators()

    profiler.set_state("run")
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    profiler.dump()
    events = checked(profiler.path)
    by_thread = {}
    for event in events:
        if event["ph"] == "B" and event["name"] == "dot":
            by_thread[event["tid"]] = by_thread.get(event["tid"], 0) + 1
    assert sum(by_thread.values()) == 800
    counts = [e["args"][e["name"]] for e in events if e["name"] == "MXNet C API Calls"]
    assert counts == list(range(1, 4 * 200 * 4 + 1))


def test_functions_on_the_engine(profiler):
    def fetch(done):
        threading.Timer(0.002, done).start()

    ready = mx.engine.Var()
    profiler.set_state("run")
    mx.engine.push(lambda: time.sleep(0.002), writes=[ready], name="load")
    mx.engine.push(fetch, writes=[ready], property="async")
    ready.wait_to_read()
    profiler.dump()
    times = dict(intervals(checked(profiler.path), "operator"))
    assert times.keys() - {"WaitForVar"} == {"load", "fetch"}
    assert times["load"] >= 2000 and times["fetch"] >= 2000


# --- states ---


def test_nothing_is_recorded_when_stopped_or_paused(profiler):
    configure(profiler, aggregate_stats=True)
    mx.nd.sin(mx.nd.ones(2))
    profiler.set_state("run")
    mx.nd.exp(mx.nd.ones(2))
    profiler.pause()
    mx.nd.cos(mx.nd.ones(2))
    profiler.resume()
    mx.nd.tan(mx.nd.ones(2))
    profiler.set_state("stop")
    mx.nd.log(mx.nd.ones(2))
    actual = json.loads(profiler.dumps(format="json"))["Time"]["operator"]
    assert actual.keys() == {"_ones", "exp", "tan"} and actual["_ones"]["Count"] == 2


def test_start_and_stop_are_states(profiler):
    profiler.start()
    mx.nd.exp(mx.nd.ones(2))
    profiler.stop()
    mx.nd.log(mx.nd.ones(2))
    profiler.dump()
    assert named(checked(profiler.path), "operator") == ["_ones", "exp"]


def test_dumps_add_up_until_the_last(profiler):
    profiler.set_state("run")
    mx.nd.exp(mx.nd.ones(2))
    profiler.dump(finished=False)
    assert named(checked(profiler.path), "operator") == ["_ones", "exp"]
    mx.nd.log(mx.nd.ones(2))
    profiler.dump(finished=True)
    mx.nd.sin(mx.nd.ones(2))  # a last dump stops the profiler
    assert named(checked(profiler.path), "operator") == ["_ones", "exp", "_ones", "log"]
    with pytest.raises(MXNetError, match="has not run since the last dump"):
        profiler.dump()
    profiler.set_state("run")
    mx.nd.cos(mx.nd.ones(2))
    profiler.dump()
    assert named(checked(profiler.path), "operator") == ["_ones", "cos"]


def test_trace_file_is_valid_json_while_the_profiler_runs(profiler):
    profiler.set_config(filename=str(profiler.path), dump_period=0.02)
    profiler.set_state("run")
    seen = set()
    end = time.monotonic() + 20
    while len(seen) < 3 and time.monotonic() < end:
        three_operators()
        time.sleep(0.005)
        if profiler.path.exists():
            seen.add(len(checked(profiler.path)))
    assert len(seen) >= 3
    profiler.dump()
    assert sorted(p.name for p in profiler.path.parent.iterdir()) == ["profile.json"]


def test_set_config_deletes_the_file_of_before(profiler):
    profiler.path.write_text("old")
    configure(profiler)
    assert not profiler.path.exists()


def test_waiting_events_are_bounded(profiler):
    configure(profiler, max_events=10_000, profile_api=False, profile_memory=False)
    a = mx.nd.ones((2, 2))
    assert dropped(profiler, lambda: None) == 0
    with pytest.warns(UserWarning, match="dropped .* max_events=10000"):
        # Each thread that has recorded something keeps a part of the memory.
        assert 18_000 < dropped(profiler, lambda: [a + a for _ in range(30_000)]) < 30_000
    assert dropped(profiler, lambda: a + a) == 0


def dropped(profiler, work):
    """The number in the file after some work."""
    profiler.set_state("run")
    work()
    profiler.dump()
    checked(profiler.path)
    return json.loads(profiler.path.read_text())["otherData"]["dropped events"]


def test_unwritable_file_is_named(profiler, tmp_path):
    profiler.set_config(filename=str(tmp_path / "missing" / "x.json"), continuous_dump=False)
    profiler.set_state("run")
    with pytest.raises(MXNetError, match=r"missing/x\.json.*No such file"):
        profiler.dump()


# --- statistics ---


def test_statistics_equal_the_trace(profiler):
    configure(profiler, aggregate_stats=True, profile_all=True)
    net, x = small_network(), mx.nd.ones((2, 3))
    profiler.set_state("run")
    for _ in range(5):
        trained(net, x)
        three_operators()
    profiler.set_state("stop")
    actual = json.loads(profiler.dumps(format="json"))
    profiler.dump()
    events = checked(profiler.path)
    assert actual["Unit"] == {"Time": "ms", "Memory": "kB"}
    for category in ("operator", "MXNET_C_API"):
        sums = {}
        for name, microseconds in intervals(events, category):
            sums.setdefault(name, []).append(microseconds / 1000)
        rows = actual["Time"][category]
        assert rows.keys() == sums.keys()
        for name, times in sums.items():
            row = rows[name]
            assert row["Count"] == len(times)
            assert row["Total"] == pytest.approx(sum(times), abs=1e-5)
            assert row["Min"] == pytest.approx(min(times), abs=1e-5)
            assert row["Max"] == pytest.approx(max(times), abs=1e-5)
            assert row["Avg"] == pytest.approx(row["Total"] / row["Count"])


def test_the_table_has_the_columns_of_mxnet(profiler):
    configure(profiler, aggregate_stats=True)
    profiler.set_state("run")
    three_operators()
    profiler.set_state("stop")
    lines = profiler.dumps().splitlines()
    assert lines[:3] == [
        "",
        "Profile Statistics:",
        "\tNote the difference in units for different entries.",
    ]
    start = lines.index("operator")
    assert lines[start + 1 : start + 4] == [
        "=================",
        "Name                          Total Count        Time (ms)    Min Time (ms)    "
        "Max Time (ms)    Avg Time (ms)",
        "----                          -----------        ---------    -------------    "
        "-------------    -------------",
    ]
    assert lines[start + 4].split()[1:2] == ["1"] and len(lines[start + 4]) == 25 + 16 + 4 * 17


@pytest.mark.parametrize("key", ["total", "avg", "min", "max", "count"])
def test_rows_are_sorted(profiler, key):
    configure(profiler, aggregate_stats=True)
    profiler.set_state("run")
    for n in (1, 2, 3, 4):
        for _ in range(n):
            three_operators()
        mx.nd.exp(mx.nd.ones(n))
    profiler.set_state("stop")
    column = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}[key]
    for ascending in (True, False):
        text = profiler.dumps(format="json", sort_by=key, ascending=ascending)
        values = [row[column] for row in json.loads(text)["Time"]["operator"].values()]
        assert values == sorted(values, reverse=not ascending) and len(values) > 3


def test_statistics_are_kept_only_when_asked_for_and_can_start_afresh(profiler):
    configure(profiler)
    profiler.set_state("run")
    three_operators()
    assert profiler.dumps() == ""
    configure(profiler, aggregate_stats=True)
    mx.nd.exp(mx.nd.ones(2))
    assert "dot" not in profiler.dumps() and "exp" in profiler.dumps(reset=True)
    assert "exp" not in profiler.dumps()
    mx.nd.log(mx.nd.ones(2))
    assert "log" in profiler.dumps()


# --- old names, bad input ---


def test_the_old_names(profiler):
    with pytest.warns(UserWarning, match=r"profiler_set_config\(\) is deprecated"):
        profiler.profiler_set_config(mode="imperative", filename=str(profiler.path))
    with pytest.warns(UserWarning, match=r"profiler_set_state\(\) is deprecated"):
        profiler.profiler_set_state("run")
    three_operators()
    with pytest.warns(UserWarning, match=r"profiler_set_state\(\) is deprecated"):
        profiler.profiler_set_state("stop")
    with pytest.warns(UserWarning, match=r"dump_profile\(\) is deprecated"):
        profiler.dump_profile()
    events = checked(profiler.path)
    assert "dot" in named(events, "operator") and not named(events, "MXNET_C_API")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.set_config(foo=1), "unknown option 'foo'.*profile_all"),
        (lambda p: p.set_config(profile_all="maybe"), "profile_all: expected boolean, got 'maybe'"),
        (lambda p: p.set_config(dump_period="x"), "dump_period: expected float, got 'x'"),
        (lambda p: p.set_state("foo"), "state must be one of 'run', 'stop', got 'foo'"),
        (lambda p: p.set_state("run", "other"), "profile_process must be one of"),
        (lambda p: p.set_state("run", "server"), "needs a key-value store with servers"),
        (lambda p: p.pause("server"), "needs a key-value store with servers"),
        (lambda p: p.set_config(profile_process="server"), "needs a key-value store with servers"),
        (lambda p: p.dumps(format="x"), "format must be one of 'table', 'json', got 'x'"),
        (lambda p: p.dumps(sort_by="y"), "sort_by must be one of 'total'.* got 'y'"),
        (lambda p: p.dumps(reset="z"), "reset must be one of False, True, got 'z'"),
        (lambda p: p.dumps(ascending="z"), "ascending must be one of False, True, got 'z'"),
        (lambda p: p.Domain("d").new_marker("m").mark("foo"), "scope must be one of process"),
    ],
)
def test_invalid_input_raises(profiler, call, message):
    with pytest.raises(MXNetError, match=message):
        call(profiler)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda p: p.set_state("foo"), KeyError),
        (lambda p: p.dump(profile_process="other"), KeyError),
        (lambda p: p.dumps(format="x"), AssertionError),
    ],
)
def test_unknown_choices_raise_what_mxnet_raises(profiler, call, error):
    with pytest.raises(error, match=r"^profiler: \w+ must be one of"):
        call(profiler)


@pytest.mark.filterwarnings("ignore:profiler.profiler_set_config")
def test_invalid_deprecated_mode_raises(profiler):
    with pytest.raises(MXNetError, match="mode must be one of 'symbolic'"):
        profiler.profiler_set_config("foo")


def test_a_device_is_written_to_and_stays_one(tmp_path):
    trace = tmp_path / "trace.json"
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(trace)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link, os.devnull):
        mx.profiler.set_config(profile_all=True, filename=str(path))
        mx.profiler.set_state("run")
        mx.nd.ones((2,)).wait_to_read()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        if path == pipe:
            events = os.read(reader, 1 << 16)
    os.close(reader)
    assert b"traceEvents" in events and stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert b"traceEvents" in trace.read_bytes() and link.is_symlink()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
