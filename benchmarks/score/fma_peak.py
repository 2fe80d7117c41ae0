"""Measure the machine's peak arithmetic."""

import subprocess
import tempfile
from pathlib import Path

__all__ = ["fma_peak"]


def fma_peak(threads):
    """Compile and run ``fma_peak.c``.

    Parameters
    ----------
    threads : int
        Cores to use.

    Returns
    -------
    float
        GFLOP/s of float32 multiply-adds.
    """
    source = Path(__file__).with_suffix(".c")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "fma_peak"))
        options = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast"]
        command = ["gcc", *options, "-fopenmp", str(source), "-o", program]
        subprocess.run(command, check=True)
        done = subprocess.run([program, str(threads)], check=True, capture_output=True, text=True)
    return float(done.stdout)
