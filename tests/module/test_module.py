"""Module: states, shapes, batches and errors."""

import collections
import logging
import warnings

import numpy as np
import pytest

import mxcy as mx
from tests.module.modules import DATA, LABEL, batch, batches, network, ready


def test_names_and_shapes():
    mod = ready()
    assert mod.data_names == ["data"] and mod.label_names == ["softmax_label"]
    assert mod.output_names == ["softmax_output"]
    assert mod.data_shapes == [("data", (10, 5))]
    assert mod.label_shapes == [("softmax_label", (10,))]
    assert mod.output_shapes == [("softmax_output", (10, 3))]
    assert ready(devices=2).output_shapes == [("softmax_output", (10, 3))]
    assert mod.symbol.list_outputs() == mod.output_names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mod: mod.forward(batch(10)), "not bound"),
        (lambda mod: mod.init_params(), "call bind before initializing the parameters"),
        (lambda mod: mod.get_params(), "not bound"),
        (lambda mod: mod.data_shapes, "not bound"),
        (lambda mod: mod.update(), "not bound"),
        (lambda mod: mod.reshape([("data", (1, 5))]), "not bound"),
        (lambda mod: mod.install_monitor(None), "not bound"),
        (lambda mod: mod.score(batches(), "acc"), "not bound"),
    ],
)
def test_nothing_works_before_bind(call, message):
    with pytest.raises(AssertionError, match=message):
        call(mx.mod.Module(network()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mod: mod.update(), "call init_optimizer first"),
        (lambda mod: mod.get_input_grads(), "inputs_need_grad=True"),
        (lambda mod: mod.borrow_optimizer(ready()), "no optimizer to borrow"),
        (lambda mod: mod.get_states(), "do not merge"),
        (lambda mod: mod.set_states(), "either states or a value"),
        (lambda mod: mod.fit(batches()), "please specify number of epochs"),
        (lambda mod: mod.save_optimizer_states("x"), "call init_optimizer first"),
    ],
)
def test_invalid_calls_of_a_ready_module(call, message):
    with pytest.raises(AssertionError, match=message):
        call(ready())


def test_names_that_the_symbol_lacks():
    with pytest.raises(ValueError, match=r"data_names=\['x'\].*'x' is not found"):
        mx.mod.Module(network(), data_names=["x"])
    with pytest.warns(UserWarning, match="Did you mean one of:\n\tdata"):
        mx.mod.Module(network(), label_names=["y"])
    with pytest.raises(ValueError, match="fixed_param_names"):
        mx.mod.Module(network(), fixed_param_names=["fc9_weight"])


def test_shapes_for_other_names():
    mod = mx.mod.Module(network())
    with pytest.raises(ValueError, match="Data provided by data_shapes don't match names"):
        mod.bind([("x", (10, 5))], [("softmax_label", (10,))])
    with pytest.warns(UserWarning, match="Data provided by label_shapes don't match names"):
        mod.bind([("data", (10, 5))])
    assert mod.label_shapes is None and mod.binded


def test_batch_sizes_that_do_not_go_together():
    mod = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(3)])
    with pytest.raises(ValueError, match="Some splits are empty"):
        mod.bind([("data", (2, 5))], [("softmax_label", (2,))])
    with pytest.raises(AssertionError, match="all data must have the same batch size"):
        mod.bind([("data", (6, 5))], [("softmax_label", (5,))])
    with pytest.raises(AssertionError, match="for_training=True"):
        mod.bind([("data", (6, 5))], for_training=False, inputs_need_grad=True)
    with pytest.raises(AssertionError, match="work_load_list has 1 items for 2 contexts"):
        mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1])


def test_a_batch_is_divided_by_the_work_load():
    mod = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1, 4])
    mod.bind([("data", (10, 5))], [("softmax_label", (10,))])
    mod.init_params()
    mod.forward(batch(10))
    assert [array.shape for array in mod.get_outputs(False)[0]] == [(2, 3), (8, 3)]
    assert mod.get_outputs()[0].shape == (10, 3)
    assert [e.outputs[0].context for e in mod._exec_group.execs] == [mx.cpu(0), mx.cpu(1)]


def test_several_devices_compute_what_one_does():
    one, three = ready(), ready(devices=3)
    three.set_params(*one.get_params())
    for mod in (one, three):
        mod.init_optimizer(optimizer_params={"learning_rate": 0.5})
        mod.forward_backward(batch(10))
        mod.update()
    for name, array in one.get_params()[0].items():
        np.testing.assert_allclose(
            array.asnumpy(), three.get_params()[0][name].asnumpy(), atol=1e-6
        )
    np.testing.assert_allclose(
        one.predict(batches(20)).asnumpy(), three.predict(batches(20)).asnumpy(), atol=1e-6
    )


