"""Programs give the same bits under each engine, and when every call goes through the engine."""

import pytest

from tests.env.run import python

ENGINES = ("ThreadedEngine", "ThreadedEnginePerDevice")


def printed(program, **variables):
    variables["MXNET_CUDNN_AUTOTUNE_DEFAULT"] = "0"  # trials may choose other kernels each time
    return python(f"from tests.engine import programs; programs.{program}", **variables).out


def test_one_team_of_threads_with_every_engine():
    expected = printed("train(); programs.networks()", MXNET_ENGINE_TYPE="NaiveEngine")
    for engine in ENGINES:
        for work in (None, "0"):
            variables = {"MXNET_ENGINE_TYPE": engine, "MXCY_ENGINE_WORK": work}
            assert printed("train(); programs.networks()", **variables) == expected


@pytest.mark.parametrize("segments", ["0", "2"])
def test_segments_of_plans(segments):
    variables = {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN": segments}
    if segments == "0":
        variables["MXNET_EXEC_BULK_EXEC_INFERENCE"] = "0"
    expected = printed("train(); programs.networks()")
    assert printed("train(); programs.networks()", MXCY_ENGINE_WORK="0", **variables) == expected


def test_many_threads_of_python():
    expected = printed("threads()", MXNET_ENGINE_TYPE="NaiveEngine")
    assert printed("threads()") == expected
    for engine in ENGINES:
        variables = {"MXNET_ENGINE_TYPE": engine, "MXCY_ENGINE_WORK": "0"}
        assert printed("threads()", MXNET_CPU_WORKER_NTHREADS="2", **variables) == expected


@pytest.mark.parametrize("work", ["0", None])
def test_all_of_a_thousand_failures_surface_and_none_twice(work):
    out = printed("failures()", MXCY_ENGINE_WORK=work)
    assert out.split() == ["1000", "1000"]
