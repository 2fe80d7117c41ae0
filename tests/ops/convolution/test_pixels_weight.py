"""Weight gradients of 1 x 1 convolutions on blocked arrays against float64."""

import numpy as np
import pytest

from mxcy.ops.core.params import FUSED_CONV
from mxcy.ops.fused.blocked import blocked
from tests.ops.kernel_call import query_kernel, run_kernel

TOLERANCE = 1e-6
KERNEL = "conv_train_pixels_weight"


def pack(block, **about):
    """The kernel's parameters."""
    whole = {name: [1] * count if count else 0 for name, _, count in FUSED_CONV.fields}
    whole.update(batch=1, groups=1, channels=2 * block, filters=2 * block, pad=[0] * 3)
    whole.update(source=(1, 3, 5), target=(1, 3, 5), in_block=block, out_block=block)
    return FUSED_CONV.pack(**{**whole, **about})


def lanes():
    """Channels of a block, for the instruction set in use."""
    try:
        probe(16)
    except RuntimeError:
        return 8
    return 16


def probe(block, **about):
    """Ask the kernel whether it accepts a problem."""
    arrays = [np.zeros((1, 2, 3, 5, block), np.float32)] * 2
    out = np.zeros((2 * block, 2 * block, 1, 1), np.float32)
    return query_kernel(KERNEL, arrays, [out], pack(block, **about))


def gradient(batch, blocks, source, threads=1, spoil=None):
    """The kernel's result, and NumPy's in float64; `blocks`: of the data and of the gradient."""
    rng = np.random.default_rng(5)
    block = lanes()
    channels, filters = (n * block for n in blocks)
    data, grad = (
        rng.uniform(-1, 1, (batch, n, *source)).astype(np.float32) for n in (channels, filters)
    )
    if spoil:
        data[spoil] = np.nan
    out = np.full((filters, channels, 1, 1), np.nan, np.float32)
    ins = [np.ascontiguousarray(blocked(np, array, block)) for array in (data, grad)]
    sizes = dict(source=(1, *source), target=(1, *source))
    params = pack(block, batch=batch, channels=channels, filters=filters, **sizes)
    workspace = query_kernel(KERNEL, ins, [out], params, "workspace")
    run_kernel(KERNEL, ins, [out], params, threads=threads, workspace=workspace)
    exact = np.einsum("nfyx,ncyx->fc", grad.astype(np.float64), data.astype(np.float64))
    return out[:, :, 0, 0], exact


def error(actual, expected):
    """The largest difference, relative to the largest element."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("source", [(1, 1), (1, 7), (7, 7), (13, 9), (16, 8), (11, 12), (40, 53)])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_images_of_any_size(batch, source):
    assert error(*gradient(batch, (2, 3), source)) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", [(1, 1), (1, 4), (3, 1), (5, 2), (2, 9), (17, 8), (33, 17)])
def test_channels(blocks, threads):
    assert error(*gradient(3, blocks, (6, 7), threads)) < TOLERANCE


@pytest.mark.parametrize(
    ("batch", "blocks", "source"),
    [(1, (1, 1), (5, 5)), (7, (4, 16), (9, 9)), (6, (1, 2), (40, 41)), (2, (20, 9), (14, 14))],
)
@pytest.mark.parametrize("threads", [2, 5, 32])
def test_same_bits_for_any_team(batch, blocks, source, threads):
    alone, exact = gradient(batch, blocks, source)
    assert error(alone, exact) < TOLERANCE
    np.testing.assert_array_equal(gradient(batch, blocks, source, threads)[0], alone)


def test_nan_reaches_the_weights_of_its_channel():
    actual = gradient(2, (2, 2), (30, 30), spoil=(1, 3, 29, 29))[0]
    assert np.isnan(actual[:, 3]).all()
    assert np.isfinite(np.delete(actual, 3, axis=1)).all()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (dict(groups=2), "groups"),
        (dict(in_block=0), "not blocked"),
        (dict(channels=5), "do not fill blocks"),
        (dict(source=(2, 3, 5)), "three spatial axes"),
        (dict(kernel=(1, 3, 3)), "longer than 1"),
        (dict(stride=(1, 2, 2)), "stride"),
        (dict(pad=(0, 1, 1)), "padded"),
        (dict(target=(1, 3, 4)), "does not match the windows"),
        (dict(batch=0), "no windows"),
        (dict(filters=0), "no weights"),
    ],
)
def test_refusals(changes, reason):
    with pytest.raises(RuntimeError, match=f"conv_pixels: .*{reason}"):
        probe(lanes(), **changes)


def test_other_instruction_sets(numbers_at_level):
    errors = numbers_at_level(
        """
from tests.ops.convolution.test_pixels_weight import error, gradient
for blocks, source in (((1, 2), (9, 8)), ((3, 4), (12, 13)), ((4, 4), (41, 40))):
    print(error(*gradient(3, blocks, source, threads=2)))
"""
    )
    assert len(errors) == 3
    assert max(errors) < TOLERANCE
