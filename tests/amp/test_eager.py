"""Eager calls under mixed precision."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp, autograd
from mxcy.amp.amp import bfloat16


def low(array, target):
    return mx.nd.amp_cast(array, dtype=target)


#: call -> result types under float16 and bfloat16 in MXNet 1.9.1 on the CPU
TYPES = {
    "dense": (lambda a, x: mx.nd.FullyConnected(a, a, num_hidden=2, no_bias=True), "ll"),
    "exp": (lambda a, x: mx.nd.exp(x), "lf"),
    "exp of float64": (lambda a, x: mx.nd.exp(a.astype("float64")), "dd"),
    "exp of int32": (lambda a, x: mx.nd.exp(a.astype("int32")), "ii"),
    "+": (lambda a, x: x + a, "ff"),
    "elemwise_add": (lambda a, x: mx.nd.elemwise_add(x, a), "ff"),
    "concat": (lambda a, x: mx.nd.concat(x, a), "ff"),
    "relu": (lambda a, x: mx.nd.relu(x), "ll"),
    "+ 1": (lambda a, x: x + 1, "lf"),
    "reshape": (lambda a, x: x.reshape((3, 2)), "ll"),
    "transpose": (lambda a, x: mx.nd.transpose(x), "lf"),
    "exp()": (lambda a, x: x.exp(), "lf"),
    "slice": (lambda a, x: x[0:1], "ll"),
    "where": (lambda a, x: mx.nd.where(a, x, a), "ff"),
    "softrelu": (lambda a, x: mx.nd.Activation(x, act_type="softrelu"), "lf"),
    "np.matmul": (lambda a, x: mx.np.matmul(a.as_np_ndarray(), a.as_np_ndarray().T), "ll"),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_types(name, target, mixed):
    call, kinds = TYPES[name]
    a = mx.nd.ones((2, 3))
    x = low(a, target)
    before = call(a, a).dtype
    mixed(target)
    kind = kinds[target == "bfloat16"]
    low_type = np.float16 if target == "float16" else bfloat16
    kinds = {"l": low_type, "f": np.float32, "d": np.float64, "i": np.int32}
    assert call(a, x).dtype == kinds[kind]
    amp.reset()
    assert call(a, a).dtype == before


def test_values_and_gradients(mixed):
    a = mx.nd.array([[1.0, 2.0, 3.0]])
    w = mx.nd.array([[0.5, 0.25, 2.0], [1.0, -1.0, 0.125]])
    w.attach_grad()
    mixed("bfloat16")
    with autograd.record():
        y = mx.nd.FullyConnected(a, w, num_hidden=2, no_bias=True)
        z = mx.nd.exp(y)
    assert (y.dtype, z.dtype) == (bfloat16, np.float32)
    z.backward()
    assert w.grad.dtype == np.float32
    out = np.exp(np.array([7.0, -0.625], "float32"))
    np.testing.assert_allclose(z.asnumpy()[0], out, rtol=1e-6)
    # the gradient of the product has 16 bits
    np.testing.assert_allclose(w.grad.asnumpy(), out[:, None] * a.asnumpy(), rtol=1e-2)


def test_the_functions_stay_as_they_are(mixed):
    before = mx.nd.exp, mx.sym.exp, mx.nd.exp.__name__, mx.nd.exp.__doc__
    mixed("float16")
    assert before == (mx.nd.exp, mx.sym.exp, mx.nd.exp.__name__, mx.nd.exp.__doc__)


def test_out_keeps_its_type(mixed):
    a = mx.nd.ones((2, 3))
    mixed("bfloat16")
    out = mx.nd.zeros((2, 2))
    mx.nd.dot(a, a.T, out=out)
    assert out.asnumpy().tolist() == [[3, 3], [3, 3]]
    weight = low(mx.nd.ones(3), "bfloat16")
    mx.nd.sgd_update(weight, weight, out=weight, lr=0.5)
    assert weight.dtype == bfloat16
    assert weight.astype("float32").asnumpy().tolist() == [0.5] * 3


def test_own_lists(mixed):
    a = mx.nd.ones((2, 3))
    mixed(
        "float16",
        target_precision_ops=["tanh"],
        fp32_ops=["sin"],
        conditional_fp32_ops=[("Activation", "act_type", ["relu"])],
    )
    assert mx.nd.tanh(a).dtype == np.float16
    assert mx.nd.FullyConnected(a, a, num_hidden=2, no_bias=True).dtype == np.float32
    assert amp.list_lp16_ops("float16")  # from the records


def test_the_first_call_counts(mixed, caplog):
    with caplog.at_level("INFO"):
        mixed("bfloat16")
        mixed("float16")
    assert caplog.text.count("Using AMP") == 1
    assert mx.nd.dot(*[mx.nd.ones((2, 2))] * 2).dtype == np.float32
    a = mx.nd.ones((2, 2))
    assert mx.nd.FullyConnected(a, a, num_hidden=2, no_bias=True).dtype == bfloat16
    with pytest.raises(AssertionError, match="only float16 or bfloat16"):
        amp.reset() or mixed("float64")


def test_loss_outputs_are_scaled(mixed):
    x, label = mx.nd.array([[1.0, 2.0]]), mx.nd.array([1.0])
    gradients = []
    for _ in range(2):
        x.attach_grad()
        with autograd.record():
            out = mx.nd.SoftmaxOutput(x, label, grad_scale=2.0)
        out.backward()
        gradients.append(x.grad.asnumpy())
        if len(gradients) == 1:
            mixed("bfloat16")
    np.testing.assert_allclose(gradients[1], gradients[0] * 2.0**16)


def test_custom_operators_get_float32(mixed):
    class Double(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

    @mx.operator.register("amp_double")
    class DoubleProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Double()

    mixed("bfloat16")
    out = mx.nd.Custom(low(mx.nd.ones(3), "bfloat16"), op_type="amp_double")
    assert out.dtype == np.float32
