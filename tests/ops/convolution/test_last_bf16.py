"""Our channels-last bfloat16 convolutions, against their definition in float64."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.convolution.narrow import Narrow
from tests.ops.fused.fused_conv import ACTIVATIONS
from tests.ops.kernel_call import has_kernel

TOLERANCE = 0.01  # of the largest number; bfloat16 has 8 bits
TILES, DEPTHWISE = "conv_tiles_bf16", "conv_depthwise_bf16"


def last(array):
    """Channels of (images, channels, rows, columns) innermost, as one block."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))[:, None]


class Last(Narrow):
    """A problem with channels-last arrays, or with data in planes."""

    def __init__(self, batch, channels, filters, source, planes=False, **attributes):
        name = DEPTHWISE if attributes.get("groups", 1) > 1 else TILES
        if not has_kernel(name, "bfloat16"):
            pytest.skip("this CPU has no such products of bfloat16")
        attributes.setdefault("in_block", 0 if planes else channels)
        attributes.setdefault("out_block", filters)
        super().__init__(name, batch, channels, filters, source, **attributes)

    def arrays(self):
        sizes, self.in_block, self.out_block = (self.in_block, self.out_block), 0, 0
        try:
            data, bias, other, out = super().arrays()
        finally:
            self.in_block, self.out_block = sizes
        data = last(data) if self.in_block else data
        return data, bias, None if other is None else last(other), last(out)

    def plain(self, out):
        return np.moveaxis(out[:, 0], -1, 1)


def channelwise(batch, channels, source, **attributes):
    """A depthwise problem."""
    return Last(batch, channels, channels, source, groups=channels, **attributes)


def check(problem, threads=1, **options):
    """Compare the result with the definition and return it."""
    out = problem.run(threads, **options)
    assert problem.error(out) < TOLERANCE
    return out


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "images, channels, filters, source, window",
    [
        (2, 8, 70, (9, 7), {"kernel": (1, 1), "pad": (0, 0)}),
        (1, 64, 40, (40, 33), {"kernel": (1, 1), "pad": (0, 0)}),
        (1, 80, 33, (5, 5), {"kernel": (1, 1), "pad": (0, 0)}),
        (3, 70, 50, (5, 33), {"stride": (2, 2)}),
        (1, 64, 40, (33, 35), {"stride": (2, 2)}),
        (2, 32, 33, (7, 14), {"kernel": (2, 3), "stride": (3, 2), "pad": (1, 0)}),
        (3, 6, 33, (9, 7), {"kernel": (1, 1), "stride": (2, 2), "pad": (0, 0)}),
        (1, 800, 40, (17, 18), {"kernel": (1, 1), "pad": (0, 0)}),
        (2, 16, 100, (6, 9), {}),
        (2, 160, 200, (33, 29), {}),
        (1, 4, 5, (1, 9), {}),
        (1, 10, 17, (9, 9), {"dilate": (2, 2), "pad": (2, 1)}),
        (2, 4, 40, (1, 1), {"kernel": (3, 1), "pad": (3, 0), "stride": (2, 1)}),
        (2, 48, 64, (12, 11), {"kernel": (1, 7), "pad": (0, 3)}),
    ],
)
def test_convolutions(images, channels, filters, source, window, threads):
    check(Last(images, channels, filters, source, **window), threads)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "window", [{}, {"stride": (2, 2)}, {"kernel": (7, 7), "stride": (2, 2), "pad": (3, 3)}]
)
def test_images_in_planes(channels, window):
    check(Last(2, channels, 40, (13, 18), planes=True, **window))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("channels", [2, 32, 40, 96, 144])
@pytest.mark.parametrize(
    "source, window",
    [
        ((9, 7), {}),
        ((1, 1), {}),
        ((8, 10), {"stride": (2, 2)}),
        ((4, 5), {"pad": (0, 2), "stride": (1, 3)}),
        ((6, 5), {"pad": (2, 0)}),
        ((5, 6), {"pad": (4, 4)}),
    ],
)
def test_filters_of_single_channels(channels, source, window, threads):
    check(channelwise(2, channels, source, **window), threads)


@pytest.mark.parametrize("act", list(ACTIVATIONS))
@pytest.mark.parametrize("other", [False, True])
def test_epilogues(act, other):
    for problem in (
        Last(2, 16, 72, (9, 9), other=other, act=act),
        channelwise(1, 48, (6, 7), other=other, act=act),
    ):
        problem.weight *= 0.1  # exp and square stay in range
        check(problem)


def test_sum_in_place_without_bias():
    check(Last(2, 16, 48, (10, 7), other=True, act="relu", bias=False), 2, in_place=True)
    check(channelwise(2, 48, (10, 7), other=True, act="clip", bias=False), 2, in_place=True)


def test_same_bits_for_any_team():
    for problem in (Last(2, 32, 64, (15, 15)), channelwise(2, 64, (15, 15))):
        np.testing.assert_array_equal(problem.run(1), problem.run(2))


@pytest.mark.parametrize("kernel", [1, 3])
def test_nonfinite_values_stay_in_their_windows(kernel):
    """Pixels next to a window of few channels are not multiplied by zeros."""
    pad = kernel // 2
    problem = Last(1, 6, 20, (12, 12), kernel=(kernel, kernel), pad=(pad, pad), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    out = problem.run()
    assert np.isnan(out[0, :, 6 - pad : 7 + pad, 6 - pad : 7 + pad]).all()
    assert np.isnan(out).any(axis=(0, 1)).sum() == kernel**2
    problem = channelwise(1, 6, (12, 12), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    assert np.isnan(problem.run()).sum() == 9


def test_no_images():
    assert Last(0, 16, 32, (8, 8)).run(2).shape == (0, 32, 8, 8)
    assert channelwise(0, 32, (8, 8)).run(2).shape == (0, 32, 8, 8)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (lambda: Last(1, 16, 32, (9, 9), out_block=0), "output is not channels-last"),
        (lambda: Last(1, 5, 32, (9, 9), planes=True), "data is not channels-last"),
        (lambda: Last(1, 5, 32, (9, 9)), "odd number"),
        (lambda: channelwise(1, 32, (9, 9), kernel=(5, 5)), "3 x 3"),
        (lambda: channelwise(1, 32, (9, 9), dilate=(2, 2)), "dilated"),
    ],
)
def test_refusals(problem, reason):
    with pytest.raises(MXNetError, match=reason):
        problem().run()
