"""Recurrent layers on gpu(0) against the CPU: all cells, layers, directions, lengths, dropout."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gpu.recurrent import recurrent
from mxcy.ops.recurrent.cells import CELLS
from tests.gpu.device.test_launches import launches, work_of
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
STEPS, BATCH, INPUTS, HIDDEN = 5, 4, 3, 6


def drawn(mode, layers, directions, dtype="float64", projection=None):
    """Return random data, parameters and states."""
    rng, gates, size = np.random.default_rng(1), CELLS[mode].gates, projection or HIDDEN
    rows = gates * HIDDEN * directions
    count = rows * (INPUTS + size + 2 + (layers - 1) * (directions * size + size + 2))
    count += (projection or 0) * HIDDEN * layers * directions
    states = [(layers * directions, BATCH, n) for n in (size, HIDDEN)[: 1 + CELLS[mode].has_cell]]
    shapes = [(STEPS, BATCH, INPUTS), (count,), *states]
    return [(rng.standard_normal(shape) / 2).astype(dtype) for shape in shapes]


def run(arrays, lengths, ctx, **attrs):
    """Return outputs and gradients as NumPy arrays."""
    arrays = [mx.nd.array(values, ctx=ctx, dtype=values.dtype) for values in arrays]
    for array in arrays:
        array.attach_grad()
    if lengths is not None:
        given = mx.nd.array(lengths, ctx=ctx, dtype=lengths.dtype)
        attrs |= {"use_sequence_length": True, "sequence_length": given}
    with mx.autograd.record():
        outs = mx.nd.RNN(*arrays, state_size=HIDDEN, state_outputs=True, **attrs)
    rng = np.random.default_rng(2)
    heads = [rng.uniform(-1, 1, out.shape).astype(out.dtype) for out in outs]
    mx.autograd.backward(outs, [mx.nd.array(h, ctx=ctx, dtype=h.dtype) for h in heads])
    return [a.asnumpy() for a in (*outs, *(a.grad for a in arrays))]


def check(arrays, tolerance=1e-11, lengths=None, **attrs):
    expected = run(arrays, lengths, mx.cpu(), **attrs)
    results = run(arrays, lengths, GPU, **attrs)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", CELLS)
@pytest.mark.parametrize("layers, bidirectional", [(1, False), (3, False), (2, True)])
def test_cells(mode, layers, bidirectional):
    arrays = drawn(mode, layers, 1 + bidirectional)
    check(arrays, mode=mode, num_layers=layers, bidirectional=bidirectional)


@pytest.mark.parametrize("mode", CELLS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_lengths(mode, dtype):
    lengths = np.array([3, 5, 0, 9]).astype(dtype)
    check(drawn(mode, 2, 2), lengths=lengths, mode=mode, num_layers=2, bidirectional=True)


@pytest.mark.parametrize("layers, bidirectional", [(1, False), (3, False), (2, True)])
@pytest.mark.parametrize("projection", [4, 9])
@pytest.mark.parametrize("lengths", [None, np.array([3, 5, 0, 9], "int32")])
def test_projections(layers, bidirectional, projection, lengths):
    """Hidden states smaller and larger than the cells."""
    arrays = drawn("lstm", layers, 1 + bidirectional, projection=projection)
    attrs = {"num_layers": layers, "bidirectional": bidirectional, "projection_size": projection}
    check(arrays, lengths=lengths, mode="lstm", **attrs)


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("projection", [None, 4])
@pytest.mark.parametrize("lengths", [None, np.array([3, 5, 0, 9], "int32")])
def test_clipped_states(lengths, projection, nan):
    arrays = drawn("lstm", 2, 2, projection=projection)
    attrs = {"mode": "lstm", "num_layers": 2, "bidirectional": True, "projection_size": projection}
    bounds = {"lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.2}
    check(arrays, lengths=lengths, **attrs, **bounds, lstm_state_clip_nan=nan)
    cells = run(arrays, lengths, GPU, **attrs, **bounds)[2]
    if lengths is None:
        assert cells.min() == -0.1
        assert cells.max() == 0.2


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_clipped_states_are_no_copy(dtype):
    """Also of NaN, which is kept or becomes the lower bound."""
    arrays = [mx.nd.array(v, ctx=GPU, dtype=dtype) for v in drawn("lstm", 1, 1, dtype)]
    arrays[3][:, 0] = np.nan
    attrs = {"state_size": HIDDEN, "num_layers": 1, "mode": "lstm", "state_outputs": True}
    bounds = {"lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.2}
    for nan in (False, True):
        cells = mx.nd.RNN(*arrays, **attrs, **bounds, lstm_state_clip_nan=nan)[2].asnumpy()
        assert np.isnan(cells[:, 0]).all() != nan
        assert np.abs(cells[:, 1:]).max() <= 0.2001
        if is_chosen():
            assert work_of(mx.nd.RNN, *arrays, **attrs, **bounds) == (STEPS, 0)


@pytest.mark.parametrize("mode", CELLS)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-2)])
def test_narrower_types(mode, dtype, tolerance):
    arrays, attrs = drawn(mode, 2, 1, dtype), {"mode": mode, "num_layers": 2}
    wide = [values.astype("float64") for values in arrays]
    for result, wanted in zip(
        run(arrays, None, GPU, **attrs), run(wide, None, mx.cpu(), **attrs), strict=True
    ):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", ["gru", "lstm"])
def test_products_of_our_own(mode, monkeypatch):
    """Our products, which run without cuBLAS."""
    monkeypatch.setattr(recurrent, "is_open", lambda: False)
    arrays = drawn(mode, 2, 2)
    arrays[0] = np.concatenate([arrays[0]] * 17, axis=1)  # more rows than a tile has
    arrays[2:] = [np.concatenate([a] * 17, axis=1) for a in arrays[2:]]
    check(arrays, mode=mode, num_layers=2, bidirectional=True)


def test_prediction():
    """Nothing is saved in prediction."""
    arrays = drawn("lstm", 2, 2)
    results = []
    for ctx in (mx.cpu(), GPU):
        before = launches()
        given = [mx.nd.array(values, ctx=ctx, dtype=values.dtype) for values in arrays]
        out = mx.nd.RNN(*given, state_size=HIDDEN, num_layers=2, mode="lstm", bidirectional=True)
        results.append(out.asnumpy())
    assert launches() - before == 2 * 2 * STEPS  # besides cuBLAS: one per step and direction
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12, atol=1e-12)


def test_a_projection_is_one_more_product():
    arrays = drawn("lstm", 1, 1, projection=4)
    given = [mx.nd.array(values, ctx=GPU, dtype=values.dtype) for values in arrays]
    before = launches()
    attrs = {"state_size": HIDDEN, "num_layers": 1, "mode": "lstm", "projection_size": 4}
    mx.nd.RNN(*given, **attrs).wait_to_read()
    assert launches() - before == STEPS + 1  # one more for the last hidden state


def test_dropout():
    """Masks are drawn on the device, and repeat with the seed."""
    arrays = [mx.nd.array(v, ctx=GPU, dtype=v.dtype) for v in drawn("gru", 2, 1)]
    arrays[1][:] = 0
    arrays[1][-HIDDEN:] = 1  # the last bias of the second layer
    attrs = {"state_size": HIDDEN, "num_layers": 2, "mode": "gru"}
    with mx.autograd.train_mode():
        kept = mx.nd.RNN(*arrays, p=0.5, **attrs).asnumpy()
    np.testing.assert_array_equal(kept, mx.nd.RNN(*arrays, **attrs).asnumpy())
    for number, values in enumerate(drawn("gru", 2, 1)):
        arrays[number][:] = mx.nd.array(values, ctx=GPU, dtype="float64")
    seen = []
    for _ in range(3):
        mx.random.seed(len(seen) // 2)
        with mx.autograd.train_mode():
            seen.append(mx.nd.RNN(*arrays, p=0.5, **attrs).asnumpy())
    np.testing.assert_array_equal(seen[0], seen[1])
    assert np.abs(seen[0] - seen[2]).max() > 1e-3


def test_gradient_of_dropout():
    """By finite differences: the same seed draws the same masks."""
    values = drawn("lstm", 2, 2)
    attrs = {"state_size": HIDDEN, "num_layers": 2, "mode": "lstm", "bidirectional": True}

    def loss(x):
        arrays = [mx.nd.array(v, ctx=GPU, dtype="float64") for v in (x, *values[1:])]
        arrays[0].attach_grad()
        mx.random.seed(3)
        with mx.autograd.record():
            total = (mx.nd.RNN(*arrays, p=0.3, **attrs) ** 2).sum()
        total.backward()
        return float(total.asscalar()), arrays[0].grad.asnumpy()

    _, gradient = loss(values[0])
    for place in [(0, 0, 0), (2, 1, 2), (4, 3, 1)]:
        above, below = values[0].copy(), values[0].copy()
        above[place] += 1e-6
        below[place] -= 1e-6
        slope = (loss(above)[0] - loss(below)[0]) / 2e-6
        assert abs(slope - gradient[place]) < 1e-6 * max(1, abs(slope))


def test_layers_of_gluon_train_as_on_the_cpu():
    losses = []
    for ctx in (mx.cpu(), GPU):
        rng = np.random.default_rng(0)
        net = mx.gluon.rnn.LSTM(8, num_layers=2, bidirectional=True, input_size=4)
        net.initialize(mx.init.Zero(), ctx=ctx)
        for parameter in net.collect_params().values():
            parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape) / 3))
        net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        x = mx.nd.array(rng.standard_normal((6, 3, 4)), ctx=ctx)
        losses.append([])
        for _ in range(4):
            with mx.autograd.record():
                loss = ((net(x) - 0.5) ** 2).mean()
            loss.backward()
            trainer.step(1)
            losses[-1].append(float(loss.asscalar()))
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    assert losses[1][-1] < losses[1][0]
