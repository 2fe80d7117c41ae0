"""The profiler's view of memory: counters over time, and the list of live allocations."""

import csv
import os

import mxcy as mx
from tests.runtime.traces import checked, configure

COUNTER = "Memory: cpu/0"


def values(path):
    """The values of the counter, in the order of time."""
    events = [e for e in checked(path) if e["name"] == COUNTER]
    return [e["args"][COUNTER] for e in sorted(events, key=lambda e: e["ts"])]


def test_counter_follows_requested_bytes(profiler):
    before = mx.nd.ones((100,))  # not followed: from before
    profiler.set_state("run")
    a = mx.nd.empty((4, 4))
    b = mx.nd.empty((5,))
    del before
    del a
    c = mx.nd.empty((1000,))
    del b, c
    profiler.dump()
    assert values(profiler.path) == [64, 84, 20, 4020, 4000, 0]


def test_memory_freed_during_a_pause_is_counted(profiler):
    profiler.set_state("run")
    a = mx.nd.empty((4, 4))
    profiler.pause()
    del a
    b = mx.nd.empty((8,))
    profiler.resume()
    c = mx.nd.empty((2,))
    profiler.dump()
    assert values(profiler.path) == [64, 40]
    assert b.shape == (8,) and c.shape == (2,)


def allocations(folder):
    """The rows of the list after its head."""
    (path,) = folder.glob(f"mem-pid_{os.getpid()}.csv")
    with open(path, newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["Attribute Name", "Requested Size", "Device", "Actual Size", "Reuse?"]
    return rows


def test_the_list_of_allocations(profiler, tmp_path):
    configure(profiler, gpu_memory_profile_filename_prefix=str(tmp_path / "mem"))
    profiler.set_state("run")
    with profiler.scope("outer") as name:
        assert name == "outer:"
        a = mx.nd.empty((4, 4))
        with profiler.scope("inner:") as name:
            assert name == "outer:inner:"
            b = mx.nd.exp(a)
        with profiler.scope("own", append_mode=False) as name:
            assert name == "own:"
            c = b + b
    d = mx.nd.empty((2000,))
    gone = mx.nd.empty((7,))
    del gone
    profiler.dump()
    *rows, total = allocations(tmp_path)
    assert [(row[0], int(row[1]), row[2]) for row in rows] == [
        ("outer:unknown", 64, "cpu(0)"),
        ("outer:inner:exp", 64, "cpu(0)"),
        ("own:broadcast_add", 64, "cpu(0)"),
        ("<unk>:unknown", 8000, "cpu(0)"),
    ]
    assert all(int(row[3]) >= int(row[1]) and row[4] in "01" for row in rows)
    assert total[0] == "Total on cpu(0)"
    assert int(total[1]) == 64 * 3 + 8000 == sum(int(row[1]) for row in rows)
    assert int(total[3]) == sum(int(row[3]) for row in rows)
    assert c.shape == (4, 4) and d.shape == (2000,)


def test_a_network_lists_memory_under_the_names_of_its_parts(profiler, tmp_path):
    configure(profiler, gpu_memory_profile_filename_prefix=str(tmp_path / "mem"))
    net = mx.gluon.nn.Sequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(8, in_units=3))
    profiler.set_state("run")
    net.initialize()
    y = net(mx.nd.ones((2, 3)))
    profiler.dump()
    actual = {(row[0], int(row[1])) for row in allocations(tmp_path)}
    assert y.shape == (2, 8)
    for kind in ("unknown", "_zeros"):  # the parameter itself, and its gradient
        assert {(f"net_dense0_weight:{kind}", 96), (f"net_dense0_bias:{kind}", 32)} <= actual
    assert ("net:net_dense0:FullyConnected", 64) in actual


def test_no_list_without_a_name(profiler, tmp_path):
    configure(profiler)
    profiler.set_state("run")
    mx.nd.ones(3)
    profiler.dump()
    assert [p.name for p in tmp_path.iterdir()] == ["profile.json"]
