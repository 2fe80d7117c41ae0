"""The queue protocol, tested in every order of events; see explore_dependency.cc."""

import pytest


@pytest.mark.parametrize(("operations", "variables"), [(3, 3), (4, 2), (4, 1)])
def test_all_interleavings(run_native, operations, variables):
    status, output = run_native("explore_dependency", operations, variables)
    assert status == 0, output
    assert int(output.split()[0]) > 50_000


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("overtake", "it does not wait for an earlier one"),
        ("crowd", "it does not wait for an earlier one"),
        ("forget", "it waits for nobody"),
        ("piecewise", "some never have their turn"),
    ],
)
def test_faults_are_found(run_native, fault, what):
    status, output = run_native("explore_dependency", 3, 2, fault)
    assert status == 1
    assert output.startswith(what)
