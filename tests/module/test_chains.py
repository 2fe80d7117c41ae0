"""SequentialModule, PythonModule and PythonLossModule."""

import numpy as np
import pytest

import mxcy as mx


def layer(name):
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name=name)


def loss():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="last")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def chain():
    mod = mx.mod.SequentialModule()
    mod.add(mx.mod.Module(layer("first"), label_names=None))
    return mod.add(mx.mod.Module(loss()), take_labels=True, auto_wiring=True)


def bound():
    mod = chain()
    mod.bind([("data", (4, 5))], [("softmax_label", (4,))], inputs_need_grad=True)
    mod.init_params(mx.init.Xavier())
    return mod


def test_names_and_shapes():
    mod = bound()
    assert mod.data_names == ["data"] and mod.output_names == ["softmax_output"]
    assert mod.data_shapes == [("data", (4, 5))]
    assert mod.label_shapes == [("softmax_label", (4,))]
    assert mod.output_shapes == [("softmax_output", (4, 3))]
    assert sorted(mod.get_params()[0]) == ["first_bias", "first_weight", "last_bias", "last_weight"]
    empty = mx.mod.SequentialModule()
    assert empty.data_names == [] == empty.output_names


def test_a_chain_computes_what_one_network_does():
    mod = bound()
    x = mx.sym.FullyConnected(layer("first"), num_hidden=3, name="last")
    whole = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    whole.bind([("data", (4, 5))], [("softmax_label", (4,))], inputs_need_grad=True)
    whole.init_params(arg_params=mod.get_params()[0])
    batch = mx.io.DataBatch([mx.nd.arange(20).reshape((4, 5))], [mx.nd.array([0, 1, 2, 1])])
    for one in (mod, whole):
        one.init_optimizer()
        one.forward_backward(batch)
        one.update()
    np.testing.assert_allclose(
        mod.get_input_grads()[0].asnumpy(), whole.get_input_grads()[0].asnumpy(), rtol=1e-5
    )
    for name, array in whole.get_params()[0].items():
        np.testing.assert_allclose(mod.get_params()[0][name].asnumpy(), array.asnumpy(), rtol=1e-5)
    metric = mx.metric.Accuracy()
    mod.update_metric(metric, batch.label)
    assert metric.num_inst == 4


def test_parameters(tmp_path):
    mod, other = bound(), bound()
    mod.save_params(str(tmp_path / "chain.params"))
    other.load_params(str(tmp_path / "chain.params"))
    for name, array in mod.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), other.get_params()[0][name].asnumpy())


def test_monitors_watch_all_modules():
    mod, monitor = bound(), mx.mon.Monitor(1, pattern=".*output")
    mod.install_monitor(monitor)
    monitor.tic()
    mod.forward(mx.io.DataBatch([mx.nd.ones((4, 5))], [mx.nd.ones(4)]))
    assert [name for _, name, _ in monitor.toc()] == [
        "first_output",
        "last_output",
        "softmax_output",
    ]


def test_invalid_sequential_modules():
    with pytest.raises(AssertionError, match='Unknown meta "foo", a typo'):
        mx.mod.SequentialModule().add(mx.mod.Module(loss()), foo=1)
    with pytest.raises(AssertionError, match="an empty SequentialModule"):
        mx.mod.SequentialModule().bind([("data", (1, 1))])
    with pytest.raises(AssertionError, match="not bound"):
        chain().forward(None)
    with pytest.raises(AssertionError, match="call bind before"):
        chain().init_params()
    twice = mx.mod.SequentialModule()
    twice.add(mx.mod.Module(layer("a"), label_names=None))
    twice.add(mx.mod.Module(layer("a"), label_names=None), auto_wiring=True)
    twice.bind([("data", (4, 8))])
    with pytest.raises(AssertionError, match="Duplicated parameter names: name 'a_weight'"):
        twice.init_params()


class Doubling(mx.mod.PythonModule):
    """Twice the input."""

    def __init__(self):
        super().__init__(["data"], None, ["doubled_output"])

    def _compute_output_shapes(self):
        return [("doubled_output", self.data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        self.result = data_batch.data[0] * 2

    def get_outputs(self, merge_multi_context=True):
        return [self.result]

    def backward(self, out_grads=None):
        self.gradient = out_grads[0] * 2

    def get_input_grads(self, merge_multi_context=True):
        return [self.gradient]


def test_own_modules_in_a_chain():
    """The gradient of the weight comes through the doubling."""
    mod = mx.mod.SequentialModule()
    mod.add(mx.mod.Module(layer("a"), label_names=None)).add(Doubling(), auto_wiring=True)
    mod.bind([("data", (2, 5))])
    mod.init_params(mx.init.One())
    mod.init_optimizer()
    mod.forward(mx.io.DataBatch([mx.nd.ones((2, 5))]), is_train=True)
    assert (mod.get_outputs()[0].asnumpy() == 10).all()
    assert mod.output_shapes == [("doubled_output", (2, 8))]
    mod.backward([mx.nd.ones((2, 8))])
    gradient = mod._modules[0]._exec_group.grad_arrays[0][0]
    assert (gradient.asnumpy() == 4).all()
    mod.update()
    assert mod._modules[1].get_params() == ({}, {})


def test_losses_in_python():
    mod = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - labels)
    mod.bind([("data", (2,))], [("softmax_label", (2,))])
    mod.init_params()
    mod.forward(mx.io.DataBatch([mx.nd.array([1, 2])], [mx.nd.array([5, 5])]))
    mod.backward()
    assert mod.get_input_grads()[0].asnumpy().tolist() == [-4, -3]
    assert mod.output_names == ["pyloss_output"] and mod.output_shapes == [("pyloss_output", (2,))]
    with pytest.raises(AssertionError, match="out_grads should be None"):
        mod.backward(mx.nd.ones(2))


def test_unsupported_calls_of_python_modules():
    mod = mx.mod.PythonLossModule()
    with pytest.raises(AssertionError, match="only support write"):
        mod.bind([("data", (1,))], grad_req="add")
    with pytest.raises(AssertionError, match=r"data_shapes must be for \['data'\], got \['x'\]"):
        mod.bind([("x", (1,))])
    mod.bind([("data", (1,))], [("softmax_label", (1,))])
    mod.forward(mx.io.DataBatch([mx.nd.ones(1)], [mx.nd.ones(1)]))
    with pytest.raises(NotImplementedError, match="PythonLossModule has no grad_func"):
        mod.backward()
    with pytest.raises(RuntimeError, match="presliced"):
        mod.update_metric(mx.metric.Accuracy(), [], pre_sliced=True)
    with pytest.raises(AssertionError, match="one input and one label"):
        mx.mod.PythonLossModule(data_names=("a", "b"))
