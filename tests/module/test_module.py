"""Module: states, shapes, parameters, files and errors."""

import collections
import logging
import os
import warnings

import numpy as np
import pytest

import mxcy as mx

DATA = np.random.RandomState(0).randn(50, 5).astype("float32")
LABEL = DATA.argmax(axis=1) % 3


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="relu"), num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def batches(batch_size=10):
    return mx.io.NDArrayIter(DATA, LABEL, batch_size)


def batch(count, width=5):
    return mx.io.DataBatch([mx.nd.array(DATA[:count, :width])], [mx.nd.array(LABEL[:count])])


def ready(devices=1, initializer=None, **kwargs):
    """A module bound to batches of ten, with parameters."""
    mod = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(devices)], **kwargs)
    mod.bind([("data", (10, 5))], [("softmax_label", (10,))])
    mx.random.seed(1)
    mod.init_params(initializer or mx.init.Xavier())
    return mod


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
def test_what_a_ready_module_refuses(call, message):
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
    found = mod.score(
        batches(20),
        ["acc", "ce"],
        batch_end_callback=lambda param: seen.append(param.nbatch),
        score_end_callback=[lambda param: seen.append(("end", param.nbatch, param.epoch))],
        epoch=4,
    )
    assert [name for name, _ in found] == ["accuracy", "cross-entropy"]
    assert seen == [0, 1, 2, ("end", 3, 4)]


def test_setting_parameters():
    mod = ready()
    arg_params, aux_params = mod.get_params()
    with pytest.raises(RuntimeError, match="is not presented"):
        mod.set_params({"fc1_weight": mx.nd.ones((8, 5))}, {})
    mod.set_params({"fc1_weight": mx.nd.ones((8, 5))}, {}, allow_missing=True)
    assert mod.get_params()[0]["fc1_weight"].asnumpy().sum() == 40
    extra = {**arg_params, "other": mx.nd.zeros(1)}
    mod.set_params(extra, aux_params)  # as in the original, which only looks at its own names
    with pytest.raises(ValueError, match='Find name "other" that is not in the arguments'):
        mod.set_params(extra, {}, allow_missing=True)
    mod.set_params(extra, {}, allow_missing=True, allow_extra=True)
    with pytest.raises(mx.MXNetError, match="shape"):
        mod.set_params({"fc1_weight": mx.nd.ones((8, 6))}, {}, allow_missing=True)


def test_what_is_done_already_is_left_alone(caplog):
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


def test_fixed_parameters_have_no_gradient():
    mod = ready(fixed_param_names=["fc1_weight"], initializer=mx.init.One())
    mod.init_optimizer()
    mod.forward_backward(batch(10))
    mod.update()
    names = [n for n in mod._exec_group.arg_names if n in mod._param_names]
    missing = [n for n, g in zip(names, mod._exec_group.grad_arrays, strict=True) if g[0] is None]
    assert missing == ["fc1_weight"]
    assert (mod.get_params()[0]["fc1_weight"].asnumpy() == 1).all()


def test_sharing_parameters_and_optimizer():
    first = ready()
    first.init_optimizer()
    second = mx.mod.Module(network())
    second.bind([("data", (3, 5))], [("softmax_label", (3,))], shared_module=first)
    assert second.optimizer_initialized and second._optimizer is first._optimizer
    second.forward_backward(batch(3))
    second.update()
    np.testing.assert_array_equal(
        first._exec_group.param_arrays[0][0].asnumpy(),
        second._exec_group.param_arrays[0][0].asnumpy(),
    )
    wider = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=9, name="fc1")
    third = mx.mod.Module(wider, label_names=None)
    with pytest.raises(AssertionError, match="fc1_weight has shape"):
        third.bind([("data", (3, 5))], shared_module=first)


@pytest.mark.parametrize("devices", [1, 2])
def test_checkpoints_with_the_states_of_the_optimizer(tmp_path, monkeypatch, devices):
    """A loaded module goes on as the saved one does."""
    monkeypatch.chdir(tmp_path)
    settings = {"optimizer": "sgd", "optimizer_params": {"learning_rate": 0.1, "momentum": 0.9}}
    mod = ready(devices)
    mod.init_optimizer(**settings)
    mod.forward_backward(batch(10))
    mod.update()
    mod.save_checkpoint("net", 7, save_optimizer_states=True)
    assert sorted(os.listdir()) == ["net-0007.params", "net-0007.states", "net-symbol.json"]
    again = mx.mod.Module.load(
        "net", 7, load_optimizer_states=True, context=[mx.cpu(i) for i in range(devices)]
    )
    again.bind([("data", (10, 5))], [("softmax_label", (10,))])
    again.init_optimizer(**settings)
    for one in (mod, again):
        one.forward_backward(batch(10))
        one.update()
    for name, array in mod.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), again.get_params()[0][name].asnumpy())


