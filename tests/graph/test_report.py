"""The reports about passes and plans."""

import numpy as np

import mxcy as mx
from mxcy._execute.planned import Planned, training_graph
from mxcy.graph.builder import Builder
from mxcy.graph.passes import cse, dce, mirror
from mxcy.graph.planning.report import change
from tests.graph.graphs import spec, target
from tests.graph.test_mirror import conv_net


def pointwise():
    b = Builder(train=True)
    F, x = b.values, b.value(b.variable("x", spec(8, 8)))
    y = F.sin(F.exp(F.dot(F.sin(x), x)))
    return b.finish([F.softmax(F.Reshape(y, shape=(4, 16))).entry])


def test_changes_of_passes():
    b = Builder()
    F, x = b.values, b.value(b.variable("x", spec(8, 8)))
    graph = b.finish([(F.exp(x) * F.exp(x)).entry])
    merged = cse.run(graph, target())
    assert change("cse", graph, merged) == "pass cse: 4 -> 3 nodes (exp 2 -> 1)"
    assert change("dce", graph, dce.run(graph)) == "pass dce: 4 nodes, nothing to do"


def test_a_described_plan():
    actual = Planned(pointwise(), mx.cpu()).describe()
    assert actual["fused"] == [["exp_0", "sin_1"]]
    assert ("reshape_0", "sin_1") in actual["inplace"]
    assert actual["bytes"] == sum(actual["buffers"]) and actual["match_range"] in (
        1,
        2,
        4,
        8,
        16,
        None,
    )
    assert actual["segments"] == {"forward": [(0, actual["steps"] - 1)], "backward": []}
    assert actual["recomputed"] == []


def test_settings_show_in_the_description(monkeypatch):
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    monkeypatch.setenv("MXNET_EXEC_ENABLE_INPLACE", "0")
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")
    actual = Planned(pointwise(), mx.cpu()).describe()
    assert actual["fused"] == [] and actual["inplace"] == []
    assert len(actual["segments"]["forward"]) == actual["steps"]


def test_training_plans_report_recomputation(monkeypatch):
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    actual = Planned(conv_net(), mx.cpu()).describe()
    assert {"relu0", "norm0"} <= {*actual["recomputed"]}
    assert actual["segments"]["backward"]
    assert mirror.MIRROR == "__mirror_of__"  # what users see in attributes


def test_verbose_passes(monkeypatch, capfd):
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    Planned(training_graph(pointwise(), ["x"]), mx.cpu())
    lines = capfd.readouterr().out.splitlines()
    assert any(line.startswith("mxcy pass fuse: ") for line in lines)
    assert lines[-1].startswith("mxcy plan: ") and "fused groups" in lines[-1]


def test_executors_show_their_plan():
    x = mx.sym.Variable("x")
    executor = mx.sym.sin(mx.sym.exp(x)).simple_bind(mx.cpu(), grad_req="null", x=(2, 3))
    assert "2 operators in 1 fused groups" in executor.debug_str()
    executor.arg_dict["x"][:] = 0
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), np.sin(1), rtol=1e-6)


def test_plans_are_listed_on_demand(monkeypatch, capfd):
    monkeypatch.setenv("MXNET_EXEC_VERBOSE_LOGGING", "1")
    monkeypatch.setenv("MXNET_MEM_PLAN_VERBOSE_LOGGING", "1")
    planned = Planned(pointwise(), mx.cpu())
    lines = capfd.readouterr().err.splitlines()
    assert any(line.startswith("1: dot dot_0 by ") and "(8, 8)" in line for line in lines)
    assert any(line.startswith("sin_1[0]: 256 bytes at ") for line in lines)
    assert any(line.startswith("reshape_0[0]: ") and line.endswith(" in place") for line in lines)
    assert lines[-1] == f"total: {planned.plan.arena} bytes"
