"""bfloat16 Winograd convolution: as accurate as two roundings of tiles allow; partitioning."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.convolution.narrow import Narrow
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK
from tests.ops.kernel_call import has_kernel

NAME = "conv_winograd_bf16"
TOLERANCE = 0.02  # of the largest number; bfloat16 has 8 bits


def works():
    if not has_kernel(NAME, "bfloat16"):
        return False
    return Narrow(NAME, 1, BLOCK, BLOCK, (4, 4)).ask(NAME, "accepts") is None


pytestmark = pytest.mark.skipif(not works(), reason="this CPU has no products of bfloat16")


@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (17, 22)])
def test_maps_of_any_size(source, pad):
    problem = Narrow(NAME, 2, BLOCK, BLOCK, source, pad=pad)
    assert problem.error(problem.run()) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tile", [0, 1, 5, 1000])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (5, 9)])
def test_channels_and_cuts(blocks, tile, threads):
    problem = Narrow(NAME, 3, blocks[0] * BLOCK, blocks[1] * BLOCK, (14, 11), tile=tile)
    assert problem.error(problem.run(threads)) < TOLERANCE


def test_deep_sums_are_of_float32():
    problem = Narrow(NAME, 1, 512, 64, (14, 14))
    assert problem.error(problem.run()) < TOLERANCE


@pytest.mark.parametrize("act", list(ACTIVATIONS))
@pytest.mark.parametrize("other", [False, True])
def test_epilogues(act, other):
    problem = Narrow(NAME, 2, BLOCK, 3 * BLOCK, (9, 9), other=other, act=act)
    problem.weight *= 0.1  # exp and square stay in range
    assert problem.error(problem.run()) < TOLERANCE


def test_sum_in_place():
    problem = Narrow(NAME, 2, BLOCK, 3 * BLOCK, (10, 7), other=True, act="relu", bias=False)
    assert problem.error(problem.run(2, in_place=True)) < TOLERANCE


def test_same_bits_for_any_team():
    problem = Narrow(NAME, 2, 2 * BLOCK, 4 * BLOCK, (15, 15))
    np.testing.assert_array_equal(problem.run(1), problem.run(2))


def test_nan_stays_in_its_tiles():
    problem = Narrow(NAME, 1, BLOCK, BLOCK, (12, 12), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    out = problem.run()
    assert np.isnan(out[0, :, 5:8, 5:8]).all()
    assert np.isnan(out).any(axis=(0, 1)).sum() == 9


def test_no_images():
    assert Narrow(NAME, 0, BLOCK, BLOCK, (8, 8)).run(2).shape == (0, BLOCK, 8, 8)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(kernel=(5, 5)), "3 x 3"),
        (dict(stride=(2, 2)), "stride"),
        (dict(in_block=0), "blocked"),
    ],
)
def test_refusals(change, reason):
    problem = Narrow(NAME, 1, 2 * BLOCK, 2 * BLOCK, (9, 9), **change)
    with pytest.raises(MXNetError, match=f"{NAME}: .*{reason}"):
        problem.run()
