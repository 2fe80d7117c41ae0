"""`mx.nd.sparse`: sparse arrays, their constructors, and operators with sparse rules."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import TypeAlias
import numpy as np
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)
from mxcy.ndarray.sparse.base import (
    BaseSparseNDArray as BaseSparseNDArray,
)
from mxcy.ndarray.sparse.csr import (
    CSRNDArray as CSRNDArray,
)
from mxcy.ndarray.sparse.row_sparse import (
    RowSparseNDArray as RowSparseNDArray,
)

_Shape: TypeAlias = int | Sequence[int | None]
_DType: TypeAlias = str | type | np.dtype[Any] | None
_Out: TypeAlias = NDArray | list[NDArray] | None

def ElementWiseSum(
    *args: NDArray, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype elementwise."""
def Embedding(
    data: NDArray, weight: NDArray, input_dim: int = ..., output_dim: int = ...,
    dtype: _DType = "float32", sparse_grad: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Look up the row of a weight matrix for each index."""
def FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, num_hidden: int = ...,
    no_bias: bool = False, flatten: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply an affine map (dense layer): ``out = data . weight^T + bias``."""
def LinearRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the data unchanged, with the gradient of the squared error, ``out - label``."""
def LogisticRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply the sigmoid, with the gradient of the logistic loss, ``out - label``."""
def MAERegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the data unchanged, with the gradient of the absolute error: 1 where the ..."""
def _contrib_round_ste(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """`round` with a straight-through gradient."""
def _contrib_sign_ste(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """`sign` with a straight-through gradient."""
def abs(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Absolute value."""
def adagrad_update(
    weight: NDArray, grad: NDArray, history: NDArray, lr: float = ...,
    epsilon: float = 1.00000001e-07, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by AdaGrad: ``weight - lr * (grad / sqrt(history + epsilon) + wd * ..."""
def adam_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: float = ...,
    beta1: float = 0.899999976, beta2: float = 0.999000013, epsilon: float = 9.99999994e-09,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    lazy_update: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by Adam, without bias correction, which callers include in `lr`."""
def add(lhs, rhs) -> NDArray:
    """Add elementwise; arrays of the same sparse type give a result of that type."""
def add_n(
    *args: NDArray, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype elementwise."""
def arccos(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse cosine."""
def arccosh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse hyperbolic cosine."""
def arcsin(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse sine."""
def arcsinh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse hyperbolic sine."""
def arctan(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse tangent."""
def arctanh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Inverse hyperbolic tangent."""
def array(source_array, ctx=None, dtype=None):
    """Create a sparse array from another sparse array."""
def broadcast_add(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_div(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise quotient; integers are truncated towards zero. Shapes are broadcast."""
def broadcast_minus(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_mul(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise product. Shapes are broadcast."""
def broadcast_plus(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_sub(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise difference. Shapes are broadcast."""
def cast_storage(
    data: NDArray, stype: Literal["csr", "default", "row_sparse"] = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Cast an array to another storage type."""
def cbrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Cube root."""
def ceil(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round up to the smallest integer not below x."""
def clip(
    data: NDArray, a_min: float = ..., a_max: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Clip elements to [a_min, a_max]; the gradient is zero outside."""
def concat(
    *data: NDArray, num_args: int = ..., dim: int = 1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Concatenate arrays along dimension `dim`."""
def cos(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Cosine."""
def cosh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic cosine."""
def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """Create a `CSRNDArray`, a matrix in compressed sparse row format."""
def degrees(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Convert radians to degrees."""
def digamma(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The digamma function, the logarithmic derivative of the gamma function."""
def divide(lhs, rhs) -> NDArray:
    """Divide elementwise; the result is dense, except for a sparse array and a number."""
def dot(
    lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the dot product over the last axis of lhs and the first axis of rhs."""
def elemwise_add(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise sum. Both arrays have the same shape."""
def elemwise_div(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise quotient; integers are truncated towards zero. Both arrays have the ..."""
def elemwise_mul(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise product. Both arrays have the same shape."""
def elemwise_sub(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise difference. Both arrays have the same shape."""
def empty(stype, shape, ctx=None, dtype=None):
    """Create a sparse array without stored elements."""
def exp(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Exponential exp(x)."""
def expm1(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """exp(x) - 1, accurate for small x."""
def fix(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round towards zero."""
def floor(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round down to the largest integer not above x."""
def ftrl_update(
    weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: float = ...,
    lamda1: float = 0.00999999978, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by FTRL (follow the regularised leader) with L1 penalty `lamda1`."""
def gamma(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The gamma function."""
def gammaln(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The logarithm of the absolute value of the gamma function."""
def log(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Natural logarithm."""
def log10(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Logarithm to base 10."""
def log1p(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """log(1 + x), accurate for small x."""
def log2(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Logarithm to base 2."""
def log_sigmoid(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The log-sigmoid function log(1 / (1 + exp(-x)))."""
def make_loss(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the input unchanged as a loss: its gradient is 1, ignoring the head gradient."""
def mean(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the mean over axes; integer results are truncated towards zero."""
def mish(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The mish function x * tanh(log(1 + exp(x)))."""
def multiply(lhs, rhs) -> NDArray:
    """Multiply elementwise; a sparse and a dense array give a sparse result."""
def negative(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Negative: -x."""
def norm(
    data: NDArray, ord: int = 2, axis: _Shape | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] = None,
    keepdims: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the 1-norm (sum of magnitudes) or 2-norm (root of sum of squares) over axes."""
def radians(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Convert degrees to radians."""
def relu(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The rectified linear unit max(x, 0)."""
def retain(data: NDArray, indices: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Retain only the rows `indices` of a row_sparse array."""
def rint(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round to the nearest integer, halves down."""
def round(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round to the nearest integer, halves away from zero."""
def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """Create a `RowSparseNDArray`, an array that stores only some of its rows."""
def rsqrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Reciprocal square root: 1 / sqrt(x)."""
def sgd_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: float = ..., momentum: float = 0.0,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    lazy_update: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by SGD with momentum."""
def sgd_update(
    weight: NDArray, grad: NDArray, lr: float = ..., wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, lazy_update: bool = True, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Update a weight by SGD: ``weight - lr * (grad + wd * weight)``."""
def sigmoid(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The sigmoid function 1 / (1 + exp(-x))."""
def sign(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Sign: -1, 0 or 1."""
def sin(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Sine."""
def sinh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic sine."""
def slice(
    data: NDArray, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def sqrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Square root."""
def square(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Square: x^2."""
def stop_gradient(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the input unchanged, but stop gradients."""
def subtract(lhs, rhs) -> NDArray:
    """Subtract elementwise; arrays of the same sparse type give a result of that type."""
def sum(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the sum over axes."""
def tan(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Tangent."""
def tanh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic tangent."""
def trunc(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round towards zero."""
def where(
    condition: NDArray, x: NDArray, y: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Choose elements of `x` where `condition` is nonzero, else of `y`."""
def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """Create an array of zeros; a sparse one has no stored elements."""
def zeros_like(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return an array of zeros with the shape and dtype of the input."""
