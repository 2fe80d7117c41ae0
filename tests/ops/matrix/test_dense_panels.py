"""Fused dense layers over weights in panels against NumPy: edges, blocks, sums, activations."""

import numpy as np
import pytest

from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import query_kernel, run_kernel
from tests.ops.matrix.fused_dense import check, compute, describe, draw, packed

# one row, few rows, columns that fill no panel, depths of one and of several blocks, many rows
SHAPES = (
    (1, 257, 1300),
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


@pytest.mark.parametrize("rows", range(1, 31))
def test_tiles_of_each_height(rows):
    check((rows, 300, 900), other=True)


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
@pytest.mark.parametrize("shape", ((128, 768, 768), (9, 500, 300), (500, 40, 300), (1, 500, 900)))
def test_same_bits_with_any_team(shape, threads):
    one, many = (compute(shape, team, act="gelu_erf")[0] for team in (1, threads))
    np.testing.assert_array_equal(one, many)


def test_refusals():
    out = np.empty((3, 20), np.float32)
    with pytest.raises(RuntimeError, match="too small"):
        query_kernel("fc_panels", [], [out], describe((3, 20, 30)))
