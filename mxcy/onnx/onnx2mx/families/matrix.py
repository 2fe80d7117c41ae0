"""Matrix products."""

import numpy as np

from mxcy.onnx.onnx2mx.table import row

__all__ = ["dense", "product"]


def dense(F, x, weight, bias=None, flatten=False):
    """``x @ weight.T + bias`` as a layer."""
    weight = F.layer_weight(weight, x)
    if bias is not None and bias.array is not None:
        F.parameter(bias)
    hidden = weight.full_shape[0]
    return F(
        "FullyConnected", x, weight, bias, num_hidden=hidden, no_bias=bias is None, flatten=flatten
    )


def _transposed(F, y):
    """Transpose a constant matrix."""
    weight = F.constant(np.ascontiguousarray(y.array.T), y.spec.dtype)
    weight.name = y.name and f"{y.name}_transposed"
    weight.stepped = y.stepped and y.stepped.transposed()
    return weight


def product(F, x, y):
    """NumPy's matmul."""
    layer = y.array is not None and y.ndim == 2 and x.array is None and x.ndim >= 2
    if layer and x.kind == "f" and 0 not in y.shape:
        weight = _transposed(F, y)
        return dense(F, x, weight)
    if x.kind == "f":
        return F("_npi_matmul", x, y)
    product64 = F("_npi_matmul", x.astype("float64"), y.astype("float64"))
    return product64.astype(x.dtype)


@row("MatMul")
def matmul(F, a, x, y):
    return product(F, x, y)


@row("Gemm")
def gemm(F, a, x, y, c=None):
    if a.transA:
        x = x.transpose(1, 0)
    plain = a.alpha == 1 and (c is None or a.beta == 1)
    if plain and y.ndim == 2 and x.kind == "f" and (y.array is not None or a.transB):
        weight = y
        if not a.transB:
            weight = _transposed(F, y)
        hidden = weight.shape[0]
        vector = c is not None and c.spec.known and c.shape in ((hidden,), (1, hidden))
        if hidden > 0 and 0 not in weight.shape and (c is None or vector):
            if vector and c.ndim == 2:
                c = c.reshape(hidden)
            return dense(F, x, weight, c, flatten=x.ndim > 2)  # omitted in some files
    if a.transB:
        y = y.transpose(1, 0)
    result = product(F, x, y)
    if a.alpha != 1:
        result = F.binary("multiply", result, a.alpha)
    if c is None:
        return result
    return F.binary("add", result, c if a.beta == 1 else F.binary("multiply", c, a.beta))


@row("Einsum", since=12)
def einsum(F, a, *inputs):
    return F("_npi_einsum", *inputs, subscripts=a.equation.replace(" ", ""))


@row("Det")
def det(F, a, x):
    return F("_linalg_det", x).reshape(*x.shape[:-2])
