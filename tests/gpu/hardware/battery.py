"""Every record with a device kernel, against the CPU."""

from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.suites import run_tests

if __name__ == "__main__":
    notes = begun()
    words = ["-p", "no:xdist"] if notes.is_small else ["-n", "8"]
    run_tests(notes, *words, "tests/gpu/battery")