def test_one_batch_for_each_device():
    mod, whole = ready(devices=2), ready()
    whole.set_params(*mod.get_params())
    parts = [
        mx.io.DataBatch([mx.nd.array(DATA[rows])], [mx.nd.array(LABEL[rows])])
        for rows in (slice(0, 5), slice(5, 10))
    ]
    mod.forward(parts)
    whole.forward(batch(10))
    np.testing.assert_allclose(
        mod.get_outputs()[0].asnumpy(), whole.get_outputs()[0].asnumpy(), atol=1e-6
    )
    metric = mx.metric.Accuracy()
    mod.update_metric(metric, [part.label for part in parts], pre_sliced=True)
    assert metric.num_inst == 10


def test_other_batch_sizes_reshape():
    mod = ready()
    weight = mod._exec_group.param_arrays[0][0]
    mod.forward(batch(7), is_train=True)
    mod.backward()
    assert mod.get_outputs()[0].shape == (7, 3)
    assert mod.data_shapes == [("data", (7, 5))] and mod.label_shapes == [("softmax_label", (7,))]
    mod.reshape([("data", (20, 5))], [("softmax_label", (20,))])
    mod.forward(batch(20))
    assert mod.get_outputs()[0].shape == (20, 3)
    assert mod._exec_group.param_arrays[0][0] is weight


def test_shapes_that_would_change_parameters_are_refused_and_forgotten():
    mod = ready()
    with pytest.raises(mx.MXNetError):
        mod.forward(batch(7, width=3))
    assert mod.data_shapes == [("data", (10, 5))]
    mod.forward(batch(10))
    assert mod.get_outputs()[0].shape == (10, 3)


def test_prediction():
    mod = ready()
    assert mod.predict(batches(20)).shape == (50, 3)
    parts = mod.predict(batches(20), merge_batches=False)
    assert [outputs[0].shape for outputs in parts] == [(20, 3), (20, 3), (10, 3)]
    assert mod.predict(batches(20), num_batch=2).shape == (40, 3)
    assert isinstance(mod.predict(batches(), always_output_list=True), list)
    whole = mod.predict(batches()).asnumpy()
    np.testing.assert_allclose(mod.predict(DATA).asnumpy(), whole, atol=1e-6)
    np.testing.assert_allclose(mod.predict(mx.nd.array(DATA)).asnumpy(), whole, atol=1e-6)
    with pytest.raises(ValueError, match="eval_data must be of type NDArray or DataIter"):
        mod.predict(5)
    steps = [(n, b.pad) for _, n, b in mod.iter_predict(batches(20))]
    assert steps == [(0, 0), (1, 0), (2, 10)]


def test_prediction_needs_no_labels():
    with pytest.warns(UserWarning, match="label_shapes"):
        mod = mx.mod.Module(network())
        mod.bind([("data", (10, 5))], for_training=False)
    mod.init_params()
    with pytest.warns(UserWarning, match="label_shapes"):
        assert mod.predict(DATA).shape == (50, 3)
    with pytest.raises(AssertionError, match="re-bind with for_training=True"):
        mod.backward()


