"""Blocked depthwise convolution against float64."""

import numpy as np
import pytest

from mxcy.base import MXNetError
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, Problem

KERNEL, TOLERANCE = "conv_depthwise_blocked", 1e-6


def depthwise(images, channels, source, **attrs):
    return Problem(images, channels, channels, source, groups=channels, **attrs)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dilate", [(1, 1), (2, 3)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("kernel, pad", [((3, 3), (1, 1)), ((2, 5), (0, 3)), ((7, 1), (4, 0))])
def test_windows(kernel, pad, stride, dilate, threads):
    problem = depthwise(
        2, 3 * BLOCK, (15, 23), kernel=kernel, pad=pad, stride=stride, dilate=dilate, other=True
    )
    assert problem.error(problem.run(KERNEL, threads)) < TOLERANCE


@pytest.mark.parametrize("source, pad", [((1, 1), (1, 1)), ((2, 3), (4, 5)), ((56, 56), (0, 0))])
def test_sizes(source, pad):
    problem = depthwise(1, BLOCK, source, pad=pad, bias=False)
    assert problem.error(problem.run(KERNEL)) < TOLERANCE


@pytest.mark.parametrize("width", [3, 7, 8, 12, 14, 17, 29])
@pytest.mark.parametrize("pad", [0, 1, 2])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [3, 5])
def test_runs_of_a_row(kernel, stride, pad, width):
    problem = depthwise(
        1,
        BLOCK,
        (6, width + 2),
        kernel=(kernel,) * 2,
        stride=(stride,) * 2,
        pad=(pad,) * 2,
        other=True,
    )
    assert problem.error(problem.run(KERNEL, threads=2, in_place=True)) < TOLERANCE


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("in_place", [False, True])
def test_epilogues(act, in_place):
    problem = depthwise(1, 2 * BLOCK, (9, 10), other=True, act=act)
    assert problem.error(problem.run(KERNEL, in_place=in_place)) < 2e-6


def swish_of(values):
    """The kernel's swish of a row of numbers."""
    problem = depthwise(
        1, BLOCK, (1, len(values)), kernel=(1, 1), pad=(0, 0), bias=False, act="swish"
    )
    problem.data[:] = values
    problem.weight[:] = 1
    return problem.run(KERNEL)[0, 0, 0]


def test_swish_is_precise_everywhere():
    x = np.linspace(-87, 100, 20_001, dtype=np.float32)
    answer = x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64)))
    values, usual = swish_of(x), np.abs(x) <= 30
    np.testing.assert_allclose(values[usual], answer[usual], rtol=6e-7, atol=0)
    np.testing.assert_allclose(values, answer, rtol=2e-6, atol=0)  # results below 3e-12


def test_swish_of_limits():
    x = np.array([0, 3e38, -3e38, -100, np.inf, np.nan], np.float32)
    zero, large, very_low, low, infinity, nan = swish_of(x)
    assert zero == 0
    assert large == x[1]
    assert abs(very_low) < 1e-35
    assert abs(low) < 1e-35
    assert infinity == np.inf
    assert np.isnan(nan)


def test_refusals():
    for problem, message in (
        (Problem(1, 2 * BLOCK, BLOCK, (5, 5), groups=BLOCK), "one channel and one filter"),
        (Problem(1, BLOCK, 2 * BLOCK, (5, 5), groups=BLOCK), "one channel and one filter"),
        (depthwise(1, BLOCK, (5, 5), in_block=0, out_block=0), "block size"),
    ):
        with pytest.raises(MXNetError, match=message):
            problem.run(KERNEL)
