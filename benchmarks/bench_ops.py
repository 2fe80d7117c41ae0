"""Large elementwise, broadcast, reduce and softmax operations with one thread (float32)."""

import pytest

SETUP = {
    "mxcy": """
import numpy as np, mxcy as mx
from mxcy._library import front
nd, r = mx.nd, np.random.RandomState(0)
x = nd.array(r.rand({rows}, {columns}).astype('f'))
row, y = nd.array(r.rand(1, {columns}).astype('f')), nd.empty(({rows}, {columns}))
""",
    "numpy": """
import numpy as np
r = np.random.RandomState(0)
x = r.rand({rows}, {columns}).astype('f')
row, y = r.rand(1, {columns}).astype('f'), np.empty(({rows}, {columns}), 'f')
def sigmoid(x):
    e = np.negative(x); np.exp(e, out=e); e += 1; return np.reciprocal(e, out=e)
def softmax(x):
    e = x - x.max(1, keepdims=True); np.exp(e, out=e); e /= e.sum(1, keepdims=True); return e
""",
    "torch": """
import numpy as np, torch
torch.set_num_threads(1)
r = np.random.RandomState(0)
x = torch.from_numpy(r.rand({rows}, {columns}).astype('f'))
row = torch.from_numpy(r.rand(1, {columns}).astype('f'))
""",
}
CASES = {
    "copy": ("x.copy()", "x.copy()", "x.clone()"),
    "exp": ("nd.exp(x)", "np.exp(x)", "torch.exp(x)"),
    "tanh": ("nd.tanh(x)", "np.tanh(x)", "torch.tanh(x)"),
    "sigmoid": ("nd.sigmoid(x)", "sigmoid(x)", "torch.sigmoid(x)"),
    "broadcast add": ("nd.broadcast_add(x, row)", "x + row", "x + row"),
    "sum, axis 0": ("nd.sum(x, axis=0)", "x.sum(0)", "x.sum(0)"),
    "sum, axis 1": ("nd.sum(x, axis=1)", "x.sum(1)", "x.sum(1)"),
    "softmax": ("nd.softmax(x, axis=1)", "softmax(x)", "torch.softmax(x, 1)"),
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
def test_large(compare, case, rows, columns):
    setups = {k: v.format(rows=rows, columns=columns) for k, v in SETUP.items()}
    statements = dict(zip(("mxcy", "numpy", "torch"), CASES[case], strict=True))
    compare(f"{case}, {rows}x{columns}", setups, statements, seconds=0.01)
