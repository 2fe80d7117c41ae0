"""Bandwidth of memory-bound operators relative to a copy, with one thread (float32).

The copy is `numpy.copyto` between existing arrays: memcpy without page faults. An operator's bytes
are those it reads and writes; a fraction above 1 beats the copy.
"""

import pytest

SETUP = """
import numpy as np, mxcy as mx
nd, r = mx.nd, np.random.RandomState(0)
shape = {rows}, {columns}
x, y = (nd.array(r.rand(*shape).astype('f')) for _ in range(2))
row = nd.array(r.rand(1, {columns}).astype('f'))
out = nd.empty(shape)
"""
COPY = """
import numpy as np
source, target = np.ones(({rows}, {columns}), 'f'), np.zeros(({rows}, {columns}), 'f')
"""
#: statement, number of full-size arrays that it reads and writes
CASES = {
    "copy": ("x.copyto(out)", 2),
    "a + b": ("nd.elemwise_add(x, y, out=out)", 3),
    "a * 2": ("nd._internal._mul_scalar(x, scalar=2, out=out)", 2),
    "broadcast add": ("nd.broadcast_add(x, row, out=out)", 2),
    "relu": ("nd.relu(x, out=out)", 2),
    "exp": ("nd.exp(x, out=out)", 2),
    "tanh": ("nd.tanh(x, out=out)", 2),
    "sum, axis 0": ("nd.sum(x, axis=0)", 1),
    "sum, axis 1": ("nd.sum(x, axis=1)", 1),
    "max, axis 1": ("nd.max(x, axis=1)", 1),
}


@pytest.fixture(autouse=True)
def one_thread():
    """Run everything on one thread; restore the library's team afterwards."""
    import mxcy as mx

    before = mx.util.set_num_threads(1)
    yield
    mx.util.set_num_threads(before)


@pytest.mark.parametrize("rows, columns", [(1024, 1024), (4096, 1024), (4096, 4096)])
@pytest.mark.parametrize("case", CASES)
def test_bandwidth(compare, benchmark, case, rows, columns):
    statement, arrays = CASES[case]
    size = {"rows": rows, "columns": columns}
    setups = {"mxcy": SETUP.format(**size), "memcpy": COPY.format(**size)}
    statements = {"mxcy": statement, "memcpy": "np.copyto(target, source)"}
    label = f"{case}, {rows}x{columns}"
    times = compare(label, setups, statements, seconds=0.005)
    moved = arrays * 4 * rows * columns / times["mxcy"][0]
    fraction = moved / (2 * 4 * rows * columns / times["memcpy"][0])
    benchmark.extra_info.update(
        gigabytes_per_second=round(moved / 1e9, 1), fraction_of_memcpy=round(fraction, 2)
    )
    print(f"\n{label}: {moved / 1e9:.1f} GB/s, {fraction:.2f} of memcpy's bandwidth")
