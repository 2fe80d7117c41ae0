"""Fused dense layers by oneDNN against NumPy: packed and plain weights, sums, activations."""

import numpy as np
import pytest

from mxcy._library import onednn
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import query_kernel, run_kernel
from tests.ops.matrix.fused_dense import ALPHA, BETA, describe, draw

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)


def packed_weight(ins, out, params):
    """The weight, input 1, in the kernel's layout."""
    blob = np.empty(query_kernel("fc_onednn", ins, [out], params, "packed"), np.uint8)
    return run_kernel("fc_onednn_pack", [ins[1]], [blob], params)


def check(shape, packed, threads=1, bias=True, other=False, act="none", inplace=False):
    data, weight, offset, added = draw(*shape)
    if act == "sqrt":
        offset += 100
    params = describe(shape, bias, other, act)
    ins = [data, weight, *([offset] if bias else []), *([added] if other else [])]
    wide = data.astype(float) @ weight.T.astype(float) + (offset if bias else 0)
    wide = ACTIVATIONS[act](np, wide + added if other else wide, ALPHA, BETA)
    out = ins[-1] if inplace else np.full_like(added, np.nan)
    name = "fc_onednn" if packed else "fc_onednn_plain"
    assert query_kernel(name, ins, [out], params) == 1
    if packed:
        ins[1] = packed_weight(ins, out, params)
    before = added.copy()
    workspace = query_kernel(name, ins, [out], params, "workspace")
    run_kernel(name, ins, [out], params, threads=threads, workspace=workspace)
    np.testing.assert_allclose(out, wide, rtol=1e-5, atol=1e-5 * max(1, np.abs(wide).max()))
    if not inplace:
        np.testing.assert_array_equal(added, before)


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("shape", ((2, 257, 600), (5, 512, 512), (33, 100, 129), (1000, 64, 64)))
def test_packed(shape, threads):
    check(shape, True, threads)
    check(shape, True, threads, bias=False, other=True)


@pytest.mark.parametrize("shape", ((1, 5, 3), (1, 300, 200), (3, 33, 65), (4, 512, 512)))
def test_plain(shape):
    check(shape, False)
    check(shape, False, 2, bias=False, other=True, act="relu")


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    for packed in (False, True):
        check((6, 256, 256), packed, act=act)


def test_sum_in_place():
    for packed in (False, True):
        check((6, 256, 256), packed, other=True, act="relu", inplace=True)


def test_refusals():
    for shape, reason in (((1, 512, 512), "single row"), ((3, 20, 30), "too small")):
        data, weight, offset, added = draw(*shape)
        with pytest.raises(RuntimeError, match=reason):
            query_kernel("fc_onednn", [data, weight, offset], [added], describe(shape))
