"""A store's reports on its sums: statistics, lanes in traces, lines in the log."""

import json
import logging
import threading
from types import SimpleNamespace

import mxcy as mx
from mxcy.dist.keys import timing
from mxcy.dist.keys.timing import Pace, Timing
from tests.env.run import python


def _used_store():
    store = mx.kv.create("dist_sync")
    store.init(["a", "b"], [mx.nd.zeros(10), mx.nd.zeros((2, 3))])
    for _ in range(3):
        store.pushpull(["a", "b"], [mx.nd.ones(10), mx.nd.ones((2, 3))])
    store._settle()
    return store


def test_figures():
    stats = _used_store().stats()
    (bucket,) = stats["buckets"]
    assert bucket["keys"] == ["b", "a"] and bucket["sessions"] == 3
    assert bucket["length"] == 64 and bucket["bytes"] >= 3 * 64
    assert bucket["seconds"] > 0 and bucket["held"] >= 0 and 0 <= bucket["hidden"] <= 1
    assert set(stats["keys"]) == {"a", "b"}
    assert stats["keys"]["a"]["sums"] == 3 and stats["keys"]["a"]["bytes"] == 120
    assert stats["keys"]["b"]["seconds"] == bucket["seconds"]


def test_hidden_communication(monkeypatch):
    """The process computed during 3 of the 4 seconds."""
    clock = SimpleNamespace(wall=10.0, process=5.0, thread=1.0)
    monkeypatch.setattr(
        timing,
        "time",
        SimpleNamespace(
            monotonic=lambda: clock.wall,
            process_time=lambda: clock.process,
            thread_time=lambda: clock.thread,
        ),
    )
    one = Timing()
    one.begin(9.5)
    clock.wall, clock.process, clock.thread = 14.0, 9.0, 2.0
    one.end()
    assert (one.seconds, one.hidden, one.held) == (4.0, 3.0, 0.5)
    one.begin(14.0)
    clock.wall, clock.process = 15.0, 19.0  # on several threads
    one.end()
    assert (one.seconds, one.hidden) == (5.0, 4.0)
    begun = threading.Thread(target=one.begin, args=[15.0])  # CPU time is another thread's
    begun.start()
    begun.join()
    clock.wall, clock.process = 16.0, 29.0
    one.end()
    assert (one.seconds, one.hidden) == (6.0, 4.0)


def test_the_line_of_several_ranks(monkeypatch, caplog):
    clock = SimpleNamespace(wall=100.0)
    monkeypatch.setattr(timing, "time", SimpleNamespace(monotonic=lambda: clock.wall))
    bucket = SimpleNamespace(seconds=1.0, hidden=1.0)
    exchange = SimpleNamespace(timings=lambda: [bucket])
    sent = []
    first, second = (
        SimpleNamespace(
            exchanges=[exchange],
            comm_seconds=0.0,
            world=SimpleNamespace(rank=rank),
            control=SimpleNamespace(to_one=lambda rank, kind, **content: sent.append(content)),
        )
        for rank in (0, 1)
    )
    paces = [Pace(first, 10), Pace(second, 10)]
    bucket.seconds, bucket.hidden = 3.0, 2.0
    first.comm_seconds = second.comm_seconds = 2.0
    with caplog.at_level(logging.INFO):
        for pace in paces[::-1]:
            pace.note(32)
            pace.note(8)
            pace.step(105)
            assert not caplog.records
            pace.step(110)
            if sent:
                paces[0].add_report(1, json.loads(json.dumps(sent))[0]["figures"])
    assert [record.getMessage() for record in caplog.records] == [
        "8.0 samples/s of 2 ranks, 20.0 % of the time in communication, 50.0 % of it hidden"
    ]


def test_lines_of_the_log():
    code = """
import logging, time
import mxcy as mx
lines = []
class Kept(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage())
logging.getLogger().addHandler(Kept())
logging.getLogger().setLevel(logging.INFO)
net = mx.gluon.nn.Dense(1, in_units=1)
net.initialize()
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore="dist_sync")
end = time.monotonic() + 60
while not lines and time.monotonic() < end:
    with mx.autograd.record():
        error = net(mx.nd.ones((2, 1)))
    error.backward()
    trainer.step(2)
print("samples/s of 1 ranks" in lines[0], "in communication" in lines[0])
"""
    assert python(code, MXCY_DIST_LOG_SECONDS="0.02").out == "True True\n"


def test_lanes_of_a_trace(tmp_path):
    name = tmp_path / "trace.json"
    mx.profiler.set_config(profile_all=True, filename=str(name))
    mx.profiler.set_state("run")
    try:
        _used_store()
    finally:
        mx.profiler.set_state("stop")
        mx.profiler.dump()
    events = json.loads(name.read_text())["traceEvents"]
    lanes = {e["name"]: e for e in events if e.get("cat") == "kvstore" and e["ph"] == "b"}
    assert "bucket of 'b' and 1 others: travels" in lanes
    assert "bucket of 'b' and 1 others: waits for keys" in lanes


def test_module_counts_its_samples(monkeypatch):
    counted = []
    monkeypatch.setattr(Pace, "note", lambda self, samples: counted.append(samples))
    mod = mx.mod.Module(
        mx.sym.SoftmaxOutput(
            mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax"
        )
    )
    data = mx.io.NDArrayIter(mx.nd.ones((8, 3)), mx.nd.zeros(8), batch_size=4)
    mod.fit(data, num_epoch=1, kvstore="dist_sync")
    assert counted == [4, 4]
