"""Functions of `mx.np`, NumPy and PyTorch on float32 arrays of 1 to a million elements.

`x` and `y` have one axis, `m` and `k` are square matrices with the same number of elements. Where
mxcy copies and the others return a view, they make a copy too. NumPy and PyTorch use one thread,
mxcy one, and for the largest arrays also two, in a separate table. A summary at the end counts the
cells.
"""

import math

import pytest
from threadpoolctl import threadpool_limits

DATA = """
import numpy
r = numpy.random.RandomState(0)
side = {side}
x, y = ((r.rand(side * side) * 2 - 1).astype('f') for _ in range(2))
p, q = numpy.abs(x) + 0.5, numpy.abs(y) + 0.5
m, k = x.reshape(side, side), y.reshape(side, side)
mask = x > 0
idx = r.randint(0, side * side, side * side)
i, j = (r.randint(1, 100, side * side) for _ in range(2))
few = [0.5] * min(side * side, 1000)
numpy_x = x
"""
NAMES = "x, y, p, q, m, k, mask, idx, i, j"
SETUP = {
    "mxcy": DATA
    + f"""
import mxcy as mx
np = mx.np
{NAMES} = (np.array(a, dtype=a.dtype) for a in ({NAMES}))
""",
    "numpy": DATA + "np = numpy\n",
    "torch": DATA
    + f"""
import torch
torch.set_num_threads(1)
{NAMES} = (torch.from_numpy(a) for a in ({NAMES}))
""",
}
# name: statement for mxcy, for NumPy (None: the same) and for PyTorch (None: no such function)
CASES = {
    # elementwise
    "add": ("x + y", None, "x + y"),
    "add number": ("x + 2.0", None, "x + 2.0"),
    "subtract": ("np.subtract(x, y)", None, "torch.subtract(x, y)"),
    "multiply": ("x * y", None, "x * y"),
    "divide": ("p / q", None, "p / q"),
    "power": ("p ** q", None, "p ** q"),
    "mod": ("np.mod(x, q)", None, "torch.remainder(x, q)"),
    "add int64": ("i + j", None, "i + j"),
    "floor_divide int64": ("i // j", None, "i // j"),
    "maximum": ("np.maximum(x, y)", None, "torch.maximum(x, y)"),
    "greater": ("x > y", None, "x > y"),
    "logical_not": ("np.logical_not(mask)", None, "torch.logical_not(mask)"),
    "exp": ("np.exp(x)", None, "torch.exp(x)"),
    "log": ("np.log(p)", None, "torch.log(p)"),
    "sqrt": ("np.sqrt(p)", None, "torch.sqrt(p)"),
    "tanh": ("np.tanh(x)", None, "torch.tanh(x)"),
    "sin": ("np.sin(x)", None, "torch.sin(x)"),
    "abs": ("np.abs(x)", None, "torch.abs(x)"),
    "clip": ("np.clip(x, -0.5, 0.5)", None, "torch.clip(x, -0.5, 0.5)"),
    "isnan": ("np.isnan(x)", None, "torch.isnan(x)"),
    "where": ("np.where(mask, x, y)", None, "torch.where(mask, x, y)"),
    "where, number": ("np.where(mask, x, 0.0)", None, "torch.where(mask, x, 0.0)"),
    "astype": ("x.astype('float64')", None, "x.double()"),
    # reductions
    "sum": ("x.sum()", None, "x.sum()"),
    "sum, axis": ("np.sum(m, axis=0)", None, "torch.sum(m, 0)"),
    "mean, axis": ("np.mean(m, axis=1)", None, "torch.mean(m, 1)"),
    "max": ("np.max(x)", None, "torch.max(x)"),
    "argmax, axis": ("np.argmax(m, axis=1)", None, "torch.argmax(m, 1)"),
    "prod": ("np.prod(p)", None, "torch.prod(p)"),
    "var": ("np.var(x)", None, "torch.var(x, correction=0)"),
    "std, axis": ("np.std(m, axis=1)", None, "torch.std(m, 1, correction=0)"),
    "all": ("np.all(mask)", None, "torch.all(mask)"),
    "median": ("np.median(x)", None, "torch.median(x)"),
    "percentile": ("np.percentile(x, 30)", None, "torch.kthvalue(x, 1 + 3 * (len(x) - 1) // 10)"),
    "cumsum": ("np.cumsum(x)", None, "torch.cumsum(x, 0)"),
    "norm": ("np.linalg.norm(x)", None, "torch.linalg.norm(x)"),
    # shapes and order
    "reshape": ("x.reshape(side, side)", None, "x.reshape(side, side)"),
    "expand_dims": ("np.expand_dims(x, 0)", None, "torch.unsqueeze(x, 0)"),
    "transpose": ("m.T", "m.T.copy()", "m.T.contiguous()"),
    "concatenate": ("np.concatenate([m, k])", None, "torch.cat([m, k])"),
    "stack": ("np.stack([m, k], axis=1)", None, "torch.stack([m, k], 1)"),
    "split": (
        "np.split(m, 1)",
        "[part.copy() for part in np.split(m, 1)]",
        "[part.clone() for part in torch.split(m, side)]",
    ),
    "tile": ("np.tile(m, (1, 2))", None, "torch.tile(m, (1, 2))"),
    "repeat": ("np.repeat(m, 2, axis=1)", None, "torch.repeat_interleave(m, 2, 1)"),
    "flip": ("np.flip(x, 0)", "np.flip(x, 0).copy()", "torch.flip(x, (0,))"),
    "roll": ("np.roll(x, 3)", None, "torch.roll(x, 3)"),
    "pad": ("np.pad(m, 1)", None, "torch.nn.functional.pad(m, (1, 1, 1, 1))"),
    "tril": ("np.tril(m)", None, "torch.tril(m)"),
    # elements
    "take": ("np.take(x, idx)", None, "torch.take(x, idx)"),
    "x[idx]": ("x[idx]", None, "x[idx]"),
    "x[mask]": ("x[mask]", None, "x[mask]"),
    "m[:, 0:1]": ("m[:, 0:1]", "m[:, 0:1].copy()", "m[:, 0:1].contiguous()"),
    "sort": ("np.sort(x)", None, "torch.sort(x)"),
    "argsort": ("np.argsort(x)", None, "torch.argsort(x)"),
    "unique": ("np.unique(i)", None, "torch.unique(i)"),
    # new arrays
    "zeros": (
        "np.zeros((side, side))",
        "np.zeros((side, side), 'float32')",
        "torch.zeros((side, side))",
    ),
    "arange": ("np.arange(side)", "np.arange(side, dtype='float32')", "torch.arange(side * 1.0)"),
    "array of a list": (
        "np.array(few)",
        "np.array(few, 'float32')",
        "torch.tensor(few, dtype=torch.float32)",
    ),
    # products
    "matmul": ("m @ k", None, "m @ k"),
    "dot": ("np.dot(x, y)", None, "torch.dot(x, y)"),
}
SIZES = [1, 100, 10_000, 1_000_000]
_seen = {}  # (case, size, threads) -> mxcy's time as a multiple of NumPy's


