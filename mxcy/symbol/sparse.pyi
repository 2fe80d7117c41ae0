"""`mx.sym.sparse`: sparse operators for symbols."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import TypeAlias
import numpy as np
from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

_Shape: TypeAlias = int | Sequence[int | None]
_DType: TypeAlias = str | type | np.dtype[Any] | None

def ElementWiseSum(
    *args: Symbol, num_args: int = ..., name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype elementwise."""
def Embedding(
    data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ...,
    output_dim: int = ..., dtype: _DType = "float32", sparse_grad: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Look up the row of a weight matrix for each index."""
def FullyConnected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply an affine map (dense layer): ``out = data . weight^T + bias``."""
def LinearRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the data unchanged, with the gradient of the squared error, ``out - label``."""
def LogisticRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply the sigmoid, with the gradient of the logistic loss, ``out - label``."""
def MAERegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the data unchanged, with the gradient of the absolute error: 1 where the ..."""
def _contrib_round_ste(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """`round` with a straight-through gradient."""
def _contrib_sign_ste(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """`sign` with a straight-through gradient."""
def abs(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Absolute value."""
def adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None,
    lr: float = ..., epsilon: float = 1.00000001e-07, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by AdaGrad: ``weight - lr * (grad / sqrt(history + epsilon) + wd * ..."""
def adam_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None,
    var: Symbol | None = None, lr: float = ..., beta1: float = 0.899999976,
    beta2: float = 0.999000013, epsilon: float = 9.99999994e-09, wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by Adam, without bias correction, which callers include in `lr`."""
def add_n(
    *args: Symbol, num_args: int = ..., name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype elementwise."""
def arccos(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse cosine."""
def arccosh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse hyperbolic cosine."""
def arcsin(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse sine."""
def arcsinh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse hyperbolic sine."""
def arctan(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse tangent."""
def arctanh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Inverse hyperbolic tangent."""
def broadcast_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise quotient; integers are truncated towards zero. Shapes are broadcast."""
def broadcast_minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise product. Shapes are broadcast."""
def broadcast_plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise difference. Shapes are broadcast."""
def cast_storage(
    data: Symbol | None = None, stype: Literal["csr", "default", "row_sparse"] = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Cast an array to another storage type."""
def cbrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Cube root."""
def ceil(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round up to the smallest integer not below x."""
def clip(
    data: Symbol | None = None, a_min: float = ..., a_max: float = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Clip elements to [a_min, a_max]; the gradient is zero outside."""
def concat(
    *data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Concatenate arrays along dimension `dim`."""
def cos(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Cosine."""
def cosh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Hyperbolic cosine."""
def degrees(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert radians to degrees."""
def digamma(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The digamma function, the logarithmic derivative of the gamma function."""
def dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: bool = False,
    transpose_b: bool = False, forward_stype: Literal[None, "csr", "default", "row_sparse"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the dot product over the last axis of lhs and the first axis of rhs."""
def elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise sum. Both arrays have the same shape."""
def elemwise_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise quotient; integers are truncated towards zero. Both arrays have the ..."""
def elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise product. Both arrays have the same shape."""
def elemwise_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise difference. Both arrays have the same shape."""
def exp(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Exponential exp(x)."""
def expm1(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """exp(x) - 1, accurate for small x."""
def fix(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round towards zero."""
def floor(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round down to the largest integer not above x."""
def ftrl_update(
    weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None,
    n: Symbol | None = None, lr: float = ..., lamda1: float = 0.00999999978, beta: float = 1.0,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by FTRL (follow the regularised leader) with L1 penalty `lamda1`."""
def gamma(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The gamma function."""
def gammaln(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The logarithm of the absolute value of the gamma function."""
def log(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Natural logarithm."""
def log10(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Logarithm to base 10."""
def log1p(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """log(1 + x), accurate for small x."""
def log2(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Logarithm to base 2."""
def log_sigmoid(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The log-sigmoid function log(1 / (1 + exp(-x)))."""
def make_loss(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the input unchanged as a loss: its gradient is 1, ignoring the head gradient."""
def mean(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the mean over axes; integer results are truncated towards zero."""
def mish(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The mish function x * tanh(log(1 + exp(x)))."""
def negative(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Negative: -x."""
def norm(
    data: Symbol | None = None, ord: int = 2, axis: _Shape | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] = None,
    keepdims: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the 1-norm (sum of magnitudes) or 2-norm (root of sum of squares) over axes."""
def radians(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert degrees to radians."""
def relu(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The rectified linear unit max(x, 0)."""
def retain(
    data: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Retain only the rows `indices` of a row_sparse array."""
def rint(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round to the nearest integer, halves down."""
def round(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round to the nearest integer, halves away from zero."""
def rsqrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reciprocal square root: 1 / sqrt(x)."""
def sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None,
    lr: float = ..., momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD with momentum."""
def sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, lr: float = ..., wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD: ``weight - lr * (grad + wd * weight)``."""
def sigmoid(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The sigmoid function 1 / (1 + exp(-x))."""
def sign(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sign: -1, 0 or 1."""
def sin(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sine."""
def sinh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Hyperbolic sine."""
def slice(
    data: Symbol | None = None, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def sqrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Square root."""
def square(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Square: x^2."""
def stop_gradient(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the input unchanged, but stop gradients."""
def sum(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum over axes."""
def tan(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Tangent."""
def tanh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Hyperbolic tangent."""
def trunc(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round towards zero."""
def where(
    condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Choose elements of `x` where `condition` is nonzero, else of `y`."""
def zeros_like(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return an array of zeros with the shape and dtype of the input."""
