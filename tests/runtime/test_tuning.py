"""Operator tuning: decisions for given timings, and results independent of them."""

import atexit
import json
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import env
from mxcy._base import cpus
from mxcy._machine.tuning import ALL, Library, Tuner
from mxcy._machine.tuning.table import Table, counts
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import Call
from mxcy.ops.core.record import find

FLOAT, HALF = 0, 2


class Machine:
    """A machine on which a region costs 1000 ns and a step as given."""

    def __init__(self, alone=0.2, team=0.1, threads=2):
        self.alone, self.team, self.threads = alone, team, threads
        self.races, self.regions, self.fails = [], [], False

    def library(self):
        return Library(lambda: self.threads, self._region, self._race, lambda: 1 << 20)

    def _region(self, threads, budget):
        self.regions.append(threads)
        return 500.0 * threads

    def _race(self, name, dtype, params, ins, outs, workspace, team, budget):
        if self.fails:
            raise MXNetError("not on zeros")
        work = max(np.prod(spec.shape) for spec in (*ins, *outs))
        self.races.append((name, int(work)))
        return self.alone * work, 500.0 * team + self.team * work


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    """Settings for a test, with undisturbed measurements."""
    given = {"MXNET_HOME": str(tmp_path)}
    monkeypatch.setattr(cpus, "waited", lambda: 0)
    monkeypatch.setattr(atexit, "register", lambda *given: None)
    monkeypatch.setattr(env, "get", lambda name: env.Environment(given).get(name))
    monkeypatch.setattr(env, "is_set", lambda name: env.Environment(given).is_set(name))
    return given


def tuner(machine):
    tuning = Tuner()
    tuning.plug(machine.library())
    return tuning


def threads(tuner, n, name="exp", dtype=FLOAT, values=None, shape=None, work=None):
    """What a tuner decides for an operator on an array of n elements."""
    op = find(name)
    attrs = op.schema.intern(name, {})
    ins = [Spec(shape or (n,), dtype) for _ in op.inputs]
    call = Call(op, attrs, ins, op.infer(attrs, ins))
    kernel = op.kernels[0]
    call.kernel = kernel.name
    call.work = call.work if work is None else work
    return tuner.threads_for(call, kernel, values or {})


def test_the_threshold_follows_from_the_times():
    tuning = tuner(Machine())
    # 1000 + 0.1 n < 0.8 * 0.2 n from 16667 on
    assert [threads(tuning, n) for n in (100, 5000, 16600, 16700, 100000)] == [1, 1, 1, ALL, ALL]


