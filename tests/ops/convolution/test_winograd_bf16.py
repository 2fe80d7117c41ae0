"""Winograd convolution of bfloat16: as exact as two roundings of its tiles allow, and its cuts."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import CODES
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, Problem, from_blocked
from tests.ops.kernel_call import has_kernel, run_kernel

NAME = "conv_winograd_bf16"
TOLERANCE = 0.02  # of the largest number; bfloat16 has 8 bits


def bits(array):
    """The bits of float32 numbers, rounded to bfloat16."""
    return mx.nd.array(array).astype("bfloat16").asnumpy().view(np.uint16)


def numbers(array):
    """What such bits stand for."""
    return (array.astype(np.uint32) << 16).view(np.float32)


class Narrow(Problem):
    """A problem whose data, other summand and result are of bfloat16."""

    def __init__(self, *arguments, **attributes):
        super().__init__(*arguments, **attributes)
        self.data = numbers(bits(self.data))
        if self.other is not None:
            self.other = numbers(bits(self.other))

    def arrays(self):
        data, bias, other, out = super().arrays()
        return bits(data), bias, None if other is None else bits(other), bits(out)

    def ask(self, kernel, what):
        ins, out = self._inputs(np.zeros(0, np.uint8)), self.arrays()[-1]
        codes = {np.dtype(np.uint16): "bfloat16"}
        specs = [
            [Spec(x.shape, CODES[codes.get(x.dtype, x.dtype.name)]) for x in side]
            for side in (ins, [out])
        ]
        return front.query(kernel, self.params, *specs, what)

    def run(self, threads=1, in_place=False):
        reason = self.ask(NAME, "accepts")
        if reason is not None:
            raise MXNetError(reason)
        blob = np.empty(self.ask(NAME, "packed"), np.uint8)
        run_kernel(f"{NAME}_pack", [self.weight], [blob], self.params, threads=threads)
        ins, out = self._inputs(blob), self.arrays()[-1]
        if in_place:
            out = ins[-1]
        workspace = self.ask(NAME, "workspace")
        run_kernel(
            NAME, ins, [out], self.params, threads=threads, workspace=workspace, half="bfloat16"
        )
        return numbers(from_blocked(out))


def works():
    if not has_kernel(NAME, "bfloat16"):
        return False
    return Narrow(1, BLOCK, BLOCK, (4, 4)).ask(NAME, "accepts") is None


pytestmark = pytest.mark.skipif(not works(), reason="this CPU has no products of bfloat16")


@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (17, 22)])
def test_maps_of_any_size(source, pad):
    problem = Narrow(2, BLOCK, BLOCK, source, pad=pad)
    assert problem.error(problem.run()) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tile", [0, 1, 5, 1000])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (5, 9)])
def test_channels_and_cuts(blocks, tile, threads):
    problem = Narrow(3, blocks[0] * BLOCK, blocks[1] * BLOCK, (14, 11), tile=tile)
    assert problem.error(problem.run(threads)) < TOLERANCE


def test_deep_sums_are_of_float32():
    problem = Narrow(1, 512, 64, (14, 14))
    assert problem.error(problem.run()) < TOLERANCE


@pytest.mark.parametrize("act", list(ACTIVATIONS))
@pytest.mark.parametrize("other", [False, True])
def test_what_follows(act, other):
    problem = Narrow(2, BLOCK, 3 * BLOCK, (9, 9), other=other, act=act)
    problem.weight *= 0.1  # exp and square stay in range
    assert problem.error(problem.run()) < TOLERANCE


def test_sum_in_place():
    problem = Narrow(2, BLOCK, 3 * BLOCK, (10, 7), other=True, act="relu", bias=False)
    assert problem.error(problem.run(2, in_place=True)) < TOLERANCE


def test_same_bits_for_any_team():
    problem = Narrow(2, 2 * BLOCK, 4 * BLOCK, (15, 15))
    np.testing.assert_array_equal(problem.run(1), problem.run(2))


def test_nan_stays_in_its_tiles():
    problem = Narrow(1, BLOCK, BLOCK, (12, 12), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    out = problem.run()
    assert np.isnan(out[0, :, 5:8, 5:8]).all()
    assert np.isnan(out).any(axis=(0, 1)).sum() == 9


def test_no_images():
    assert Narrow(0, BLOCK, BLOCK, (8, 8)).run(2).shape == (0, BLOCK, 8, 8)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(kernel=(5, 5)), "3 x 3"),
        (dict(stride=(2, 2)), "stride"),
        (dict(in_block=0), "blocked"),
    ],
)
def test_refusals(change, reason):
    problem = Narrow(1, 2 * BLOCK, 2 * BLOCK, (9, 9), **change)
    with pytest.raises(MXNetError, match=f"{NAME}: .*{reason}"):
        problem.run()
