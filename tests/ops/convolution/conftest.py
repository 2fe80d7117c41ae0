"""Fixtures of the tests of convolutions."""

import pytest

_IMPORT = """
import sys
try:
    import mxcy
except Exception as error:  # MXNetError: no such kernels in the library, or no such CPU
    print("cannot:", error)
    sys.exit()
"""


@pytest.fixture(params=["v2", "v3", "v4"])
def numbers_at_level(request, run_python):
    """A function that runs a program with the kernels of each instruction set in turn.

    ``numbers_at_level(code)`` returns the numbers that the program prints.
    """

    def run(code):
        told = run_python(_IMPORT + code, MXCY_ISA=request.param)
        if told.startswith("cannot:"):
            pytest.skip(told.strip())
        return [float(line) for line in told.split()]

    return run
