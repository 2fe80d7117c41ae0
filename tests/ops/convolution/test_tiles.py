"""Float32 convolutions with AMX, of operands in three bfloat16 parts, against float64."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, Problem
from tests.ops.kernel_call import has_kernel

pytestmark = pytest.mark.skipif(not has_kernel("conv_tiles"), reason="needs AMX-BF16")

TOLERANCE = 3e-6
POINTWISE = {"kernel": (1, 1), "pad": (0, 0)}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", [(2, 61), (3, 41), (7, 20), (61, 2), (130, 1)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("images", "source"), [(40, (7, 7)), (2, (33, 31))])
def test_pointwise_convolutions(images, source, stride, blocks, threads):
    channels, filters = (BLOCK * n for n in blocks)
    problem = Problem(images, channels, filters, source, stride=(stride, stride), **POINTWISE)
    assert problem.error(problem.run("conv_tiles", threads)) < TOLERANCE


@pytest.mark.parametrize("dilate", [1, 2])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("kernel", [(3, 3), (2, 5), (1, 4), (7, 1)])
@pytest.mark.parametrize("blocks", [6, 9])
def test_windows(blocks, kernel, stride, dilate):
    problem = Problem(
        2,
        blocks * BLOCK,
        9 * BLOCK,
        (25, 27),
        kernel=kernel,
        stride=stride,
        pad=(1, 2),
        dilate=(dilate, dilate),
        other=True,
    )
    assert problem.error(problem.run("conv_tiles", 2)) < TOLERANCE


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    problem = Problem(2, 9 * BLOCK, 11 * BLOCK, (19, 18), other=True, act=act, **POINTWISE)
    assert problem.error(problem.run("conv_tiles", 2)) < 2e-5


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("before", [1, 2])
def test_scaled_data(before, kernel):
    about = {"kernel": (kernel,) * 2, "pad": (kernel // 2,) * 2, "before": before}
    problem = Problem(2, 10 * BLOCK, 11 * BLOCK, (19, 17), act="relu", **about)
    assert problem.error(problem.run("conv_tiles", 2)) < TOLERANCE


@pytest.mark.parametrize("threads", [2, 3, 8, 32])
def test_same_bits_with_any_team(threads):
    problem = Problem(2, 40 * BLOCK, 11 * BLOCK, (14, 13), other=True, act="relu", **POINTWISE)
    one, many = (problem.run("conv_tiles", team) for team in (1, threads))
    np.testing.assert_array_equal(one, many)


def test_exceptional_values():
    problem = Problem(2, 4 * BLOCK, 4 * BLOCK, (17, 16), bias=False)
    problem.data[0, 3, 4, 5] = np.inf
    problem.data[1, 5, 9, 9] = np.nan
    problem.data[0, :, 12:] *= np.float32(1e-33)
    out, ordinary = (problem.run(name, 2) for name in ("conv_tiles", "conv_blocked"))
    np.testing.assert_array_equal(np.isfinite(out), np.isfinite(ordinary))
    np.testing.assert_array_equal(np.isnan(out), np.isnan(ordinary))
    finite = np.isfinite(ordinary)
    np.testing.assert_allclose(out[finite], ordinary[finite], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(out[0, :, 14:], ordinary[0, :, 14:], rtol=1e-5, atol=1e-38)


def test_refuses_what_is_too_small():
    with pytest.raises(MXNetError, match="too small to profit"):
        Problem(1, BLOCK, BLOCK, (7, 7), **POINTWISE).run("conv_tiles")
