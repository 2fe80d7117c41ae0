"""Kernels of fused dense layers against NumPy in double precision."""

import numpy as np

from mxcy.ops.core.params import FUSED_DENSE
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import query_kernel, run_kernel

ALPHA, BETA = 0.3, 0.7


def draw(rows, hidden, depth):
    rng = np.random.default_rng(7)
    shapes = (rows, depth), (hidden, depth), (hidden,), (rows, hidden)
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def describe(shape, bias=True, other=False, act="none", tile=0):
    rows, hidden, depth = shape
    return FUSED_DENSE.pack(
        rows=rows,
        hidden=hidden,
        depth=depth,
        bias=bias,
        sum=other,
        act=list(ACTIVATIONS).index(act),
        tile=tile,
        alpha=ALPHA,
        beta=BETA,
    )


def packed(weight, out, params, kernel="fc_panels"):
    """The weight in panels."""
    blob = np.empty(query_kernel(kernel, [], [out], params, "packed"), np.uint8)
    return run_kernel(f"{kernel}_pack", [weight], [blob], params)


def compute(
    shape, threads=1, bias=True, other=False, act="none", inplace=False, kernel="fc_panels", tile=0
):
    """(result, the same in double precision)."""
    data, weight, offset, added = draw(*shape)
    if act == "sqrt":
        offset += 100
    params = describe(shape, bias, other, act, tile)
    wide = data.astype(float) @ weight.T.astype(float) + (offset if bias else 0)
    wide = ACTIVATIONS[act](np, wide + added if other else wide, ALPHA, BETA)
    out = added if inplace else np.full_like(added, np.nan)
    ins = [data, packed(weight, out, params, kernel)]
    ins += [offset] * bias + [added] * other
    before = added.copy()
    run_kernel(kernel, ins, [out], params, threads=threads)
    if not inplace:
        np.testing.assert_array_equal(added, before)
    return out, wide


def check(*args, tolerance=1e-5, **kwargs):
    out, wide = compute(*args, **kwargs)
    atol = tolerance * max(1, np.abs(wide).max())
    np.testing.assert_allclose(out, wide, rtol=tolerance, atol=atol)