def test_files_of_parameters(tmp_path):
    file, mod = str(tmp_path / "net.params"), ready()
    mod.save_params(file)
    assert sorted(mx.nd.load(file)) == [
        "arg:fc1_bias",
        "arg:fc1_weight",
        "arg:fc2_bias",
        "arg:fc2_weight",
    ]
    other = ready(initializer=mx.init.One())
    other.load_params(file)
    np.testing.assert_array_equal(
        other.get_params()[0]["fc1_weight"].asnumpy(), mod.get_params()[0]["fc1_weight"].asnumpy()
    )
    mx.nd.save(file, {"fc1_weight": mx.nd.ones(1)})
    with pytest.raises(ValueError, match="Invalid param file"):
        mod.load_params(file)


def test_model_functions(tmp_path, caplog):
    prefix, mod = str(tmp_path / "net"), ready()
    with caplog.at_level(logging.INFO):
        mx.model.save_checkpoint(prefix, 3, mod.symbol, *mod.get_params())
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-0003.params"']
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 3)
    assert symbol.tojson() == mod.symbol.tojson() and aux_params == {}
    assert sorted(arg_params) == sorted(mod.get_params()[0])
    assert sorted(mx.model.load_params(prefix, 3)[0]) == sorted(arg_params)
    with pytest.raises(mx.MXNetError):
        mx.model.load_checkpoint(prefix, 4)
    mx.nd.save(f"{prefix}-0005.params", {})
    assert mx.model.load_params(prefix, 5) == ({}, {})
    assert "is empty" in caplog.text


def test_stores():
    mod = ready(devices=2)
    for store, kind, on_store in (
        ("local", "local", True),
        ("device", "device", True),
        (None, None, False),
        (mx.kv.create("device"), "device", True),
        ("teststore", "teststore", False),
    ):
        mod.init_optimizer(kvstore=store, force_init=True)
        assert (mod._kvstore.type if mod._kvstore else None) == kind
        assert (mod._updater is None) == on_store
        mod.forward_backward(batch(10))
        mod.update()
    with pytest.raises(TypeError, match="kvstore must be KVStore, str or None"):
        mod.init_optimizer(kvstore=5, force_init=True)
    assert ready()._kvstore is None


def test_the_store_can_be_kept_from_updating(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    mod = ready(devices=2)
    mod.init_optimizer(kvstore="device")
    assert mod._kvstore is not None and mod._updater is not None


def test_compressed_gradients_reach_the_store():
    mod = ready(devices=2, compression_params={"type": "2bit", "threshold": 1e-3})
    mod.init_optimizer(kvstore="device", optimizer_params={"learning_rate": 1.0})
    before = mod.get_params()[0]["fc2_bias"].asnumpy()
    mod.forward_backward(batch(10))
    mod.update()
    steps = (mod.get_params()[0]["fc2_bias"].asnumpy() - before) / (1e-3 / 10)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-2)


def test_own_optimizers_are_warned_about():
    mod = ready()
    with pytest.warns(UserWarning, match="rescale_grad is not normalized"):
        mod.init_optimizer(optimizer=mx.optimizer.SGD())
    assert mod._optimizer.idx2name[0] == "fc1_weight"
    mod.init_optimizer(optimizer=mx.optimizer.SGD(rescale_grad=0.1), force_init=True)
    with pytest.raises(ValueError, match="Cannot find optimizer none"):
        mod.init_optimizer(optimizer="none", force_init=True)
    with pytest.raises(AssertionError, match="a name or an Optimizer"):
        mod.init_optimizer(optimizer=5, force_init=True)


def test_rates_of_single_weights():
    weight = mx.sym.var("w_weight", lr_mult=0.0)
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=3, name="fc")
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    mod.fit(batches(), num_epoch=1, initializer=mx.init.One())
    assert (mod.get_params()[0]["w_weight"].asnumpy() == 1).all()
    assert (mod.get_params()[0]["fc_bias"].asnumpy() != 0).any()


def test_initializers_of_single_weights():
    weight = mx.sym.var("w", init=mx.init.Constant(5))
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=3, name="fc")
    mod = mx.mod.Module(x, label_names=None)
    mod.bind([("data", (2, 5))])
    mod.init_params(mx.init.One())
    assert (mod.get_params()[0]["w"].asnumpy() == 5).all()


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


def test_what_fit_logs(caplog):
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


def test_layouts_decide_what_is_divided():
    """Time before batch: the second axis is cut."""
    x = mx.sym.sum(mx.sym.var("data"), axis=(0, 2))
    mod = mx.mod.Module(x, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    mod.bind([mx.io.DataDesc("data", (3, 4, 2), layout="TNC")], for_training=False)
    mod.init_params()
    mod.forward(mx.io.DataBatch([mx.nd.arange(24).reshape((3, 4, 2))]))
    expected = np.arange(24).reshape(3, 4, 2).sum(axis=(0, 2))
    np.testing.assert_array_equal(mod.get_outputs()[0].asnumpy(), expected)


def test_what_modules_do_not_define():
    base = mx.mod.BaseModule()
    for name in ("data_names", "output_shapes"):
        with pytest.raises(NotImplementedError, match=f"BaseModule has no {name}"):
            getattr(base, name)
    with pytest.raises(NotImplementedError, match="BaseModule has no forward"):
        base.forward(None)
    with pytest.warns(UserWarning, match="sparse_row_id_fn"):
        base.prepare(None, sparse_row_id_fn=lambda one: one)
