"""Calls of softmax and its relatives."""

from .case import Case, array, normal

X2, X3 = normal(3, 5), normal(2, 3, 4)
INF = float("inf")


def plain():
    for op in ("softmax", "log_softmax", "softmin"):
        yield op, Case(op, X2, wrt=(0,))
        yield f"{op}-axis", Case(op, X3, axis=1, wrt=(0,))
        yield f"{op}-temperature", Case(op, X3, axis=0, temperature=2.5, wrt=(0,))
        yield f"{op}-float64", Case(op, X3.astype("float64"), axis=-2, wrt=(0,))
        yield f"{op}-float16", Case(op, X3.astype("float16"), wrt=(0,), tol=2)
        # The tests hold float64 results to 1e-9; MXNet computes them in the input's float32.
        yield f"{op}-to_float64", Case(op, X2, dtype="float64", wrt=(0,), tol=1e4)
        yield f"{op}-to_float32", Case(op, X2.astype("float16"), dtype="float32", tol=100)
    yield "softmax-large", Case("softmax", array([1000.0, 1001.0], [-1000.0, -1001.0]))
    yield "log_softmax-large", Case("log_softmax", array([1000.0, 1001.0], [-1000.0, 0.0]))
    yield "softmax-minus_inf", Case("softmax", array([-INF, 1.0, 2.0], [0.0, -INF, 0.0]))


def lengths():
    for dtype in ("int32", "int64"):
        length = array(2, 5, 1, dtype=dtype)
        yield dtype, Case("softmax", X2, length, use_length=True, wrt=(0,))
    length = array([1, 2, 3, 0], [3, 3, 1, 2], dtype="int32")
    yield "middle", Case("softmax", X3, length, use_length=True, axis=1, temperature=0.5, wrt=(0,))


def activation():
    yield "channel", Case("SoftmaxActivation", X3, mode="channel", wrt=(0,))
    # MXNet's gradient of this one is not the derivative of its forward pass.
    yield "instance", Case("SoftmaxActivation", X3)
    yield "matrix", Case("SoftmaxActivation", X2, wrt=(0,))


def masked():
    mask = array([1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], dtype="bool")
    for op in ("masked_softmax", "masked_log_softmax"):
        yield op, Case(op, X2, mask, wrt=(0,), version=2)
        yield f"{op}-temperature", Case(op, X2, mask, temperature=2.0, wrt=(0,), version=2)
        yield f"{op}-broadcast", Case(op, X2, mask[:1], wrt=(0,), version=2)


FAMILY = (plain, lengths, activation, masked)
