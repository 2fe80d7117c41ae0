"""Direct convolution into blocked activations against float64."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, Problem
from tests.ops.kernel_call import library

TOLERANCE = 3e-6


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (5, 4), (3, 64)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("source", [(1, 1), (7, 7), (15, 11)])
def test_pointwise_convolutions(source, stride, blocks, threads):
    problem = Problem(
        3,
        blocks[0] * BLOCK,
        blocks[1] * BLOCK,
        source,
        kernel=(1, 1),
        pad=(0, 0),
        stride=(stride, stride),
    )
    assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (5, 6), (10, 7), (3, 15)])
@pytest.mark.parametrize("source", [(1, 1), (7, 7), (14, 13)])
def test_tiles_of_an_image_divided_among_threads(source, blocks):
    channels, filters = (BLOCK * n for n in blocks)
    problem = Problem(
        1, channels, filters, source, kernel=(1, 1), pad=(0, 0), other=True, act="relu"
    )
    one, two = (problem.run("conv_blocked", threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert problem.error(two) < TOLERANCE


@pytest.fixture(params=[2, 5, 32])
def team(request):
    """The number of threads of a team, which may be larger than the machine."""
    before = library().mx_threads()
    library().mx_set_threads(request.param)
    yield request.param
    library().mx_set_threads(before)


@pytest.mark.parametrize(
    "stride, source", [((2, 2), (14, 14)), ((2, 2), (7, 9)), ((3, 1), (8, 5)), ((1, 1), (7, 7))]
)
@pytest.mark.parametrize("images, blocks", [(1, (3, 16)), (1, (2, 7)), (2, (9, 64)), (40, (1, 3))])
def test_any_team_computes_the_same(images, blocks, source, stride, team):
    channels, filters = (BLOCK * n for n in blocks)
    about = {"kernel": (1, 1), "pad": (0, 0), "stride": stride, "other": True, "act": "relu"}
    problem = Problem(images, channels, filters, source, **about)
    alone = problem.run("conv_blocked", 1)
    assert problem.error(alone) < TOLERANCE
    np.testing.assert_array_equal(problem.run("conv_blocked", team), alone)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("spare", [(1, 0), (5, 5), (8, 8), (15, 9), (12, 15)])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 2), (3, 5), (2, 64)])
@pytest.mark.parametrize("kernel", [1, 3])
def test_spare_channels(kernel, blocks, spare, threads):
    channels, filters = (BLOCK * n for n in blocks)
    spare = tuple(min(n, BLOCK - 1) for n in spare)
    about = {"kernel": (kernel,) * 2, "pad": (kernel // 2,) * 2, "other": True, "act": "relu"}
    for images, source in ((1, (14, 13)), (2, (9, 7)), (1, (1, 1))):
        problem = Problem(images, channels, filters, source, spare=spare, **about)
        assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


@pytest.mark.parametrize("before", [1, 2])
def test_scaled_spare_channels(before):
    spare = (BLOCK // 2, BLOCK // 2)
    about = {"kernel": (1, 1), "pad": (0, 0), "spare": spare, "before": before}
    problem = Problem(2, 3 * BLOCK, 2 * BLOCK, (9, 7), **about)
    assert problem.error(problem.run("conv_blocked")) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dilate", [1, 2])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("kernel", [(3, 3), (2, 5), (1, 1), (4, 4)])
@pytest.mark.parametrize("channels", [3, 2 * BLOCK])
def test_windows(channels, kernel, stride, dilate, threads):
    problem = Problem(
        2,
        channels,
        3 * BLOCK,
        (15, 17),
        kernel=kernel,
        stride=stride,
        pad=(1, 2),
        dilate=(dilate, dilate),
        in_block=0 if channels == 3 else BLOCK,
        other=True,
    )
    assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("filters", [2 * BLOCK, 5 * BLOCK])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("target", [(1, 1), (2, 3), (5, 4), (6, 6), (7, 7), (4, 8)])
def test_narrow_rows(target, stride, filters, threads):
    source = tuple(stride * (n - 1) + 1 for n in target)
    problem = Problem(2, 3 * BLOCK, filters, source, stride=(stride, stride), other=True)
    assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


@pytest.mark.parametrize(
    ("source", "kernel", "stride", "pad"),
    [((64, 60), 7, 2, 3), ((67, 71), 11, 4, 0), ((33, 40), 3, 2, 0), ((32, 32), 3, 1, 1)],
)
def test_first_layers(source, kernel, stride, pad):
    problem = Problem(
        2,
        3,
        4 * BLOCK,
        source,
        kernel=(kernel, kernel),
        stride=(stride, stride),
        pad=(pad, pad),
        act="relu",
        in_block=0,
    )
    for threads in (1, 2):
        assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


@pytest.mark.parametrize("pieces", [(1, 64, 64, (200, 90)), (1, 256, 32, (90, 90))])
@pytest.mark.parametrize("kernel", [1, 3])
def test_images_larger_than_the_cache(pieces, kernel):
    problem = Problem(*pieces, kernel=(kernel, kernel), pad=(kernel // 2, kernel // 2))
    for threads in (1, 2):
        assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


def test_margins_wider_than_the_image():
    problem = Problem(1, BLOCK, BLOCK, (3, 2), pad=(4, 5), stride=(2, 3))
    assert problem.error(problem.run("conv_blocked")) < TOLERANCE


@pytest.mark.parametrize("act", list(ACTIVATIONS))
def test_epilogues(act):
    problem = Problem(2, BLOCK, 3 * BLOCK, (9, 9), kernel=(1, 1), pad=(0, 0), other=True, act=act)
    assert problem.error(problem.run("conv_blocked", in_place=True)) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bias, other", [(False, False), (True, True)])
@pytest.mark.parametrize("before", [1, 2])
@pytest.mark.parametrize(
    ("source", "kernel", "stride"),
    [((9, 7), 1, 1), ((90, 90), 1, 1), ((9, 8), 1, 2), ((9, 8), 3, 1)],
)
def test_prologues(source, kernel, stride, before, bias, other, threads):
    problem = Problem(
        2,
        3 * BLOCK,
        5 * BLOCK,
        source,
        kernel=(kernel, kernel),
        stride=(stride, stride),
        pad=(kernel // 2, kernel // 2),
        bias=bias,
        other=other,
        before=before,
    )
    assert problem.error(problem.run("conv_blocked", threads)) < TOLERANCE


def test_scaled_single_pixels():
    problem = Problem(1, BLOCK, BLOCK, (1, 1), kernel=(1, 1), pad=(0, 0), before=2)
    assert problem.error(problem.run("conv_blocked")) < TOLERANCE


def test_without_bias():
    problem = Problem(1, BLOCK, BLOCK, (9, 9), bias=False, act="relu")
    assert problem.error(problem.run("conv_blocked")) < TOLERANCE


def test_team_larger_than_the_workspace():
    problem = Problem(2, 2 * BLOCK, 3 * BLOCK, (20, 20))
    before = library().mx_threads()
    library().mx_set_threads(1)
    try:
        assert problem.error(problem.run("conv_blocked", threads=2)) < TOLERANCE
    finally:
        library().mx_set_threads(before)


def test_no_images():
    assert Problem(0, BLOCK, BLOCK, (8, 8)).run("conv_blocked", 2).shape == (0, BLOCK, 8, 8)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(groups=2), "groups"),
        (dict(out_block=0), "output"),
        (dict(in_block=0, before=1), "unblocked data"),
        (dict(kernel=(17, 17), pad=(8, 8)), "too large"),
    ],
)
def test_refusals(change, reason):
    problem = Problem(1, 2 * BLOCK, 2 * BLOCK, (9, 9), **change)
    with pytest.raises(MXNetError, match=f"conv_blocked: .*{reason}"):
        problem.run("conv_blocked")