def test_a_kernel_is_measured_once_per_type_and_place():
    machine = Machine()
    tuning = tuner(machine)
    for n in (5000, 6000, 100000):
        threads(tuning, n)
    assert machine.races == [("exp", (1 << 19) // 8)] and machine.regions == [2]
    threads(tuning, 500000)  # its data do not fit the cache
    threads(tuning, 5000, dtype=HALF)
    assert machine.races[1:] == [("exp", (2 << 20) // 8), ("exp", (1 << 19) // 4)]
    rows = {row["dtype"]: row for row in tuning.rows()}
    assert rows["float32"]["out_of_cache"]["alone"] == pytest.approx(0.2)
    assert rows["float32"]["in_cache"]["parallel_from"] == pytest.approx(1000 / 0.06)
    assert rows["float16"]["out_of_cache"] is None


def test_sizes_beyond_doubt_are_not_measured():
    machine = Machine()
    tuning = tuner(machine)
    assert threads(tuning, 2047) == 1 and threads(tuning, (1 << 22) + 1) == ALL
    assert machine.races == machine.regions == [] and tuning.rows() == []


def test_kernels_whose_shape_counts_are_measured_as_they_come():
    machine = Machine()
    tuning = tuner(machine)
    for shape in ((80, 100), (90, 100), (100, 80), (100, 400)):
        threads(tuning, 0, "sum", values={"ndim": 1, "shape": list(shape)}, shape=shape)
    assert list(dict.fromkeys(machine.races)) == [("sum", 8000), ("sum", 9000), ("sum", 40000)]


def test_a_team_that_is_slower_is_never_used():
    tuning = tuner(Machine(alone=0.1, team=0.15))
    assert threads(tuning, 1 << 22) == 1
    assert tuning.rows()[0]["out_of_cache"]["parallel_from"] == float("inf")


def test_single_thread_decides_by_size():
    machine = Machine(threads=1)
    tuning = tuner(machine)
    assert [threads(tuning, n) for n in (50000, 200000)] == [1, ALL] and machine.races == []
    machine.threads = 2  # set_num_threads
    assert threads(tuning, 50000) == ALL


def test_team_sizes_are_measured_separately():
    machine = Machine()
    tuning = tuner(machine)
    threads(tuning, 5000)
    machine.threads = 4
    assert tuning.rows() == []
    threads(tuning, 5000)
    assert machine.regions == [2, 4] and len(machine.races) == 2


def test_random_and_onednn_kernels_decide_by_size():
    machine = Machine()
    tuning = tuner(machine)
    op = find("_random_uniform")
    attrs = op.schema.intern(op.name, {"shape": (50000,)})
    call = Call(op, attrs, [], op.infer(attrs, []))
    assert tuning.threads_for(call, op.kernels[0], {}) == (ALL if call.work >= 200000 else 1)
    assert machine.races == []


def test_refusing_kernel_is_measured_once():
    machine = Machine()
    machine.fails = True
    tuning = tuner(machine)
    assert [threads(tuning, n) for n in (5000, 100000, 300000)] == [1, 1, ALL]
    machine.fails = False
    assert threads(tuning, 50000) == 1 and machine.races == []


def test_disturbed_measurements_are_not_used(monkeypatch, tmp_path):
    waited = iter(range(0, 10**15, 10**10))
    monkeypatch.setattr(cpus, "waited", lambda: next(waited))
    machine = Machine()
    tuning = tuner(machine)
    assert [threads(tuning, n) for n in (50000, 60000)] == [1, 1]
    (row,) = tuning.rows()
    assert row["in_cache"]["doubtful"]
    tuning._finish(-1)
    assert len(machine.races) == 4  # twice each time
    monkeypatch.setattr(cpus, "waited", lambda: 0)
    assert threads(tuning, 50000) == ALL and not tuning.rows()[0]["in_cache"]["doubtful"]


def test_concurrent_threads_measure_once():
    machine = Machine()
    made, start = tuner(machine), threading.Barrier(8)
    collected = []

    def ask():
        start.wait()
        collected.append(threads(made, 50000))

    asking = [threading.Thread(target=ask) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert collected == [ALL] * 8 and len(machine.races) == 1


def test_figures_are_remembered(settings):
    tuning = tuner(Machine())
    threads(tuning, 5000)
    table = tuning._tables[2]
    table.save()
    again = Machine(alone=7)
    assert threads(tuner(again), 50000) == ALL and again.races == again.regions == []
    with open(table.path) as file:
        assert json.load(file) == table.contents()
    settings["MXCY_ISA"] = "v2"  # other kernels
    threads(tuner(again), 50000)
    assert again.races


def test_little_gain_is_measured_again_by_later_processes():
    for alone, team, decision in ((0.2, 0.19, 1), (0.22, 0.18, 1), (0.21, 0.1, ALL), (9, 9, ALL)):
        machine = Machine(alone, team)
        tuning = tuner(machine)
        assert [threads(tuning, n) for n in (50000, 60000)] == [decision] * 2
        looks = 0 if alone > 1 else 1 if decision == ALL else 2  # the gain is known to the last one
        assert len(machine.races) == looks
        tuning._tables[2].save()
    assert tuning._tables[2].rates["exp float32"]["in"][2] == 3


def test_processes_add_to_one_file():
    first, second = Table(2, True), Table(2, True)
    first.rates["exp float32"] = {"in": [2.0, 1.0, 1]}
    second.rates["exp float32"] = {"out": [4.0, 3.0, 1]}
    second.regions[2] = 5.0
    first.changed = second.changed = True
    first.save()
    second.save()
    third = Table(2, True)
    assert third.rates == {"exp float32": {"in": [2.0, 1.0, 1], "out": [4.0, 3.0, 1]}}
    assert third.regions == {2: 5.0}


def test_unwritable_home_is_no_error(settings, tmp_path):
    (tmp_path / "file").write_text("")
    settings["MXNET_HOME"] = str(tmp_path / "file")
    tuning = tuner(Machine())
    assert threads(tuning, 50000) == ALL
    tuning._tables[2].save()


def test_thread_counts_of_regions():
    assert counts(1) == [] and counts(2) == [2] and counts(4) == [2, 3, 4]
    assert counts(24) == [2, 3, 4, 5, 6, 7, 8, 16, 24]


# --- the numbers ---------------------------------------------------------------------------------

NUMBERS = {
    "exp": lambda x: mx.nd.exp(x),
    "cast": lambda x: x.astype("float16"),
    "sum": lambda x: mx.nd.sum(x),
    "sum of rows": lambda x: mx.nd.sum(x, axis=1),
    "sum of columns": lambda x: mx.nd.sum(x, axis=0),
    "mean of few columns": lambda x: mx.nd.mean(x.reshape((-1, 3)), axis=0),
    "norm": lambda x: mx.nd.norm(x),
    "prod": lambda x: mx.nd.prod(x + 1),
    "argmax": lambda x: mx.nd.argmax(x, axis=0),
    "softmax": lambda x: mx.nd.softmax(x),
    "log_softmax of columns": lambda x: mx.nd.log_softmax(x, axis=0),
    "layer norm": lambda x: mx.nd.LayerNorm(x, mx.nd.ones(x.shape[1]), mx.nd.zeros(x.shape[1])),
    "L2": lambda x: mx.nd.L2Normalization(x),
    "broadcast": lambda x: x + mx.nd.sum(x, axis=0, keepdims=True),
    "add_n": lambda x: mx.nd.add_n(x, x * 2, x * 3),
    "transpose": lambda x: x.T,
    "dot": lambda x: mx.nd.dot(x, x.T),
    "pooling": lambda x: mx.nd.Pooling(x.reshape((1, 3, 100, -1)), kernel=(3, 3), pool_type="avg"),
    "dropout": lambda x: mx.nd.random.uniform(shape=(500, 100)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_results_do_not_depend_on_threads(name):
    """Results are bit-identical, whatever operator tuning decides."""
    x = mx.nd.array(np.random.default_rng(3).standard_normal((900, 307)).astype(np.float32))
    x = x if name != "pooling" else x[:900, :300].copy()
    results = []
    before = mx.util.set_num_threads(1)
    try:
        for team in (1, 2, 3):
            mx.util.set_num_threads(team)
            mx.random.seed(5)
            results.append(NUMBERS[name](x).asnumpy().tobytes())
    finally:
        mx.util.set_num_threads(before)
    assert results[0] == results[1] == results[2]
