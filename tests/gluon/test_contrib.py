"""`gluon.contrib` and some layers match MXNet 1.9.1 (golden/contrib.json.gz)."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import contrib

GOLDEN = Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from contrib import (  # noqa: E402
    CELLS,
    CTC,
    LAYERS,
    STACKS,
    UNROLLED,
    ctc,
    estimated,
    hooked,
    layer,
    parameters,
    unrolled,
    unrolled_names,
)

sys.path.remove(str(GOLDEN))
CONTENT = json.loads(gzip.decompress((GOLDEN / "contrib.json.gz").read_bytes()))


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    actual, expected = layer(mx, name), CONTENT["layers"][name]
    assert actual["parameters"] == expected["parameters"]
    for mode in ("training", "inference", "gradient"):
        # MXNet's own gradient of selu is not quite that of selu.
        rtol = 0.02 if (name, mode) == ("selu", "gradient") else 1e-5
        np.testing.assert_allclose(actual[mode], expected[mode], rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("name", STACKS)
def test_parameters_are_named_as_in_mxnet(name):
    assert parameters(mx, name) == CONTENT["parameters"][name]


@pytest.mark.parametrize("name", UNROLLED)
def test_dynamic_unroll(name):
    for actual, expected in zip(unrolled(mx, name), CONTENT["unrolled"][name], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_operators_of_unrolled_cells_are_named_as_in_mxnet(name):
    (outputs, operators), expected = unrolled_names(mx, name), CONTENT["names"][name]
    assert outputs == expected[0]
    if name not in ("gru", "lstmp", "conv_lstm"):  # some operators without names differ there
        assert operators == expected[1]


def test_dropout_draws_as_often_as_the_outputs_are_apart():
    cell, x = mx.gluon.rnn.DropoutCell(0.5), mx.nd.ones((2, 3, 4))
    steps = [x[:, i] for i in range(3)]
    with mx.autograd.train_mode():
        for inputs, merge, kind in (
            (x, None, mx.nd.NDArray),
            (x, False, list),
            (steps, None, list),
            (steps, True, mx.nd.NDArray),
            (x, True, mx.nd.NDArray),
        ):
            outputs, states = cell.unroll(3, inputs, merge_outputs=merge)
            assert isinstance(outputs, kind) and states == []


def test_dynamic_unroll_in_graphs_serves_any_length():
    cell = contrib.rnn.LSTMPCell(4, 3, input_size=2)
    cell.initialize(mx.init.Normal(1))
    names = ("data", "h", "c")
    data, *states = (mx.sym.var(name) for name in names)
    outputs, states = contrib.rnn.rnn_cell.dynamic_unroll(cell, data, states)
    block = mx.gluon.SymbolBlock(
        [outputs, *states], [mx.sym.var(name) for name in names], params=cell.collect_params()
    )
    for length in (1, 4):
        inputs, begin = mx.nd.random.uniform(shape=(length, 2, 2)), cell.begin_state(2)
        actual, *_ = block(inputs, *begin)
        expected, _ = cell.unroll(length, inputs, layout="TNC", merge_outputs=True)
        np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_dropout_of_dynamic_unroll_is_the_same_at_all_steps():
    cell = mx.gluon.rnn.ResidualCell(mx.gluon.rnn.RNNCell(6, input_size=6))
    cell.initialize(mx.init.Zero())
    inputs = mx.nd.ones((2, 5, 6))
    with mx.autograd.train_mode():
        outputs, _ = contrib.rnn.rnn_cell.dynamic_unroll(
            cell, inputs, cell.begin_state(2), drop_inputs=0.5, layout="NTC"
        )
    actual = outputs.asnumpy()
    assert set(np.unique(actual)) == {0, 2}
    assert (actual == actual[:, :1]).all()


@pytest.mark.parametrize("name", ["estimated", "resumed"])
def test_estimator(name):
    actual, expected = estimated(mx, name == "resumed"), CONTENT[name]
    assert actual["names"] == expected["names"]
    assert actual["files"] == expected["files"]
    assert actual["lines"] == expected["lines"]
    np.testing.assert_allclose(actual["values"], expected["values"], rtol=1e-5)
    np.testing.assert_allclose(actual["weight"], expected["weight"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("monitor_all", [False, True])
def test_hooks_of_operators(monitor_all):
    expected = CONTENT["hooked"][str(monitor_all)]
    assert hooked(mx, monitor_all) == expected


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", CTC)
def test_loss_of_sequences(name, hybridize):
    for actual, expected in zip(ctc(mx, name, hybridize), CONTENT["ctc"][name], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="layouts for pred"):
        mx.gluon.loss.CTCLoss("CTN")
    with pytest.raises(AssertionError, match="layouts for label"):
        mx.gluon.loss.CTCLoss(label_layout="N")


def test_losses_have_the_names_of_their_arguments():
    pred, label = mx.nd.array([[1.0, 2]]), mx.nd.array([[0.0, 4]])
    loss = mx.gluon.loss.L1Loss()
    assert loss.forward(pred=pred, label=label).asnumpy().tolist() == [1.5]
    weighted = loss.forward(pred, label, sample_weight=mx.nd.array([[2.0]]))
    assert weighted.asnumpy().tolist() == [3]


def test_names_lead_to_the_same_cells():
    assert contrib.rnn.Conv2DLSTMCell is mx.gluon.rnn.Conv2DLSTMCell
    assert contrib.rnn.VariationalDropoutCell is mx.gluon.rnn.VariationalDropoutCell
    assert contrib.cnn.DeformableConvolution is mx.gluon.nn.DeformableConvolution
    assert contrib.data.IntervalSampler is mx.gluon.data.IntervalSampler
    assert mx.gluon.rnn.conv_rnn_cell.Conv1DRNNCell is mx.gluon.rnn.Conv1DRNNCell


WORDS = " = Title = \n\n a b a c \n a b \n"


def test_wikitext(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "nowhere"))
    with pytest.raises(mx.MXNetError, match="wikitext-2-v1.zip.*MXNET_GLUON_REPO"):
        contrib.data.text.WikiText2(root=str(tmp_path))
    with pytest.raises(ValueError, match="segment must be one of train, validation, test"):
        contrib.data.text.WikiText103(root=str(tmp_path), segment="all")
    (tmp_path / "wiki.valid.tokens").write_text(WORDS)
    actual = contrib.data.text.WikiText2(root=str(tmp_path), segment="validation", seq_len=3)
    assert actual.frequencies["a"] == 3
    words = actual.vocabulary
    assert words.idx_to_token == ["<unk>", "<eos>", "a", "=", "b", "Title", "c"]
    assert len(actual) == 3
    data, label = actual[1]
    assert words.to_tokens(data.asnumpy().tolist()) == ["<eos>", "a", "b"]
    assert words.to_tokens(label.asnumpy().tolist()) == ["a", "b", "a"]
    other = mx.contrib.text.vocab.Vocabulary({"a": 1})
    actual = contrib.data.text.WikiText2(str(tmp_path), "validation", other, 3)
    assert actual.frequencies is None
    assert actual[1][0].asnumpy().tolist() == [0, 1, 0]
