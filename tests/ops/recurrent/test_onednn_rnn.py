"""Recurrent layers by oneDNN against the reference."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy._library import front, onednn
from mxcy.base import MXNetError
from mxcy.ops.core.record import find
from mxcy.ops.recurrent.cells import CELLS
from mxcy.ops.recurrent.rnn import STRUCT
from tests.ops.kernel_call import query_kernel, run_kernel

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

STEPS, BATCH, INPUTS, HIDDEN = 8, 64, 5, 12


def problem(mode, layers, directions, batch=BATCH):
    """The attributes, inputs and extents of a call."""
    cell, rng = CELLS[mode], np.random.default_rng(7)
    sources = [INPUTS] + [directions * HIDDEN] * (layers - 1)
    count = sum(directions * cell.gates * HIDDEN * (n + HIDDEN + 2) for n in sources)
    states = (layers * directions, batch, HIDDEN)
    shapes = [(STEPS, batch, INPUTS), (count,), states] + [states] * cell.has_cell
    attrs = {
        "mode": mode,
        "state_size": HIDDEN,
        "num_layers": layers,
        "state_outputs": True,
        "bidirectional": directions == 2,
    }
    return attrs, [rng.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes]


def reference(attrs, ins):
    """The outputs of the reference in float64, without what is saved."""
    wide = tuple(mx.nd.array(x, dtype="float64") for x in ins)
    outs, _ = front.execute(find("RNN"), wide, attrs, kernel="ref")
    return [out.asnumpy() for out in outs[:-1]]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layers, directions", [(1, 1), (1, 2), (3, 1), (3, 2)])
@pytest.mark.parametrize("mode", CELLS)
def test_layers(mode, layers, directions, threads):
    attrs, ins = problem(mode, layers, directions, batch=3)
    want = reference(attrs, ins)
    cell = CELLS[mode]
    params = STRUCT.pack(
        mode=cell.number,
        gates=cell.gates,
        extra=cell.has_extra,
        steps=STEPS,
        batch=3,
        inputs=INPUTS,
        hidden=HIDDEN,
        projection=0,
        layers=layers,
        directions=directions,
        saves=0,
        lengths=0,
        panels=0,
        clips=0,
        low=0.0,
        high=0.0,
        drop=0.0,
    )
    outs = [np.full(x.shape, np.nan, np.float32) for x in want] + [np.empty(0, np.float32)]
    assert query_kernel("rnn_onednn", ins, outs, params) == 1
    workspace = query_kernel("rnn_onednn", ins, outs, params, "workspace")
    run_kernel("rnn_onednn", ins, outs, params, threads=threads, workspace=workspace)
    for actual, expected in zip(outs, want, strict=False):
        np.testing.assert_allclose(actual, expected, atol=5e-6)


@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_taken_in_prediction(mode):
    attrs, ins = problem(mode, 2, 1)
    arrays = tuple(mx.nd.array(x) for x in ins)
    outs, ran = front.execute(find("RNN"), arrays, attrs)
    assert ran == "rnn_onednn" and outs[-1].size == 0
    for actual, expected in zip(outs, reference(attrs, ins), strict=False):
        np.testing.assert_allclose(actual.asnumpy(), expected, atol=5e-6)


def test_onednn_is_not_used_in_training_and_where_slower():
    attrs, ins = problem("lstm", 1, 1)
    arrays = tuple(mx.nd.array(x) for x in ins)
    outs, ran = front.execute(find("RNN"), arrays, attrs, train=True)
    assert ran == "rnn" and outs[-1].size > 0
    for mode, directions, batch in (("rnn_tanh", 1, 64), ("lstm", 2, 64), ("gru", 1, 4)):
        attrs, ins = problem(mode, 1, directions, batch)
        arrays = tuple(mx.nd.array(x) for x in ins)
        with pytest.raises(MXNetError, match="rnn_onednn refused: not unidirectional"):
            front.execute(find("RNN"), arrays, attrs, kernel="rnn_onednn")


def test_gradients_of_prediction_are_those_of_training():
    attrs, ins = problem("gru", 2, 1)
    collected = []
    for training in (False, True):
        arrays = [mx.nd.array(x) for x in ins]
        for array in arrays:
            array.attach_grad()
        with autograd.record(train_mode=training):
            out, state = mx.nd.RNN(*arrays, **attrs)
            loss = (out * out).sum() + state.sum()
        loss.backward()
        collected.append([array.grad.asnumpy() for array in arrays])
    for predicted, trained in zip(*collected, strict=True):
        scale = np.abs(trained).max()
        np.testing.assert_allclose(predicted / scale, trained / scale, atol=1e-5)
