"""Results do not depend on lengths relative to vectors, on any instruction set."""

import pytest

from tests.numpy import vector_lengths


@pytest.mark.parametrize("check", ["booleans", "positions"])
def test_this_instruction_set(check):
    getattr(vector_lengths, check)()


@pytest.mark.parametrize("level", ["v2", "v3"])
def test_other_instruction_sets(run_python, level):
    told = run_python(
        """
try:
    import mxcy
except Exception as error:
    print("cannot:", error)
else:
    from tests.numpy import vector_lengths
    vector_lengths.booleans()
    vector_lengths.positions()
    print("same")
""",
        MXCY_ISA=level,
    )
    if told.startswith("cannot:"):
        pytest.skip(told.strip())
    assert told.split() == ["same"]