@pytest.fixture
def threads(request):
    """The number of mxcy's threads; the library's team is restored afterwards."""
    import mxcy as mx

    before = mx.util.set_num_threads(request.param)
    with threadpool_limits(1, user_api="blas"):  # NumPy's; its idle threads would also spin
        yield request.param
    mx.util.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def summary(announce):
    """Count the cells in which mxcy is as fast as NumPy."""
    yield
    lines = []
    for number, size in sorted({(t, n) for _, n, t in _seen}):
        ratios = {name: ratio for (name, n, t), ratio in _seen.items() if (t, n) == (number, size)}
        as_quick = sum(ratio <= 1 for ratio in ratios.values())
        worst = sorted(ratios, key=ratios.get, reverse=True)[:4]
        lines.append(
            f"{size:>9,} elements, threads: {number}: {as_quick:>2} of {len(ratios)} as quick; "
            + ", ".join(f"{name} {ratios[name]:.2f}" for name in worst)
        )
    announce("mxcy beside NumPy, time as a multiple of NumPy's", lines)


@pytest.mark.parametrize(
    ("threads", "size"), [*((1, n) for n in SIZES), (2, SIZES[-1])], indirect=["threads"]
)
@pytest.mark.parametrize("case", CASES)
def test_function(compare, case, size, threads):
    ours, numpys, torchs = CASES[case]
    statements = {"mxcy": ours, "numpy": numpys or ours}
    if torchs is not None:
        statements["torch"] = torchs
    setups = {name: text.replace("{side}", str(math.isqrt(size))) for name, text in SETUP.items()}
    # Short rounds: on a busy machine some of them run undisturbed.
    times = compare(
        f"{case}, {size:,}, {threads} thread{'s'[: threads - 1]}",
        setups,
        statements,
        seconds=0.002 if size <= 10_000 else 0.02,
    )
    _seen[case, size, threads] = times["mxcy"][0] / times["numpy"][0]
