"""Lanes of the trace: device activity timed by its events."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_graphs import dense, given
from tests.runtime.conftest import profiler
from tests.runtime.traces import checked, configure

__all__ = ["profiler"]

GPU = mx.gpu(0)


def lanes(path):
    """Return {row of gpu(0): its events (name, begin, end, arguments)}."""
    events = checked(path)
    pid = next(e["pid"] for e in events if e["ph"] == "M" and e["args"]["name"] == "gpu/0")
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found, last = {}, {}
    for event in events:
        if event.get("pid") != pid or event["ph"] not in "BE":
            continue
        row = rows[event["tid"]]
        if event["ph"] == "B":
            last[row] = event
        else:
            begin = last[row]
            told = begin["name"], begin["ts"], event["ts"], begin.get("args", {})
            found.setdefault(row, []).append(told)
    return {row: told for row, told in found.items() if row.startswith(("stream ", "copies "))}


def profiled(profiler, work):
    """Return the lanes of `work`."""
    mx.nd.waitall()
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.dump()
    return lanes(profiler.path)


def of_kind(found, kind):
    return [told for row, events in found.items() if row.startswith(kind) for told in events]


def test_kernels_and_copies(profiler):
    x = mx.nd.ones((4, 5), ctx=GPU)

    def work():
        y = mx.nd.exp(x)
        z = mx.nd.softmax(y)
        x[:] = np.zeros((4, 5), "float32")
        z.asnumpy()

    found = profiled(profiler, work)
    kernels, copies = of_kind(found, "stream "), of_kind(found, "copies ")
    assert [name for name, *_ in kernels] == ["exp", "softmax"]
    assert kernels[0][3]["inputs"] == ["float32(4, 5)"]
    assert sorted(name for name, *_ in copies) == ["copy to the device", "copy to the host"]
    assert [args for *_, args in copies] == [{"bytes": 80}] * 2
    for events in found.values():
        times = [time for _, begin, end, _ in events for time in (begin, end)]
        assert times == sorted(times)
    assert kernels[-1][2] <= next(begin for name, begin, *_ in copies if name.endswith("host"))


def test_each_stream_has_a_lane(profiler):
    x = mx.nd.ones((4,), ctx=GPU)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: (x + 0).wait_to_read()).result()

        def work():
            mx.nd.exp(x)
            pool.submit(mx.nd.tanh, x).result()

        found = profiled(profiler, work)
    names = [[name for name, *_ in events] for events in found.values()]
    assert sorted(names) == [["exp"], ["tanh"]]


def test_statistics_have_a_table_of_kernels(profiler):
    configure(profiler, aggregate_stats=True)
    x = mx.nd.ones((4,), ctx=GPU)
    mx.nd.waitall()
    profiler.set_state("run")
    for _ in range(3):
        mx.nd.exp(x)
    profiler.set_state("stop")
    text = profiler.dumps(reset=True)
    table = text[text.index("gpu kernel") :]
    row = next(line for line in table.splitlines() if line.startswith("exp"))
    assert row.split()[1] == "3"


@pytest.mark.parametrize("enabled", ["0", "1"])
def test_graphs(profiler, monkeypatch, enabled):
    """A graph is one event; without graphs each step is one."""
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", enabled)
    net, x = dense(), mx.nd.array(given(2), ctx=GPU)
    for _ in range(3):
        net(x).wait_to_read()
    found = of_kind(profiled(profiler, lambda: net(x).wait_to_read()), "stream ")
    if enabled == "1":
        ((name, *_),) = found
        assert name.startswith("CUDA graph [FullyConnected")
    else:
        assert len(found) >= 3


@pytest.mark.timeout(600)  # perhaps on a busy machine
def test_more_events_than_wait_at_a_time(profiler):
    x = mx.nd.ones((2,), ctx=GPU)

    def work():
        for _ in range(2100):
            mx.nd.exp(x, out=x)
            mx.nd.log(x, out=x)

    found = of_kind(profiled(profiler, work), "stream ")
    assert [name for name, *_ in found] == ["exp", "log"] * 2100


def test_without_the_profiler_there_are_no_events():
    from tests.gpu.device.test_launches import counts

    x = mx.nd.ones((4,), ctx=GPU)
    before = counts().records
    mx.nd.exp(x)
    assert counts().records == before
