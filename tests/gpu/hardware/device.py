"""The tests of arrays, operators, networks and streams on ``mx.gpu(0)``."""

from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.suites import run_tests

if __name__ == "__main__":
    run_tests(begun(), "-p", "no:xdist", "tests/gpu/device")
