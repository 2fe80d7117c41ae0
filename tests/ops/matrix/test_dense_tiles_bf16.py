"""Our fused dense layers of bfloat16 arrays with AMX, against NumPy in double precision."""

import numpy as np
import pytest

from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import has_kernel, query_kernel, run_kernel
from tests.ops.matrix.fused_dense import ALPHA, BETA, describe, draw

pytestmark = pytest.mark.skipif(
    not has_kernel("fc_tiles_bf16", "bfloat16"), reason="needs AMX-BF16"
)


def rounded(array):
    """The bits of the nearest bfloat16 numbers."""
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def compute(shape, threads=1, bias=True, other=False, act="none"):
    """(result, the same in double precision from the same rounded numbers)."""
    data, weight, offset, added = draw(*shape)
    if act == "sqrt":
        offset += 100
    params = describe(shape, bias, other, act)
    data, added, out = rounded(data), rounded(added), np.empty(added.shape, np.uint16)
    query = {
        what: query_kernel("fc_tiles_bf16", [], [out], params, what)
        for what in ("packed", "workspace")
    }
    blob = np.empty(query["packed"], np.uint8)
    run_kernel("fc_tiles_bf16_pack", [weight], [blob], params)
    ins = [data, blob, *[offset] * bias, *[added] * other]
    options = {"threads": threads, "workspace": query["workspace"], "half": "bfloat16"}
    run_kernel("fc_tiles_bf16", ins, [out], params, **options)
    wide = widened(data).astype(float) @ widened(rounded(weight)).T.astype(float)
    wide = wide + offset if bias else wide
    wide = wide + widened(added) if other else wide
    return widened(out), ACTIVATIONS[act](np, wide, ALPHA, BETA)


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("shape", ((128, 512, 512), (131, 500, 518), (17, 40, 1540), (700, 72, 64)))
@pytest.mark.parametrize("options", ({}, {"bias": False, "other": True}, {"act": "relu"}))
def test_against_numpy(shape, threads, options):
    out, exact = compute(shape, threads, **options)
    np.testing.assert_allclose(out, exact, rtol=2**-8, atol=2**-8 * 0.02 * np.abs(exact).max())


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    out, exact = compute((70, 150, 300), other=True, act=act)
    np.testing.assert_allclose(out, exact, rtol=2**-7, atol=2**-8 * 0.1 * np.abs(exact).max())


def test_float32_results_are_refused():
    out = np.empty((64, 64), np.float32)
    with pytest.raises(RuntimeError, match="float32 results"):
        query_kernel("fc_tiles_bf16", [], [out], describe((64, 64, 64)))
