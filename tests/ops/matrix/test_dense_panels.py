"""Fused dense layers over weights in panels against NumPy: edges, blocks, sums, activations."""

import numpy as np
import pytest

from mxcy.ops.core.params import FUSED_DENSE
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import query_kernel, run_kernel

ALPHA, BETA = 0.3, 0.7


def draw(rows, hidden, depth):
    rng = np.random.default_rng(7)
    shapes = (rows, depth), (hidden, depth), (hidden,), (rows, hidden)
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def describe(shape, bias=True, other=False, act="none"):
    rows, hidden, depth = shape
    return FUSED_DENSE.pack(
        rows=rows,
        hidden=hidden,
        depth=depth,
        bias=bias,
        sum=other,
        act=list(ACTIVATIONS).index(act),
        tile=0,
        alpha=ALPHA,
        beta=BETA,
    )


def packed(weight, out, params):
    """The weight in panels."""
    blob = np.empty(query_kernel("fc_panels", [], [out], params, "packed"), np.uint8)
    return run_kernel("fc_panels_pack", [weight], [blob], params)


def compute(shape, threads=1, bias=True, other=False, act="none", inplace=False):
    """(result, the same in double precision)."""
    data, weight, offset, added = draw(*shape)
    if act == "sqrt":
        offset += 100
    params = describe(shape, bias, other, act)
    wide = data.astype(float) @ weight.T.astype(float) + (offset if bias else 0)
    wide = ACTIVATIONS[act](np, wide + added if other else wide, ALPHA, BETA)
    out = added if inplace else np.full_like(added, np.nan)
    ins = [data, packed(weight, out, params)]
    ins += [offset] * bias + [added] * other
    before = added.copy()
    run_kernel("fc_panels", ins, [out], params, threads=threads)
    if not inplace:
        np.testing.assert_array_equal(added, before)
    return out, wide


def check(*args, **kwargs):
    out, wide = compute(*args, **kwargs)
    np.testing.assert_allclose(out, wide, rtol=1e-5, atol=1e-5 * max(1, np.abs(wide).max()))


# few rows, columns that fill no panel, depths of one and of several blocks, rows of several blocks
SHAPES = (
    (2, 257, 600),
    (5, 512, 512),
    (33, 100, 129),
    (1000, 64, 64),
    (128, 1500, 300),
    (700, 300, 257),
    (3, 300_000, 1),
    (40, 1, 7000),
)


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("shape", SHAPES)
def test_against_numpy(shape, threads):
    check(shape, threads)
    check(shape, threads, bias=False, other=True)
    check(shape, threads, bias=False, act="relu")


@pytest.mark.parametrize("rows", range(2, 31))
def test_tiles_of_each_height(rows):
    check((rows, 300, 520), other=True)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    check((6, 250, 600), act=act)
    check((6, 250, 600), act=act, other=True)


def test_sum_in_place():
    check((60, 256, 700), other=True, act="relu", inplace=True)


def test_nans_pass_relu():
    shape = (2, 512, 512)
    data, weight, offset, out = draw(*shape)
    data[0, 5] = np.nan
    params = describe(shape, act="relu")
    run_kernel("fc_panels", [data, packed(weight, out, params), offset], [out], params)
    assert np.isnan(out[0]).all() and (out[1] >= 0).all()


@pytest.mark.parametrize("threads", (2, 3, 8, 32))
@pytest.mark.parametrize("shape", ((128, 768, 768), (9, 500, 300), (500, 40, 300)))
def test_same_bits_with_any_team(shape, threads):
    one, many = (compute(shape, team, act="gelu_erf")[0] for team in (1, threads))
    np.testing.assert_array_equal(one, many)


def test_refusals():
    for shape, reason in (((1, 512, 512), "single row"), ((3, 20, 30), "too small")):
        out = np.empty(shape[:2], np.float32)
        with pytest.raises(RuntimeError, match=reason):
            query_kernel("fc_panels", [], [out], describe(shape))
