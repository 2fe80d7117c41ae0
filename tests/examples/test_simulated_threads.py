"""Simulated teams: how their times are combined, and that they compute the same results."""

import shutil

import numpy as np
import pytest

from benchmarks.simulate.machine import Machine, compiled
from benchmarks.simulate.prediction import bytes_of, predict
from benchmarks.simulate_threads import limits, main, run

MACHINE = Machine(4, 100.0, 25.0, 10.0, second_cache=50, last_cache=200, bandwidth=2)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """``team.c``, compiled."""
    if shutil.which("gcc") is None:
        pytest.skip("needs a C compiler")
    return compiled(tmp_path_factory.mktemp("team"))


def test_bytes_of_arrays():
    assert bytes_of(["float32(2, 3)", "uint8(5,)", "float64()", "bool(7,)"]) == 24 + 5 + 8 + 7
    assert bytes_of(["bfloat16(4,)", "int8(0, 3)"]) == 8


def simulated_run(at, relu, first, second, apart=-1):
    """A run of two operators; the first has a region with a barrier and `relu` serial time."""
    operators = [
        (at + 10, at + 70 + relu, "conv", "a", ["float32(100,)"]),
        (at + 80 + relu, at + 90 + relu, "copy", "b", []),
    ]
    regions = [(at + 12, 40, first, 0), (at + 60, 20, second, 1)]
    log = {"began": at, "ended": at + 100 + relu, "regions": regions, "apart": apart}
    return log, operators


def recorded(*runs):
    pairs = [simulated_run(1000 * n, *about) for n, about in enumerate(runs)]
    logs, operators = zip(*pairs, strict=True)
    return {
        "runs": logs,
        "operators": [op for listed in operators for op in listed],
        "outside": [log["ended"] - log["began"] - 40 - 20 for log in logs],
    }


def test_minimum_times_of_all_runs_are_combined():
    found = predict(recorded((5, [9, 4, 0], [3, 3, 3]), (7, [6, 8, 0], [3, 5, 2])), MACHINE)
    conv, copy = found.operators
    assert (conv.name, conv.node, copy.name) == ("conv", "a", "copy")
    assert conv.regions == [[6, 4, 0], [3, 3, 2]] and copy.regions == []
    assert conv.serial == 5 and copy.serial == 10 and found.between == 30
    assert conv.busy == 2 and conv.work == 5 + 10 + 8
    assert conv.barriers == 110 + 200 and conv.least == 0  # 400 bytes fit into 4 * 50 + 200
    assert conv.time == 5 + 6 + 3 + 310 and found.time == conv.time + 10 + 30


def test_times_on_a_core_of_its_own_count():
    runs = (9, [8, 6, 4], [2, 2, 2], 0), (3, [9, 5, 4], [4, 1, 0], 1)
    conv, _ = predict(recorded(*runs), MACHINE).operators
    assert conv.serial == 9  # on the core that runs no other rank
    # Both took 8 + 5 on their own cores and 9 + 6 on a shared one; the last rank never had its own.
    assert conv.regions == [[8, 5, pytest.approx(4 * 13 / 15)], [2, 1, 0]]


def test_both_of_two_ranks_have_their_own_cores():
    runs = (5, [9, 4], [3, 3], 0), (5, [6, 8], [3, 5], 1)
    conv, _ = predict(recorded(*runs), MACHINE).operators
    assert conv.regions == [[6, 4], [3, 3]] and conv.serial == 5


def test_memory_delivers_what_exceeds_the_caches():
    one = Machine(1, 0, 0, 0, second_cache=50, last_cache=50, bandwidth=2)
    assert one.barrier() == 0 and one.from_memory(400) == 0.75 and one.from_memory(0) == 0
    conv, _ = predict(recorded((5, [6, 4, 0], [3, 3, 2])), one).operators
    assert conv.least == 400 * 0.75 / 2 == conv.time


def test_runs_have_the_same_regions():
    with pytest.raises(ValueError, match="differ"):
        predict(recorded((5, [6, 4], [3, 3]), (5, [6, 4, 1], [3, 3])), MACHINE)


def test_losses_are_relative_to_perfect_scaling():
    alone = predict(recorded((5, [100], [20])), Machine(1, 0, 0))
    team = predict(recorded((5, [25, 25, 25, 25], [20, 0, 0, 0])), Machine(4, 0, 0))
    header, first, second, kinds = limits(alone, team, 4, 5)
    assert header.split()[-1] == "operator"
    # 5 + 25 + 20 instead of 125 / 4; the other is as long as before
    assert first.split() == ["0.0", "0.1", "0.1", "0.0", "1", "2", "conv", "a"]
    assert second.split()[-2:] == ["copy", "b"] and "conv 0" in kinds


def test_a_simulated_team_computes_the_same(library):
    teams = {n: run("small:2", n, 2, library, Machine(n, 500, 100)) for n in (1, 3, 32)}
    for team, result in teams.items():
        found = predict(result, Machine(team, 500, 100))
        regions = [region for operator in found.operators for region in operator.regions]
        assert all(len(region) == team for region in regions)
        assert bool(regions) == (team > 1)
        assert found.time > 0 and found.between >= 0
        # Convolutions choose their algorithm by timing.
        np.testing.assert_allclose(result["outputs"], teams[1]["outputs"], rtol=1e-4, atol=1e-5)
    nodes = {tuple(op[3] for op in result["operators"]) for result in teams.values()}
    assert len(nodes) == 1


def test_ranks_that_wait_for_each_other_are_recorded(library):
    losses = [
        run("small_training:16", n, 1, library, Machine(n, 500, 100), apart=3)["outputs"]
        for n in (1, 8)
    ]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4, atol=1e-5)


def test_programs_run_on_real_threads_without_the_library():
    result = run("small:2", 1, 2)
    assert len(result["times"]) == 2 and min(result["times"]) > 0


@pytest.mark.parametrize("program", ["resnet51:1", "resnet50", "resnet50:none", "resnet50:0"])
def test_programs_that_do_not_exist_are_errors_of_arguments(program, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--program", program])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert program in told and "resnet50_training" in told and "bert_base" in told
