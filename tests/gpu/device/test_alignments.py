"""CTC loss on gpu(0) against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)


def compare(data, label, *lengths, tolerance=1e-5, **attrs):
    """Compare losses and weighted gradients with the CPU's."""
    results = []
    for ctx in (mx.cpu(), GPU):
        x = mx.nd.array(data, ctx=ctx, dtype=data.dtype)
        x.attach_grad()
        others = [mx.nd.array(values, ctx=ctx, dtype="int32") for values in (label, *lengths)]
        with mx.autograd.record():
            loss = mx.nd.CTCLoss(x, *others, **attrs)
        loss.backward(mx.nd.arange(1, len(label) + 1, ctx=ctx, dtype=data.dtype))
        assert loss.context == x.grad.context == ctx
        results.append((loss.asnumpy(), x.grad.asnumpy()))
    for wanted, result in zip(*results, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    return results[1][0]


@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_more_states_and_classes_than_threads(blank, dtype):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((300, 2, 400)).astype(dtype)
    label = rng.integers(1, 6, (2, 140))  # many equal labels, some of them adjacent
    label[1, 9:] = 0 if blank == "first" else -1
    compare(data, label, blank_label=blank)


def test_lengths():
    rng = np.random.default_rng(1)
    data, label = rng.standard_normal((9, 5, 6)), rng.integers(1, 6, (5, 4))
    times, counts = np.array([9, 4, 2, 0, 12]), np.array([4, 2, 4, 1, 0])
    uses = {"use_data_lengths": True, "use_label_lengths": True}
    loss = compare(data, label, times, counts, tolerance=1e-12, **uses)
    assert loss[2] == 0  # two steps are too few for four labels
    compare(data, label, counts, use_label_lengths=True, tolerance=1e-12)
    compare(data, label, times, use_data_lengths=True, tolerance=1e-12)


def test_impossible_labels():
    """Too many labels, or none that a length may select."""
    rng = np.random.default_rng(2)
    data, label = rng.standard_normal((4, 3, 5)), np.full((3, 4), 2)  # blanks needed
    loss = compare(data, label, np.array([4, -1, 2]), use_label_lengths=True)
    assert loss[0] == loss[1] == 0


@pytest.mark.skipif(not is_chosen(), reason="the stand-in counts launches")
def test_one_launch():
    x, label = mx.nd.zeros((6, 2, 5), ctx=GPU), mx.nd.ones((2, 2), ctx=GPU)
    mx.nd.CTCLoss(x, label).wait_to_read()
    before = launches()
    mx.nd.CTCLoss(x, label).wait_to_read()
    assert launches() - before == 1
