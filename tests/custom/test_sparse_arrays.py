"""Custom operators get dense arrays, whatever they are called with."""

import numpy as np
import pytest

import mxcy as mx


class Halve(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert in_data[0].stype == aux[0].stype == "default"
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] / 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] / 2)


@mx.operator.register("halve_anything")
class HalveProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["calls"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, in_shape

    def create_operator(self, ctx, shapes, dtypes):
        return Halve()


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_sparse_inputs_and_states(stype):
    dense = np.array([[2, 0, 0], [0, 0, 4]], np.float32)
    x = mx.nd.array(dense).tostype(stype)
    calls = mx.nd.zeros((2, 3), stype=stype)
    for _ in range(2):
        out = mx.nd.Custom(x, calls, op_type="halve_anything")
        assert out.stype == "default"
        np.testing.assert_array_equal(out.asnumpy(), dense / 2)
    assert calls.stype == stype
    np.testing.assert_array_equal(calls.asnumpy(), 2)
    with pytest.raises(mx.MXNetError, match=f"out: expected a dense array, .*'{stype}'"):
        mx.nd.Custom(x, calls, op_type="halve_anything", out=x)


def test_sparse_arguments_of_executors():
    data = mx.sym.var("data", stype="csr")
    symbol = mx.sym.Custom(data=data, calls=mx.sym.var("calls"), op_type="halve_anything")
    x = mx.nd.array([[2, 0], [0, 4]]).tostype("csr")
    gradient = mx.nd.zeros((2, 2))
    bound = symbol.bind(mx.cpu(), [x], [gradient], "write", [mx.nd.zeros((2, 2))])
    (out,) = bound.forward(is_train=True)
    np.testing.assert_array_equal(out.asnumpy(), [[1, 0], [0, 2]])
    bound.backward(mx.nd.ones((2, 2)))
    np.testing.assert_array_equal(gradient.asnumpy(), 0.5)
