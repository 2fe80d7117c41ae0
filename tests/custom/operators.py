"""Custom operators for the tests."""

import numpy as np

import mxcy as mx


class Square(mx.operator.CustomOp):
    """data ** 2; counts its calls."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, is_train, req, in_data, out_data, aux):
        self.calls += 1
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("test_square")
class SquareProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Square()


class SoftmaxLoss(mx.operator.CustomOp):
    """The classic example: softmax with the gradient of cross entropy, by NumPy."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], mx.nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        label = in_data[1].asnumpy().astype(int)
        y = out_data[0].asnumpy().copy()
        y[np.arange(len(label)), label] -= 1.0
        self.assign(in_grad[0], req[0], mx.nd.array(y * self.scale))


@mx.operator.register("test_softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self, scale="1.0"):
        super().__init__(need_top_grad=False)
        self.scale = float(scale)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return SoftmaxLoss(self.scale)


class SumAndDifference(mx.operator.CustomOp):
    """(a + b, a - b), in that order; keeps a running mean of a in a state."""

    def forward(self, is_train, req, in_data, out_data, aux):
        a, b = in_data
        self.assign(out_data[0], req[0], a + b)
        self.assign(out_data[1], req[1], a - b)
        if is_train:
            aux[0][:] = 0.5 * aux[0] + 0.5 * a.mean()
        self.offset = 3.0  # for the backward pass

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] + self.offset - 3.0)
        self.assign(in_grad[1], req[1], out_grad[0] - out_grad[1])


@mx.operator.register("test_two")
class TwoProp(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def list_outputs(self):
        return ["sum", "difference"]

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shape):
        return [in_shape[0]] * 2, [in_shape[0]] * 2, [(1,)]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0]] * 2, [in_type[0]]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return out_grad

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return SumAndDifference()


class Drop(mx.operator.CustomOp):
    """Keeps a mask from forward to backward."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.mask = in_data[0] > 0
        self.assign(out_data[0], req[0], in_data[0] * self.mask)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.mask)


@mx.operator.register("test_mask")
class DropProp(mx.operator.CustomOpProp):
    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return out_grad

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Drop()


class Broken(mx.operator.CustomOp):
    """Fails in a chosen method."""

    def __init__(self, where):
        super().__init__()
        self.where = where

    def forward(self, is_train, req, in_data, out_data, aux):
        if self.where == "forward":
            raise ValueError("it rains")
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        raise KeyError("umbrella")


@mx.operator.register("test_broken")
class BrokenProp(mx.operator.CustomOpProp):
    def __init__(self, where):
        super().__init__()
        self.where = where

    def infer_shape(self, in_shape):
        if self.where == "infer_shape":
            raise ValueError("no shape")
        if self.where == "count":
            return in_shape, [], []
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        if self.where == "create_operator":
            raise ZeroDivisionError("nothing there")
        return Broken(self.where)
