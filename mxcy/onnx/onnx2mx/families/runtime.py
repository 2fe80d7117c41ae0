"""ONNX Runtime's operators of quantized models: dequantize, compute, quantize."""

from types import SimpleNamespace

import numpy as np

from mxcy.onnx.onnx2mx.families.matrix import gemm
from mxcy.onnx.onnx2mx.families.quantize import dequantize, float_bias, quantize, stepped_constant
from mxcy.onnx.onnx2mx.table import find_row, row

__all__ = []

_DOMAIN = "com.microsoft"
#: attributes of per-tensor QuantizeLinear and DequantizeLinear
_PLAIN = SimpleNamespace(axis=None, block_size=None, output_dtype=None)


def _floats(F, x, scale, zero):
    return dequantize(F, _PLAIN, x, scale, zero)


def _numbers(F, result, scale, zero, like):
    """Quantize a result with the output's scale and zero point, in the dtype of `like`."""
    if zero is None:
        zero = F.constant(np.zeros((), like.dtype))
    return quantize(F, _PLAIN, result, scale, zero)


def _of_two(name, standard):
    @row(name, domain=_DOMAIN)
    def rule(F, a, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero=None):
        left, right = _floats(F, x, x_scale, x_zero), _floats(F, y, y_scale, y_zero)
        return _numbers(F, find_row(standard, 14)(F, a, left, right), scale, zero, x)


_of_two("QLinearAdd", "Add")
_of_two("QLinearMul", "Mul")


def _of_one(name, standard, **defaults):
    @row(name, domain=_DOMAIN)
    def rule(F, a, x, x_scale, x_zero, scale, zero=None):
        if a.channels_last:
            raise NotImplementedError("attribute channels_last is not implemented")
        for attribute, value in defaults.items():
            a.values.setdefault(attribute, value)
        floats = _floats(F, x, x_scale, x_zero)
        return _numbers(F, find_row(standard, 14)(F, a, floats), scale, zero, x)


_of_one("QLinearGlobalAveragePool", "GlobalAveragePool")
_of_one("QLinearAveragePool", "AveragePool", ceil_mode=0, count_include_pad=0)
_of_one("QLinearLeakyRelu", "LeakyRelu", alpha=0.01)
_of_one("QLinearSigmoid", "Sigmoid")


@row("QLinearConcat", domain=_DOMAIN)
def concat(F, a, scale, zero, *inputs):
    triples = [inputs[i : i + 3] for i in range(0, len(inputs), 3)]
    floats = [_floats(F, *triple) for triple in triples]
    return _numbers(F, find_row("Concat", 13)(F, a, *floats), scale, zero, inputs[0])


@row("QGemm", domain=_DOMAIN)
def quantized_gemm(F, a, x, x_scale, x_zero, w, w_scale, w_zero, c=None, scale=None, zero=None):
    alpha = 1.0 if a.alpha is None else a.alpha
    weight = stepped_constant(F, w, w_scale, w_zero, 0 if a.transB else 1)
    if weight is None:
        weight = _floats(F, w, w_scale, w_zero)
    if c is not None:
        c.numbers("the bias")
        c = float_bias(F, c, F.constant(x_scale.numbers("the scale") * np.float32(alpha)), w_scale)
    plain = SimpleNamespace(alpha=alpha, beta=1.0, transA=a.transA or 0, transB=a.transB or 0)
    result = gemm(F, plain, _floats(F, x, x_scale, x_zero), weight, c)
    return result if scale is None else _numbers(F, result, scale, zero, x)
