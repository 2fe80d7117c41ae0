"""Fused dense layers by Strassen's algorithm against NumPy: odd rows, blocks, teams, its error."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import query_kernel
from tests.ops.matrix.fused_dense import check, compute, describe

# rows, units, inputs: of one block, with single rows left over, of several blocks of k and of rows
SHAPES = ((128, 512, 512), (131, 512, 516), (253, 768, 1540), (700, 512, 600))


ONE_LEVEL, TWO_LEVELS, REPEATED = 1, 2, 3  # the last: each thread adds up the data's sums itself


@pytest.mark.parametrize("variant", (ONE_LEVEL, TWO_LEVELS, REPEATED))
@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("shape", SHAPES)
def test_against_numpy(shape, threads, variant):
    kernel = {"kernel": "fc_strassen", "tile": variant}
    check(shape, threads, **kernel)
    check(shape, threads, bias=False, other=True, **kernel)
    check(shape, threads, bias=False, act="relu", **kernel)


@pytest.mark.parametrize("rows", range(64, 93))
def test_tiles_of_each_height(rows):
    check((rows, 256, 256), other=True, kernel="fc_strassen", tile=1)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    options = {"other": True, "kernel": "fc_strassen", "tile": 1}
    check((70, 256, 300), act=act, tolerance=4e-5, **options)


def test_sum_in_place():
    shape = (70, 256, 700)
    check(shape, other=True, act="relu", inplace=True, kernel="fc_strassen", tile=1)


@pytest.mark.parametrize("variant", (ONE_LEVEL, TWO_LEVELS, REPEATED))
@pytest.mark.parametrize("threads", (2, 3, 8, 32))
@pytest.mark.parametrize("shape", ((128, 768, 768), (301, 512, 516), (256, 512, 2400)))
def test_same_bits_with_any_team(shape, threads, variant):
    kernel = {"kernel": "fc_strassen", "tile": variant}
    one, many = (compute(shape, team, act="gelu_erf", **kernel)[0] for team in (1, threads))
    np.testing.assert_array_equal(one, many)


def test_same_bits_whether_threads_share_sums():
    options = {"act": "gelu_erf", "kernel": "fc_strassen"}
    shared, repeated = (
        compute((301, 512, 1540), 2, tile=variant, **options)[0]
        for variant in (ONE_LEVEL, REPEATED)
    )
    np.testing.assert_array_equal(shared, repeated)


@pytest.mark.parametrize("levels", (1, 2))
def test_each_level_multiplies_the_error_by_at_most_four(levels):
    shape = (256, 512, 2048)
    ordinary, exact = compute(shape, bias=False)
    out, _ = compute(shape, bias=False, kernel="fc_strassen", tile=levels)
    assert np.abs(out - exact).max() <= 4**levels * np.abs(ordinary - exact).max()


@pytest.mark.parametrize(
    ("shape", "levels", "reason"),
    (
        ((128, 500, 512), 1, "cannot be halved"),
        ((128, 512, 513), 1, "cannot be halved"),
        ((128, 512, 514), 2, "cannot be halved"),
        ((20, 512, 512), 1, "too small"),
        ((128, 512, 512), 4, "one or two levels"),
    ),
)
def test_refusals(shape, levels, reason):
    out = np.empty(shape[:2], np.float32)
    with pytest.raises(RuntimeError, match=reason):
        query_kernel("fc_strassen", [], [out], describe(shape, tile=levels), "packed")


@pytest.mark.parametrize("deterministic", (False, True))
def test_trials_offer_it_unless_determinism_is_asked_for(
    monkeypatch, capfd, tmp_path, deterministic
):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_ENFORCE_DETERMINISM", str(int(deterministic)))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(512, in_units=512, activation="relu"))
    net.add(mx.gluon.nn.Dense(512, in_units=512, activation="relu"))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    net(mx.nd.ones((256, 512))).wait_to_read()
    report = capfd.readouterr().out
    assert "fc_panels" in report
    assert ("fc_strassen" in report) == (not deterministic)
