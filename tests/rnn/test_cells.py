"""Cells of mx.rnn beyond golden values: training, sharing, checkpoints, errors."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError


def bound(symbol, **shapes):
    """An executor with random arguments."""
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    mx.random.seed(1)
    for array in executor.arg_arrays:
        array[:] = mx.nd.random.uniform(-1, 1, array.shape)
    return executor


@pytest.mark.parametrize("mode", ["rnn_relu", "rnn_tanh", "lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_unfused_cells_compute_what_the_fused_one_does(mode, bidirectional):
    fused = mx.rnn.FusedRNNCell(4, 2, mode, bidirectional, prefix="x_")
    outputs, _ = fused.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)
    assert fused._num_gates == len(fused._gate_names) == {"lstm": 4, "gru": 3}.get(mode, 1)
    one = bound(outputs, data=(3, 2, 5))
    apart = fused.unfuse()
    outputs, _ = apart.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)
    two = outputs.simple_bind(mx.cpu(), data=(3, 2, 5))
    two.copy_params_from(apart.pack_weights(fused.unpack_weights(one.arg_dict)))
    np.testing.assert_allclose(
        one.forward()[0].asnumpy(), two.forward()[0].asnumpy(), rtol=1e-5, atol=1e-6
    )


def test_checkpoints_exchange_fused_and_single_cells(tmp_path):
    fused = mx.rnn.FusedRNNCell(4, 2, "lstm", prefix="x_")
    outputs, _ = fused.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)
    executor = bound(outputs, data=(3, 2, 5))
    prefix = str(tmp_path / "net")
    parameters = {k: v for k, v in executor.arg_dict.items() if k == "x_parameters"}
    callback = mx.rnn.do_rnn_checkpoint(fused, prefix, period=2)
    callback(0, outputs, parameters, {})
    assert [*tmp_path.iterdir()] == []
    callback(1, outputs, parameters, {})
    assert "x_l1_h2h_f_bias" in mx.model.load_params(prefix, 2)[0]
    symbol, arguments, states = mx.rnn.load_rnn_checkpoint([fused], prefix, 2)
    assert symbol.tojson() == outputs.tojson() and states == {}
    np.testing.assert_array_equal(
        arguments["x_parameters"].asnumpy(), parameters["x_parameters"].asnumpy()
    )
    _, arguments, _ = mx.rnn.load_rnn_checkpoint(fused.unfuse(), prefix, 2)
    assert sorted(arguments)[0] == "x_l0_h2h_bias" and len(arguments) == 8


def test_begin_state_takes_other_makers():
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(3), 0.1))
    states = cell.begin_state(func=mx.sym.var)
    assert [state.name for state in states] == ["lstm_begin_state_0", "lstm_begin_state_1"]
    outputs, _ = cell.unroll(2, mx.sym.var("data"), begin_state=states, merge_outputs=True)
    assert "lstm_begin_state_0" in outputs.list_arguments()


def test_zoneout_keeps_some_outputs_of_the_step_before():
    cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(50), zoneout_outputs=0.5)
    outputs, _ = cell.unroll(2, mx.sym.var("data"))
    executor = bound(mx.sym.Group(outputs), data=(4, 2, 3))
    first, second = (output.asnumpy() for output in executor.forward(is_train=True))
    assert 0.3 < (first == 0).mean() < 0.7
    assert 0.3 < (first == second).mean() < 0.7
    assert (executor.forward(is_train=False)[0].asnumpy() != 0).all()


def test_invalid_arguments_raise():
    lstm = mx.rnn.LSTMCell(3)
    with pytest.raises(MXNetError, match="expected 3 steps, got 2"):
        lstm.unroll(3, [mx.sym.var("a"), mx.sym.var("b")])
    with pytest.raises(MXNetError, match="group of symbols"):
        lstm.unroll(2, mx.sym.Group([mx.sym.var("a"), mx.sym.var("b")]))
    with pytest.raises(MXNetError, match="inputs are required"):
        lstm.unroll(2, None)
    mx.rnn.ResidualCell(lstm)
    with pytest.raises(MXNetError, match="LSTMCell is modified"):
        lstm.begin_state()
    with pytest.raises(MXNetError, match="FusedRNNCell has no steps"):
        mx.rnn.ZoneoutCell(mx.rnn.FusedRNNCell(3))
    both = mx.rnn.BidirectionalCell(mx.rnn.GRUCell(3, "l_"), mx.rnn.GRUCell(3, "r_"))
    with pytest.raises(MXNetError, match="SequentialRNNCell has no steps"):
        stack = mx.rnn.SequentialRNNCell()
        stack.add(both)
        mx.rnn.ZoneoutCell(stack)
    with pytest.raises(MXNetError, match="not to both"):
        mx.rnn.BidirectionalCell(lstm, lstm, params=mx.rnn.RNNParams())
    with pytest.raises(MXNetError, match="odd"):
        mx.rnn.ConvRNNCell((1, 1, 4, 4), 2, h2h_kernel=(2, 3))
    with pytest.raises(MXNetError, match="does not fit"):
        mx.rnn.FusedRNNCell(3).unpack_weights({"lstm_parameters": mx.nd.zeros(10)})
    with pytest.raises(MXNetError, match="mode must be one of"):
        mx.rnn.FusedRNNCell(3, mode="lstn")


def test_unsupported_unrolling():
    both = mx.rnn.BidirectionalCell(mx.rnn.GRUCell(3, "l_"), mx.rnn.GRUCell(3, "r_"))
    for cell in (both, mx.rnn.FusedRNNCell(3)):
        with pytest.raises(NotImplementedError, match="unroll"):
            cell(mx.sym.var("data"), [])


def test_unknown_words():
    vocab = {"\n": 0, "a": 1}
    with pytest.raises(AssertionError, match="Unknown token b"):
        mx.rnn.encode_sentences([["a", "b"]], vocab)
    encoded, _ = mx.rnn.encode_sentences([["a", "b"]], vocab, unknown_token="?", start_label=5)
    assert encoded == [[1, 5]] and vocab["?"] == 5


def test_sentences_without_a_bucket(capsys):
    batches = mx.rnn.BucketSentenceIter([[1, 2]] * 4 + [[1] * 9], 2)
    assert "discarded 1 sentences" in capsys.readouterr().out
    assert batches.buckets == [2]
    assert [batch.bucket_key for batch in batches] == [2, 2]
    with pytest.raises(ValueError, match="layout"):
        mx.rnn.BucketSentenceIter([[1, 2]] * 4, 2, layout="N")
    with pytest.raises(ValueError, match="no sentence fits"):
        mx.rnn.BucketSentenceIter([[1] * 9], 2, buckets=[3])


def test_long_name_of_unroll():
    cell = mx.rnn.RNNCell(3)
    with pytest.warns(DeprecationWarning, match="cell.unroll"):
        outputs, _ = mx.rnn.rnn_unroll(cell, 2, mx.sym.var("data"))
    assert [output.name for output in outputs] == ["rnn_t0_out", "rnn_t1_out"]
