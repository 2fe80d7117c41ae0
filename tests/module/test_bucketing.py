"""BucketingModule: networks for several lengths with shared parameters."""

import os

import numpy as np
import pytest

import mxcy as mx


def sym_gen(length):
    """Predict the next of seven letters from each of `length` letters."""
    x = mx.sym.Embedding(mx.sym.var("data"), input_dim=7, output_dim=4, name="embed")
    x = mx.sym.FullyConnected(mx.sym.reshape(x, shape=(-1, 4)), num_hidden=7, name="pred")
    label = mx.sym.reshape(mx.sym.var("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(x, label, name="softmax"), ("data",), ("softmax_label",)


class Letters(mx.io.DataIter):
    """Batches of some lengths; each letter is followed by the next of the alphabet."""

    default_bucket_key = 6

    def __init__(self, lengths=(6, 3, 5, 3)):
        super().__init__(4)
        draw = np.random.RandomState(0)
        self.tables = [draw.randint(0, 7, (4, length)) for length in lengths]
        self.provide_data = [("data", (4, 6))]
        self.provide_label = [("softmax_label", (4, 6))]
        self.reset()

    def reset(self):
        self.left = list(self.tables)

    def next(self):
        if not self.left:
            raise StopIteration
        table = self.left.pop(0)
        return mx.io.DataBatch(
            [mx.nd.array(table)],
            [mx.nd.array((table + 1) % 7)],
            pad=0,
            bucket_key=table.shape[1],
            provide_data=[("data", table.shape)],
            provide_label=[("softmax_label", table.shape)],
        )


def trained(epochs=1, **kwargs):
    mx.random.seed(1)
    mod = mx.mod.BucketingModule(sym_gen, default_bucket_key=6, **kwargs)
    mod.fit(
        Letters(),
        eval_metric=mx.metric.Perplexity(None),
        num_epoch=epochs,
        optimizer="adam",
        optimizer_params={"learning_rate": 0.05},
        initializer=mx.init.Xavier(),
    )
    return mod


def perplexity(mod):
    ((_, value),) = mod.score(Letters(), mx.metric.Perplexity(None))
    return value


def test_all_buckets_learn_the_same_parameters():
    mod = trained(epochs=15)
    assert sorted(mod._buckets) == [3, 5, 6]
    weights = {id(m._exec_group.param_arrays[0][0]) for m in mod._buckets.values()}
    assert len(weights) == 1
    assert perplexity(mod) < 1.5


def test_two_devices_learn_the_same_as_one():
    one, two = trained(), trained(context=[mx.cpu(0), mx.cpu(1)])
    for name, array in one.get_params()[0].items():
        np.testing.assert_allclose(array.asnumpy(), two.get_params()[0][name].asnumpy(), atol=1e-5)


def test_the_current_bucket_shows():
    mod = trained()
    assert mod.data_names == ["data"] and mod.output_names == ["softmax_output"]
    batch = Letters((3,)).next()
    mod.forward(batch)
    assert mod.data_shapes == [("data", (4, 3))] and mod.label_shapes[0].shape == (4, 3)
    assert mod.output_shapes == [("softmax_output", (12, 7))]
    assert mod.get_outputs()[0].shape == (12, 7)
    mod.prepare(Letters((2,)).next())
    assert mod.data_shapes == [("data", (4, 3))] and 2 in mod._buckets


def test_before_it_is_bound():
    mod = mx.mod.BucketingModule(sym_gen, default_bucket_key=6)
    assert list(mod.data_names) == ["data"] and mod.output_names == ["softmax_output"]
    for call in (lambda: mod.symbol, lambda: mod.data_shapes, lambda: mod.install_monitor(None)):
        with pytest.raises(AssertionError, match="not bound"):
            call()
    with pytest.raises(AssertionError, match="call bind before switching bucket"):
        mod.switch_bucket(3, None)
    with pytest.raises(AssertionError, match="call bind before initializing"):
        mod.init_params()
    with pytest.raises(AssertionError, match="Empty BucketingModule cannot be saved"):
        mod.save_checkpoint("x", 1)
    with pytest.raises(AssertionError, match="default_bucket_key must be given"):
        mx.mod.BucketingModule(sym_gen)


def test_setting_parameters():
    mod = trained()
    arg_params, aux_params = mod.get_params()
    mod.set_params({"pred_bias": mx.nd.ones(7)}, {}, allow_missing=True)
    assert (mod.get_params()[0]["pred_bias"].asnumpy() == 1).all()
    mod.set_params({**arg_params, "pred_bias": mx.nd.zeros(7)}, aux_params)
    mod.forward(Letters((5,)).next())
    assert (mod._curr_module._exec_group.execs[0].arg_dict["pred_bias"].asnumpy() == 0).all()
    with pytest.warns(UserWarning, match="set_params call ignored"):
        mod.set_params({}, {}, allow_missing=True, force_init=False)
    with pytest.raises(ValueError, match="zz"):
        mod.set_params({"zz": mx.nd.zeros(1)}, {}, allow_missing=True)


def test_checkpoints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mod = trained(epochs=3)
    mod.save_checkpoint("letters", 3)
    assert sorted(os.listdir()) == [
        "letters-0003.params",
        "letters-3-symbol.json",
        "letters-5-symbol.json",
        "letters-6-symbol.json",
        "letters.buckets",
    ]
    loaded = mx.mod.BucketingModule.load("letters", 3, sym_gen, 6)
    given = mx.mod.BucketingModule.load_dict(
        {key: sym_gen(key)[0] for key in (6, 3)}, sym_gen, 6, *mod.get_params()
    )
    for other in (loaded, given):
        other.bind(Letters().provide_data, Letters().provide_label)
        assert perplexity(other) == pytest.approx(perplexity(mod), rel=1e-6)
    with pytest.raises(AssertionError, match="sym_gen is required"):
        mx.mod.BucketingModule.load("letters", 3)
    with pytest.raises(AssertionError, match="arg_params is required"):
        mx.mod.BucketingModule.load_dict({6: sym_gen(6)[0]}, sym_gen, 6)


def test_binding_again_keeps_what_was_learned():
    mod = trained(epochs=3)
    before = perplexity(mod)
    mod.bind([("data", (2, 6))], [("softmax_label", (2, 6))], force_rebind=True)
    assert perplexity(mod) == pytest.approx(before, rel=1e-6)


def test_predictions_of_several_lengths_are_not_merged():
    mod = trained()
    shapes = [outputs[0].shape for outputs in mod.predict(Letters(), merge_batches=False)]
    assert shapes == [(24, 7), (12, 7), (20, 7), (12, 7)]


def test_buckets_count_names_from_zero_each():
    """Layers without names have the same parameters in all buckets, as MXNet names them."""

    def unnamed(length):
        x = mx.sym.Embedding(mx.sym.var("data"), input_dim=7, output_dim=4)
        x = mx.sym.FullyConnected(mx.sym.reshape(x, shape=(-1, 4)), num_hidden=7)
        label = mx.sym.reshape(mx.sym.var("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(x, label, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(unnamed, default_bucket_key=6)
    module.bind([("data", (4, 6))], [("softmax_label", (4, 6))])
    module.init_params()
    names = {"embedding0_weight", "fullyconnected0_weight", "fullyconnected0_bias"}
    assert set(module.get_params()[0]) == names
    memory = module._curr_module._total_exec_bytes
    module.switch_bucket(3, [("data", (4, 3))], [("softmax_label", (4, 3))])
    assert set(module.get_params()[0]) == names
    assert 0 < module._curr_module._total_exec_bytes <= memory


def test_buckets_add_gradients_up_when_asked():
    def network(_):
        weight = mx.sym.var("weight", shape=(1,), init=mx.init.One())
        loss = mx.sym.make_loss(mx.sym.broadcast_mul(mx.sym.var("data"), weight))
        return loss, ("data",), None

    module = mx.mod.BucketingModule(network, default_bucket_key=10)
    module.bind([("data", (2,))], grad_req="add")
    module.init_params()
    for passes, key in enumerate((10, 5), 1):
        shape = [mx.io.DataDesc("data", (2,), layout="N")]
        batch = mx.io.DataBatch([mx.nd.ones((2,))], None, provide_data=shape, bucket_key=key)
        module.forward_backward(batch)
        assert module._curr_module._grad_req == "add"
        gradient = module._curr_module._exec_group.execs[0].grad_dict["weight"]
        assert gradient.asscalar() == 2 * passes
