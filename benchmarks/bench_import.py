"""Import time of mxcy beyond that of NumPy."""

import statistics
import subprocess
import sys
import time


def start(code):
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - before


def test_import(benchmark, request):
    """Interleave both imports in fresh processes."""
    plain, ours = [], []
    for _ in range(request.config.getoption("--rounds")):
        plain.append(start("import numpy"))
        ours.append(start("import numpy, mxcy"))
    extra = statistics.median(ours) - statistics.median(plain)
    benchmark.extra_info.update(
        numpy_ms=round(statistics.median(plain) * 1e3), beyond_numpy_ms=round(extra * 1e3)
    )
    print(
        f"\nimport numpy {statistics.median(plain) * 1e3:.0f} ms, mxcy beyond it "
        f"{extra * 1e3:.0f} ms"
    )
    benchmark.pedantic(start, ("import numpy, mxcy",), rounds=3)
