"""Winograd convolution against float64: edges of maps, channels, threads, what is fused."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.fused_conv import ACTIVATIONS, BLOCK, Problem

TOLERANCE = 1e-5
KERNELS = [(3, 3), (5, 5), (1, 3), (3, 1), (1, 7), (7, 1)]


@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (13, 6), (17, 22)])
def test_maps_of_any_size(source, pad):
    problem = Problem(2, BLOCK, BLOCK, source, pad=pad)
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("source", [(1, 1), (2, 1), (1, 12)])
def test_maps_smaller_than_the_kernel(source):
    problem = Problem(3, BLOCK, 2 * BLOCK, source)
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("kernel", KERNELS[1:])
@pytest.mark.parametrize("source", [(3, 5), (8, 17), (17, 12)])
@pytest.mark.parametrize("same", [True, False])
def test_other_kernels(kernel, source, same):
    pad = tuple(k // 2 if same else 3 for k in kernel)
    problem = Problem(2, 2 * BLOCK, BLOCK, source, kernel=kernel, pad=pad, other=True, act="relu")
    for threads in (1, 2):
        assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tile", [0, 1, 5, 40, 1000])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (3, 6), (5, 9)])
def test_channels_and_cuts(blocks, tile, threads):
    problem = Problem(3, blocks[0] * BLOCK, blocks[1] * BLOCK, (14, 11), tile=tile)
    assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


@pytest.mark.parametrize("kernel", KERNELS)
def test_deep_sums_stay_accurate(kernel):
    problem = Problem(1, 512, 64, (14, 14), kernel=kernel, pad=tuple(k // 2 for k in kernel))
    # The largest acceptable error is 1e-4; more points cost some digits.
    limit = TOLERANCE if max(kernel) == 3 else 4 * TOLERANCE
    assert problem.error(problem.run("conv_winograd")) < limit


def test_no_images():
    assert Problem(0, BLOCK, BLOCK, (8, 8)).run("conv_winograd", 2).shape == (0, BLOCK, 8, 8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("act", list(ACTIVATIONS))
@pytest.mark.parametrize("other", [False, True])
def test_what_follows(act, other, threads):
    problem = Problem(2, BLOCK, 3 * BLOCK, (9, 9), other=other, act=act)
    problem.weight *= 0.1  # exp and square stay in range
    assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


def test_without_bias():
    problem = Problem(1, BLOCK, BLOCK, (9, 9), bias=False, other=True, act="relu")
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
def test_sum_in_place(threads):
    problem = Problem(2, BLOCK, 3 * BLOCK, (10, 7), other=True, act="relu")
    out = problem.run("conv_winograd", threads, in_place=True)
    assert problem.error(out) < TOLERANCE


def test_same_bits_for_any_team():
    problem = Problem(2, 2 * BLOCK, 4 * BLOCK, (15, 15))
    one, two = (problem.run("conv_winograd", threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_nan_stays_in_its_tiles():
    problem = Problem(1, BLOCK, BLOCK, (12, 12), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    out = problem.run("conv_winograd")
    assert np.isnan(out[0, :, 5:8, 5:8]).all()
    touched = np.isnan(out).any(axis=(0, 1))
    assert touched[4:8, 4:8].all()
    assert touched.sum() == 16


@pytest.mark.parametrize("kernel", KERNELS)
def test_turned_weights_give_the_gradient_of_the_data(kernel):
    common = dict(kernel=kernel, bias=False)
    forward = Problem(2, 2 * BLOCK, 3 * BLOCK, (9, 11), pad=(0, 0), **common)
    around = tuple(k - 1 for k in kernel)
    gradient = Problem(2, 3 * BLOCK, 2 * BLOCK, forward.out_shape[2:], pad=around, **common)
    gradient.weight = forward.weight
    out = gradient.run("conv_winograd", pack="conv_winograd_pack_turned")
    gradient.weight = forward.weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    assert gradient.error(out) < TOLERANCE
    assert out.shape == forward.data.shape


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(kernel=(2, 2)), "3 x 3"),
        (dict(stride=(2, 2)), "stride"),
        (dict(dilate=(2, 2)), "dilated"),
        (dict(groups=2), "groups"),
        (dict(in_block=0), "blocked"),
    ],
)
def test_refusals(change, reason):
    problem = Problem(1, 2 * BLOCK, 2 * BLOCK, (9, 9), **change)
    with pytest.raises(MXNetError, match=f"conv_winograd: .*{reason}"):
        problem.run("conv_winograd")