@pytest.mark.parametrize("label_names", [None, [], ["softmax_label"]])
def test_prediction_of_batches_that_have_nothing_but_data(label_names):
    """The batches of the pretrained model tutorial: ``namedtuple("Batch", ["data"])``."""
    one = collections.namedtuple("Batch", ["data"])
    trained = ready()
    mod = mx.mod.Module(network(), label_names=label_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about labels that are not bound
        mod.bind([("data", (2, 5))], label_shapes=mod._label_shapes, for_training=False)
    mod.set_params(*trained.get_params(), allow_missing=True)
    mod.forward(one([mx.nd.array(DATA[:2])]))
    expected = trained.predict(DATA).asnumpy()
    np.testing.assert_allclose(mod.get_outputs()[0].asnumpy(), expected[:2], atol=1e-6)
    features = mx.mod.Module(network().get_internals()["fc2_output"], label_names=None)
    features.bind([("data", (2, 5))], for_training=False)
    features.set_params(*trained.get_params())
    for count in (2, 1, 4):
        features.forward(one([mx.nd.array(DATA[:count])]))
        assert features.get_outputs()[0].shape == (count, 3)
    with_labels = ready()
    with_labels.forward(one([mx.nd.array(DATA[:4])]), is_train=False)
    np.testing.assert_allclose(with_labels.get_outputs()[0].asnumpy(), expected[:4], atol=1e-6)


def test_score():
    mod, seen = ready(), []
    actual = mod.score(
        batches(20),
        ["acc", "ce"],
        batch_end_callback=lambda param: seen.append(param.nbatch),
        score_end_callback=[lambda param: seen.append(("end", param.nbatch, param.epoch))],
        epoch=4,
    )
    assert [name for name, _ in actual] == ["accuracy", "cross-entropy"]
    assert seen == [0, 1, 2, ("end", 3, 4)]


def test_repeated_calls_without_force_do_nothing(caplog):
    mod = ready()
    before = mod.get_params()[0]["fc1_weight"].asnumpy()
    with pytest.warns(UserWarning, match="init_params call ignored"):
        mod.init_params(mx.init.One())
    with pytest.warns(UserWarning, match="set_params call ignored"):
        mod.set_params({}, {}, allow_missing=True, force_init=False)
    np.testing.assert_array_equal(mod.get_params()[0]["fc1_weight"].asnumpy(), before)
    mod.init_params(mx.init.One(), force_init=True)
    assert mod.get_params()[0]["fc1_weight"].asnumpy().sum() == 40
    with caplog.at_level(logging.WARNING):
        mod.bind([("data", (3, 5))])
        mod.init_optimizer()
        mod.init_optimizer()
    assert "Already bound" in caplog.text and "optimizer already initialized" in caplog.text
    assert mod.data_shapes == [("data", (10, 5))]


def test_binding_again_keeps_what_was_learned():
    mod = ready()
    mod.init_optimizer()
    mod.forward_backward(batch(10))
    mod.update()
    before = mod._exec_group.param_arrays[0][0].asnumpy()
    mod.bind([("data", (4, 5))], [("softmax_label", (4,))], force_rebind=True)
    np.testing.assert_array_equal(mod._exec_group.param_arrays[0][0].asnumpy(), before)


def test_states_stay_between_batches():
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc") + mx.sym.var("h")
    mod = mx.mod.Module(
        mx.sym.MakeLoss(hidden), label_names=None, state_names=["h"], context=[mx.cpu(0), mx.cpu(1)]
    )
    mod.bind([("data", (4, 5))])
    mod.init_params(mx.init.One())
    assert "h" not in mod.get_params()[0]
    mod.set_states(value=2)
    mod.forward(mx.io.DataBatch([mx.nd.ones((4, 5))]))
    assert (mod.get_outputs()[0].asnumpy() == 7).all()
    assert [a.shape for a in mod.get_states(merge_multi_context=False)[0]] == [(2, 3), (2, 3)]
    mod.set_states(states=[[mx.nd.zeros((2, 3))] * 2])
    mod.forward(mx.io.DataBatch([mx.nd.ones((4, 5))]))
    assert (mod.get_outputs()[0].asnumpy() == 5).all()


def test_log_of_fit(caplog):
    mod, seen = mx.mod.Module(network()), []
    with caplog.at_level(logging.INFO):
        mod.fit(
            batches(),
            eval_data=batches(),
            num_epoch=2,
            epoch_end_callback=lambda *arguments: seen.append(arguments),
            eval_end_callback=lambda param: seen.append(param.nbatch),
        )
    kinds = [message.split("=")[0] for message in caplog.messages]
    assert kinds == [
        f"Epoch[{epoch}] {what}"
        for epoch in range(2)
        for what in ("Train-accuracy", "Time cost", "Validation-accuracy")
    ]
    epoch, symbol, arg_params, aux_params = seen[0]
    assert epoch == 0 and symbol is mod.symbol and aux_params == {} and seen[1] == 5
    assert sorted(arg_params) == ["fc1_bias", "fc1_weight", "fc2_bias", "fc2_weight"]


def test_gradients_of_outputs():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, no_bias=True, name="fc")
    for devices in (1, 2):
        mod = mx.mod.Module(x, label_names=None, context=[mx.cpu(i) for i in range(devices)])
        mod.bind([("data", (4, 2))], inputs_need_grad=True)
        mod.init_params(mx.init.One())
        mod.forward(mx.io.DataBatch([mx.nd.ones((4, 2))]), is_train=True)
        mod.backward([mx.nd.array([[1], [2], [3], [4]])])
        expected = [[1, 1], [2, 2], [3, 3], [4, 4]]
        assert mod.get_input_grads()[0].asnumpy().tolist() == expected


def test_layouts_determine_the_batch_axis():
    """Time before batch: the second axis is split."""
    x = mx.sym.sum(mx.sym.var("data"), axis=(0, 2))
    mod = mx.mod.Module(x, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    mod.bind([mx.io.DataDesc("data", (3, 4, 2), layout="TNC")], for_training=False)
    mod.init_params()
    mod.forward(mx.io.DataBatch([mx.nd.arange(24).reshape((3, 4, 2))]))
    expected = np.arange(24).reshape(3, 4, 2).sum(axis=(0, 2))
    np.testing.assert_array_equal(mod.get_outputs()[0].asnumpy(), expected)


def test_undefined_methods():
    base = mx.mod.BaseModule()
    for name in ("data_names", "output_shapes"):
        with pytest.raises(NotImplementedError, match=f"BaseModule has no {name}"):
            getattr(base, name)
    with pytest.raises(NotImplementedError, match="BaseModule has no forward"):
        base.forward(None)
    with pytest.warns(UserWarning, match="sparse_row_id_fn"):
        base.prepare(None, sparse_row_id_fn=lambda one: one)
