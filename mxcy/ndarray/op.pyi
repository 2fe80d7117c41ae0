"""`mx.nd.op`: all operators with public names."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import TypeAlias
import numpy as np
from mxcy.context import Context
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)

_Shape: TypeAlias = int | Sequence[int | None]
_Floats: TypeAlias = float | Sequence[float]
_DType: TypeAlias = str | type | np.dtype[Any] | None
_Out: TypeAlias = NDArray | list[NDArray] | None

def Activation(
    data: NDArray, act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply an activation function elementwise."""
def BatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
    cudnn_off: bool = False, min_calib_range: float | None = None,
    max_calib_range: float | None = None, out: _Out = None, name: str | None = None,
) -> Any:
    """Apply batch normalisation: normalise each channel over the batch, then scale and ..."""
def BatchNorm_v1(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: float = 0.00100000005, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Apply batch normalisation over axis 1, as older models do."""
def BilinearSampler(
    data: NDArray, grid: NDArray, cudnn_off: bool | None = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Sample images at the positions of a grid by bilinear interpolation."""
def BlockGrad(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the input unchanged, but stop gradients."""
def CTCLoss(
    data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the connectionist temporal classification (CTC) loss."""
def Cast(data: NDArray, dtype: _DType = ..., out: _Out = None, name: str | None = None) -> NDArray:
    """Cast to another dtype; floats are truncated to integers towards zero."""
def Concat(
    *data: NDArray, num_args: int = ..., dim: int = 1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Concatenate arrays along dimension `dim`."""
def Convolution(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a 1-D, 2-D or 3-D convolution (cross-correlation) with a bank of filters."""
def Convolution_v1(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NDHWC", "NHWC"] = None,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a convolution as older models do; see Convolution."""
def Correlation(
    data1: NDArray, data2: NDArray, kernel_size: int = 1, max_displacement: int = 1,
    stride1: int = 1, stride2: int = 1, pad_size: int = 0, is_multiply: bool = True,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Correlate each patch of an image with displaced patches of another image."""
def Crop(
    *data: NDArray, num_args: int = ..., offset: _Shape = (0, 0), h_w: _Shape = (0, 0),
    center_crop: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Crop the last two dimensions of images (batch, channel, height, width)."""
def Deconvolution(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), adj: _Shape = (),
    target_shape: _Shape = (), num_filter: int = ..., num_group: int = 1, workspace: int = 512,
    no_bias: bool = True, cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a 1-D, 2-D or 3-D transposed convolution."""
def Dropout(
    data: NDArray, p: float = 0.5, mode: Literal["always", "training"] = "training",
    axes: _Shape = (), cudnn_off: bool | None = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply dropout: in training, zero elements with probability p and scale the others."""
def ElementWiseSum(
    *args: NDArray, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype elementwise."""
def Embedding(
    data: NDArray, weight: NDArray, input_dim: int = ..., output_dim: int = ...,
    dtype: _DType = "float32", sparse_grad: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Look up the row of a weight matrix for each index."""
def Flatten(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Flatten all dimensions but the first: (d0, d1, ..., dn) becomes (d0, d1*...*dn)."""
def FullyConnected(
    data: NDArray, weight: NDArray, bias: NDArray | None = None, num_hidden: int = ...,
    no_bias: bool = False, flatten: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply an affine map (dense layer): ``out = data . weight^T + bias``."""
def GridGenerator(
    data: NDArray, transform_type: Literal["affine", "warp"] = ..., target_shape: _Shape = (0, 0),
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Generate a sampling grid for BilinearSampler from a transformation."""
def GroupNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, num_groups: int = 1, eps: float = 9.99999975e-06,
    output_mean_var: bool = False, out: _Out = None, name: str | None = None,
) -> Any:
    """Apply group normalisation: normalise groups of channels per sample, then scale and ..."""
def IdentityAttachKLSparseReg(
    data: NDArray, moving_avg: NDArray, sparseness_target: float = 0.100000001,
    penalty: float = 0.00100000005, momentum: float = 0.899999976, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the data unchanged, adding a KL sparsity penalty to the gradient."""
def InstanceNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, eps: float = 0.00100000005, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply instance normalisation: normalise each channel per sample, then scale and shift."""
def L2Normalization(
    data: NDArray, eps: float = 1.00000001e-10,
    mode: Literal["channel", "instance", "spatial"] = "instance", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply L2 normalisation: ``data / sqrt(sum(data ** 2) + eps)``."""
def LRN(
    data: NDArray, alpha: float = 9.99999975e-05, beta: float = 0.75, knorm: float = 2.0,
    nsize: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply local response normalisation across channels."""
def LayerNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, axis: int = -1, eps: float = 9.99999975e-06,
    output_mean_var: bool = False, out: _Out = None, name: str | None = None,
) -> Any:
    """Apply layer normalisation: normalise along one axis, then scale and shift."""
def LeakyReLU(
    data: NDArray, gamma: NDArray | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky",
    slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.333999991,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a leaky rectifier: elementwise, with nonzero output for negative inputs."""
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
def MakeLoss(
    data: NDArray, grad_scale: float = 1.0, valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] = "null", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Turn an array into a loss: the data unchanged, with gradient `grad_scale`."""
def Pad(
    data: NDArray, mode: Literal["constant", "edge", "reflect"] = ..., pad_width: _Shape = ...,
    constant_value: float = 0.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pad all dimensions of an array but the first two."""
def Pooling(
    data: NDArray, kernel: _Shape = (), pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False, cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid", stride: _Shape = (),
    pad: _Shape = (), p_value: int | None = None, count_include_pad: bool | None = None,
    layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply max, average, sum or p-norm pooling over the spatial dimensions."""
def Pooling_v1(
    data: NDArray, kernel: _Shape = (), pool_type: Literal["avg", "max", "sum"] = "max",
    global_pool: bool = False, pooling_convention: Literal["full", "valid"] = "valid",
    stride: _Shape = (), pad: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pool images (batch, channels, height, width) as older models do."""
def RNN(
    data: NDArray, parameters: NDArray | None = None, state: NDArray | None = None,
    state_cell: NDArray | None = None, sequence_length: NDArray | None = None,
    state_size: int = ..., num_layers: int = ..., bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = ..., p: float = 0.0,
    state_outputs: bool = False, projection_size: int | None = None,
    lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Apply stacked recurrent layers (RNN, LSTM or GRU) to a batch of sequences."""
def ROIPooling(
    data: NDArray, rois: NDArray, pooled_size: _Shape = ..., spatial_scale: float = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pool regions of interest by the maximum over a fixed grid of bins."""
def Reshape(
    data: NDArray, shape: _Shape = (), reverse: bool = False, target_shape: _Shape = (),
    keep_highest: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Reshape an array, keeping the number of elements."""
def SVMOutput(
    data: NDArray, label: NDArray, margin: float = 1.0, regularization_coefficient: float = 1.0,
    use_linear: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return the data unchanged, with the gradient of a one-vs-all SVM (hinge) loss."""
def SequenceLast(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False,
    axis: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return the last step of each sequence."""
def SequenceMask(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False,
    value: float = 0.0, axis: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Set the steps beyond each sequence's length to `value`."""
def SequenceReverse(
    data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False,
    axis: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Reverse each sequence, leaving steps beyond its length in place."""
def SliceChannel(
    data: NDArray, num_outputs: int = ..., axis: int = 1, squeeze_axis: bool = False,
    out: _Out = None, name: str | None = None,
) -> Any:
    """Split an array into `num_outputs` equal parts along `axis`."""
def Softmax(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0,
    multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False,
    normalization: Literal["batch", "null", "valid"] = "null", out_grad: bool = False,
    smooth_alpha: float = 0.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply softmax, with the gradient of the cross-entropy with `label`."""
def SoftmaxActivation(
    data: NDArray, mode: Literal["channel", "instance"] = "instance", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply softmax over the last axis (`mode` 'instance') or axis 1 ('channel')."""
def SoftmaxOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0,
    multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False,
    normalization: Literal["batch", "null", "valid"] = "null", out_grad: bool = False,
    smooth_alpha: float = 0.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply softmax, with the gradient of the cross-entropy with `label`."""
def SpatialTransformer(
    data: NDArray, loc: NDArray, target_shape: _Shape = (0, 0),
    transform_type: Literal["affine"] = ..., sampler_type: Literal["bilinear"] = ...,
    cudnn_off: bool | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply affine transformations to images: BilinearSampler on an affine GridGenerator."""
def SwapAxis(
    data: NDArray, dim1: int = 0, dim2: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Swap dimensions `dim1` and `dim2`."""
def UpSampling(
    *data: NDArray, scale: int = ..., num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"] = ...,
    multi_input_mode: Literal["concat", "sum"] = "concat", num_args: int = ...,
    workspace: int = 512, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Upsample images `scale` times."""
def abs(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Absolute value."""
def adam_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: float = ...,
    beta1: float = 0.899999976, beta2: float = 0.999000013, epsilon: float = 9.99999994e-09,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    lazy_update: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by Adam, without bias correction, which callers include in `lr`."""
def add_n(
    *args: NDArray, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Sum arrays of the same shape and dtype elementwise."""
def all_finite(
    data: NDArray, init_output: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Test whether all elements are finite: 1 or 0 as float32 of shape (1,)."""
def amp_cast(
    data: NDArray, dtype: _DType = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Cast between float32, float16 and bfloat16; arrays of other dtypes are unchanged."""
def amp_multicast(
    *data: NDArray, num_outputs: int = ..., cast_narrow: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Cast arrays of float32, float16 and bfloat16 to a common dtype."""
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
def argmax(
    data: NDArray, axis: int | None = None, keepdims: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the maximum along an axis, as float; the first on ties."""
def argmax_channel(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the index of the maximum along axis 1, as float."""
def argmin(
    data: NDArray, axis: int | None = None, keepdims: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the index of the minimum along an axis, as float; the first on ties."""
def argsort(
    data: NDArray, axis: int | None = -1, is_ascend: bool = True, dtype: _DType = "float32",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return the indices that sort an array along `axis`, with dtype `dtype`."""
def batch_dot(
    lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute batched matrix products: (b, m, k) and (b, k, n) give (b, m, n)."""
def batch_take(a: NDArray, indices: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Take element ``a[i, indices[i]]`` of each row i; `indices` are int32 and clipped."""
def broadcast_add(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_axes(
    data: NDArray, axis: _Shape = (), size: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Broadcast the dimensions `axis` (of size 1, non-negative) to the extents `size`."""
def broadcast_axis(
    data: NDArray, axis: _Shape = (), size: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Broadcast the dimensions `axis` (of size 1, non-negative) to the extents `size`."""
def broadcast_div(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise quotient; integers are truncated towards zero. Shapes are broadcast."""
def broadcast_equal(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs == rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_greater(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs > rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_greater_equal(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs >= rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_hypot(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise hypotenuse sqrt(x^2 + y^2). Shapes are broadcast."""
def broadcast_lesser(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs < rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_lesser_equal(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs <= rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_like(
    lhs: NDArray, rhs: NDArray, lhs_axes: _Shape | None = None, rhs_axes: _Shape | None = None,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Broadcast `lhs` to the shape of `rhs`: all dimensions, or `lhs_axes` to `rhs_axes`."""
def broadcast_logical_and(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where both operands are nonzero, else 0, in the operands' dtype. Shapes are ..."""
def broadcast_logical_or(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where an operand is nonzero, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_logical_xor(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where exactly one operand is nonzero, else 0, in the operands' dtype. Shapes are ..."""
def broadcast_maximum(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise maximum. Shapes are broadcast."""
def broadcast_minimum(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise minimum. Shapes are broadcast."""
def broadcast_minus(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_mod(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise remainder with the sign of the divisor; 0 for divisor 0. Shapes are ..."""
def broadcast_mul(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise product. Shapes are broadcast."""
def broadcast_not_equal(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """1 where lhs != rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_plus(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_power(
    lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Elementwise power. Shapes are broadcast."""
def broadcast_sub(lhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_to(
    data: NDArray, shape: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Broadcast dimensions of size 1 to `shape`, of equal rank; 0 keeps an extent."""
def cast(data: NDArray, dtype: _DType = ..., out: _Out = None, name: str | None = None) -> NDArray:
    """Cast to another dtype; floats are truncated to integers towards zero."""
def cast_storage(
    data: NDArray, stype: Literal["csr", "default", "row_sparse"] = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Cast an array to another storage type."""
def cbrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Cube root."""
def ceil(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round up to the smallest integer not below x."""
def choose_element_0index(
    data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pick one element along `axis` for each position of the other axes."""
def clip(
    data: NDArray, a_min: float = ..., a_max: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Clip elements to [a_min, a_max]; the gradient is zero outside."""
def col2im(
    data: NDArray, output_size: _Shape = ..., kernel: _Shape = ..., stride: _Shape = (),
    dilate: _Shape = (), pad: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Sum patches at the positions that im2col took them from: the transpose of im2col."""
def concat(
    *data: NDArray, num_args: int = ..., dim: int = 1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Concatenate arrays along dimension `dim`."""
def cos(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Cosine."""
def cosh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic cosine."""
def crop(
    data: NDArray, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def ctc_loss(
    data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the connectionist temporal classification (CTC) loss."""
def cumsum(
    a: NDArray, axis: int | None = None, dtype: _DType = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the cumulative sum along `axis` (flattened by default), in dtype `dtype`."""
def degrees(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Convert radians to degrees."""
def depth_to_space(
    data: NDArray, block_size: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Rearrange channels into blocks of pixels: (n, c, h, w) becomes (n, c/b/b, h*b, w*b)."""
def diag(
    data: NDArray, k: int = 0, axis1: int = 0, axis2: int = 1, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Extract diagonal `k` over two dimensions, or construct a matrix from a vector."""
def digamma(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The digamma function, the logarithmic derivative of the gamma function."""
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
def erf(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The error function."""
def erfinv(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The inverse error function."""
def exp(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Exponential exp(x)."""
def expand_dims(
    data: NDArray, axis: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Insert a dimension of size 1 at position `axis`, counted from the end when negative."""
def expm1(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """exp(x) - 1, accurate for small x."""
def fill_element_0index(
    lhs: NDArray, mhs: NDArray, rhs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return the matrix `lhs` with element ``rhs[i]`` of each row i replaced by ``mhs[i]``."""
def fix(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round towards zero."""
def flatten(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Flatten all dimensions but the first: (d0, d1, ..., dn) becomes (d0, d1*...*dn)."""
def flip(data: NDArray, axis: _Shape = ..., out: _Out = None, name: str | None = None) -> NDArray:
    """Reverse the order of elements along the dimensions `axis` (non-negative)."""
def floor(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round down to the largest integer not above x."""
def ftml_update(
    weight: NDArray, grad: NDArray, d: NDArray, v: NDArray, z: NDArray, lr: float = ...,
    beta1: float = 0.600000024, beta2: float = 0.999000013, epsilon: float = 9.99999993922529e-09,
    t: int = ..., wd: float = 0.0, rescale_grad: float = 1.0, clip_grad: float = -1.0,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by FTML (follow the moving leader); `t` counts updates from 1."""
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
def gather_nd(
    data: NDArray, indices: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Gather elements or slices at coordinates: ``out[i...] = data[indices[0, i...], ...]``."""
def hard_sigmoid(
    data: NDArray, alpha: float = 0.2, beta: float = 0.5, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the hard sigmoid: ``alpha * x + beta`` clipped to [0, 1]."""
def identity(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return a copy of an array."""
def im2col(
    data: NDArray, kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (),
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Extract the patches of a sliding window over images as columns."""
def khatri_rao(
    *args: NDArray, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the Khatri-Rao (column-wise Kronecker) product of matrices."""
def lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: float = 0.899999976,
    beta2: float = 0.999000013, epsilon: float = 9.99999997e-07, t: int = ...,
    bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute phase 1 of LAMB: the direction of the step."""
def lamb_update_phase2(
    weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, lr: float = ...,
    lower_bound: float = -1.0, upper_bound: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply phase 2 of LAMB: ``weight - lr * trust * g`` along the direction `g`."""
def linalg_det(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the determinants of square matrices; a single matrix gives shape (1,)."""
def linalg_extractdiag(
    A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Extract the diagonals of square matrices; a positive `offset` is above the main ..."""
def linalg_extracttrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Extract triangles of square matrices as vectors."""
def linalg_gelqf(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Compute the LQ factorisation ``A = L Q``: orthonormal rows in Q, lower triangular L."""
def linalg_gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, beta: float = 1.0, axis: int = -2, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute matrix products with addition: ``alpha * op(A) op(B) + beta * C``."""
def linalg_gemm2(
    A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, axis: int = -2, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute matrix products: ``alpha * op(A) op(B)``."""
def linalg_inverse(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the inverse of square matrices; singular matrices raise an error."""
def linalg_makediag(
    A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Construct square matrices with the given diagonals at `offset` above the main one."""
def linalg_maketrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Construct square matrices with the given triangles and zeros elsewhere."""
def linalg_potrf(
    A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the Cholesky factor L, lower triangular, of positive definite ``A = L L^T``."""
def linalg_potri(
    A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the inverse of ``A A^T`` for lower triangular A, such as a Cholesky factor."""
def linalg_slogdet(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Compute the signs and log-magnitudes of determinants; a single matrix gives shape ..."""
def linalg_sumlogdiag(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the sum of the logarithms of the diagonals of square matrices."""
def linalg_syrk(
    A: NDArray, transpose: bool = False, alpha: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Multiply a matrix by its transpose: ``alpha * A A^T``, with `transpose` ``alpha * ..."""
def linalg_trmm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Multiply by triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def linalg_trsm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Solve triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``, for X."""
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
def log_softmax(
    data: NDArray, axis: int = -1, temperature: float | None = None, dtype: _DType = None,
    use_length: bool | None = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply log-softmax along an axis: ``log(softmax(x))``, without overflow."""
def logical_not(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Logical NOT: 1 where x is zero, 0 elsewhere."""
def make_loss(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the input unchanged as a loss: its gradient is 1, ignoring the head gradient."""
def masked_log_softmax(
    data: NDArray, mask: NDArray, axis: int = -1, temperature: float | None = None,
    normalize: bool | None = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply log-softmax along an axis to the elements selected by a mask."""
def masked_softmax(
    data: NDArray, mask: NDArray, axis: int = -1, temperature: float | None = None,
    normalize: bool | None = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply softmax along an axis to the elements selected by a mask."""
def max(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the maximum over axes."""
def max_axis(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the maximum over axes."""
def mean(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the mean over axes; integer results are truncated towards zero."""
def min(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the minimum over axes."""
def min_axis(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the minimum over axes."""
def mish(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The mish function x * tanh(log(1 + exp(x)))."""
def moments(
    data: NDArray, axes: _Shape | None = None, keepdims: bool = False, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the mean and the biased variance over `axes`, which must be given."""
def mp_lamb_update_phase1(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray,
    beta1: float = 0.899999976, beta2: float = 0.999000013, epsilon: float = 9.99999997e-07,
    t: int = ..., bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute phase 1 of LAMB: the direction of the step."""
def mp_lamb_update_phase2(
    weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, weight32: NDArray, lr: float = ...,
    lower_bound: float = -1.0, upper_bound: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply phase 2 of LAMB: ``weight - lr * trust * g`` along the direction `g`."""
def mp_nag_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float = ...,
    momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by SGD with Nesterov momentum (NAG)."""
def mp_sgd_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float = ...,
    momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    lazy_update: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by SGD with momentum."""
def mp_sgd_update(
    weight: NDArray, grad: NDArray, weight32: NDArray, lr: float = ..., wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by SGD: ``weight - lr * (grad + wd * weight)``."""
def multi_all_finite(
    *data: NDArray, num_arrays: int = 1, init_output: bool = True, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Test whether all elements of all arrays are finite: 1 or 0 as float32 of shape (1,)."""
def multi_lars(
    lrs: NDArray, weights_sum_sq: NDArray, grads_sum_sq: NDArray, wds: NDArray, eta: float = ...,
    eps: float = ..., rescale_grad: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the learning rates of LARS for several weights."""
def multi_mp_sgd_mom_update(
    *data: NDArray, lrs: _Floats = ..., wds: _Floats = ..., momentum: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Update several weights as sgd_mom_update, each with its own lr and wd."""
def multi_mp_sgd_update(
    *data: NDArray, lrs: _Floats = ..., wds: _Floats = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, num_weights: int = 1, out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_update, each with its own lr and wd."""
def multi_sgd_mom_update(
    *data: NDArray, lrs: _Floats = ..., wds: _Floats = ..., momentum: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Update several weights as sgd_mom_update, each with its own lr and wd."""
def multi_sgd_update(
    *data: NDArray, lrs: _Floats = ..., wds: _Floats = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, num_weights: int = 1, out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_update, each with its own lr and wd."""
def multi_sum_sq(
    *data: NDArray, num_arrays: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the sum of squares of each array, as one float32 per array."""
def nag_mom_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: float = ..., momentum: float = 0.0,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Update a weight by SGD with Nesterov momentum (NAG)."""
def nanprod(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the product over axes, treating NaN as 1."""
def nansum(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the sum over axes, treating NaN as 0."""
def negative(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Negative: -x."""
def norm(
    data: NDArray, ord: int = 2, axis: _Shape | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] = None,
    keepdims: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the 1-norm (sum of magnitudes) or 2-norm (root of sum of squares) over axes."""
def normal(
    loc: float = 0.0, scale: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the normal distribution with a mean and a standard deviation."""
def one_hot(
    indices: NDArray, depth: int = ..., on_value: float = 1.0, off_value: float = 0.0,
    dtype: _DType = "float32", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Encode indices as one-hot vectors of `depth` elements."""
def ones_like(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return an array of ones with the shape and dtype of the input."""
def pad(
    data: NDArray, mode: Literal["constant", "edge", "reflect"] = ..., pad_width: _Shape = ...,
    constant_value: float = 0.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pad all dimensions of an array but the first two."""
def pick(
    data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pick one element along `axis` for each position of the other axes."""
def preloaded_multi_mp_sgd_mom_update(
    *data: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    num_weights: int = 1, out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_mom_update, with lrs and wds in arrays."""
def preloaded_multi_mp_sgd_update(
    *data: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_update, with lrs and wds in arrays."""
def preloaded_multi_sgd_mom_update(
    *data: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    num_weights: int = 1, out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_mom_update, with lrs and wds in arrays."""
def preloaded_multi_sgd_update(
    *data: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    out: _Out = None, name: str | None = None,
) -> Any:
    """Update several weights as sgd_update, with lrs and wds in arrays."""
def prod(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the product over axes."""
def quantized_reshape(
    data: NDArray, min_data: NDArray, max_data: NDArray, shape: _Shape = (), reverse: bool = False,
    target_shape: _Shape = (), keep_highest: bool = False, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Reshape quantized data, as Reshape does; the range is unchanged."""
def quantized_transpose(
    data: NDArray, min_data: NDArray, max_data: NDArray, axes: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Transpose quantized data, as transpose does; the range is unchanged."""
def radians(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Convert degrees to radians."""
def random_binomial(
    n: int = 1, p: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples from the binomial distribution: successes with probability p in n trials."""
def random_exponential(
    lam: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples from the exponential distribution with rate lam (1 / mean)."""
def random_gamma(
    alpha: float = 1.0, beta: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the gamma distribution with shape alpha and scale beta."""
def random_generalized_negative_binomial(
    mu: float = 1.0, alpha: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the generalized negative binomial distribution with mean mu and ..."""
def random_negative_binomial(
    k: int = 1, p: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples from the negative binomial distribution: failures with probability p ..."""
def random_normal(
    loc: float = 0.0, scale: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the normal distribution with a mean and a standard deviation."""
def random_pdf_dirichlet(
    sample: NDArray, alpha: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Dirichlet density with concentrations alpha of each row along the last ..."""
def random_pdf_exponential(
    sample: NDArray, lam: NDArray, is_log: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the probability density of the exponential distribution with rate lam."""
def random_pdf_gamma(
    sample: NDArray, alpha: NDArray, beta: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the gamma distribution with shape alpha and ..."""
def random_pdf_generalized_negative_binomial(
    sample: NDArray, mu: NDArray, alpha: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the generalized negative binomial distribution ..."""
def random_pdf_negative_binomial(
    sample: NDArray, k: NDArray, p: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the negative binomial distribution: failures ..."""
def random_pdf_normal(
    sample: NDArray, mu: NDArray, sigma: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the normal distribution with mean mu and ..."""
def random_pdf_poisson(
    sample: NDArray, lam: NDArray, is_log: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the probability density of the Poisson distribution with rate lam."""
def random_pdf_uniform(
    sample: NDArray, low: NDArray, high: NDArray, is_log: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the probability density of the uniform distribution on [low, high], ..."""
def random_poisson(
    lam: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples from the Poisson distribution with rate lam."""
def random_randint(
    low: int = ..., high: int = ..., shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw integers from the uniform distribution on [low, high)."""
def random_uniform(
    low: float = 0.0, high: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the uniform distribution on [low, high)."""
def ravel_multi_index(
    data: NDArray, shape: _Shape | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Convert coordinates, one column each, to flat indices in an array of shape `shape`."""
def rcbrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Reciprocal cube root: 1 / cbrt(x)."""
def reciprocal(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Reciprocal: 1 / x."""
def relu(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The rectified linear unit max(x, 0)."""
def repeat(
    data: NDArray, repeats: int = ..., axis: int | None = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Repeat each element `repeats` times along `axis`, by default of the flattened array."""
def reset_arrays(
    *data: NDArray, num_arrays: int = ..., out: _Out = None, name: str | None = None,
) -> Any:
    """Set all arrays to zero."""
def reshape(
    data: NDArray, shape: _Shape = (), reverse: bool = False, target_shape: _Shape = (),
    keep_highest: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Reshape an array, keeping the number of elements."""
def reshape_like(
    lhs: NDArray, rhs: NDArray, lhs_begin: int | None = None, lhs_end: int | None = None,
    rhs_begin: int | None = None, rhs_end: int | None = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Reshape `lhs` to the shape of `rhs`, or replace a range of its dimensions by one ..."""
def reverse(
    data: NDArray, axis: _Shape = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Reverse the order of elements along the dimensions `axis` (non-negative)."""
def rint(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round to the nearest integer, halves down."""
def rmsprop_update(
    weight: NDArray, grad: NDArray, n: NDArray, lr: float = ..., gamma1: float = 0.949999988,
    epsilon: float = 9.99999994e-09, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, clip_weights: float = -1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Update a weight by RMSProp: ``weight - lr * grad / sqrt(n + epsilon)``."""
def rmspropalex_update(
    weight: NDArray, grad: NDArray, n: NDArray, g: NDArray, delta: NDArray, lr: float = ...,
    gamma1: float = 0.949999988, gamma2: float = 0.899999976, epsilon: float = 9.99999994e-09,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    clip_weights: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by centred RMSProp with momentum (Graves)."""
def round(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round to the nearest integer, halves away from zero."""
def rsqrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Reciprocal square root: 1 / sqrt(x)."""
def sample_binomial(
    n: NDArray, p: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the binomial distribution: ..."""
def sample_categorical(
    data: NDArray, shape: _Shape = (), get_prob: bool = False, dtype: _DType = "int32",
    out: _Out = None, name: str | None = None,
) -> Any:
    """Draw indices with the probabilities along the last axis of an array."""
def sample_exponential(
    lam: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the exponential ..."""
def sample_gamma(
    alpha: NDArray, beta: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the gamma distribution with ..."""
def sample_generalized_negative_binomial(
    mu: NDArray, alpha: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the generalized negative ..."""
def sample_multinomial(
    data: NDArray, shape: _Shape = (), get_prob: bool = False, dtype: _DType = "int32",
    out: _Out = None, name: str | None = None,
) -> Any:
    """Draw indices with the probabilities along the last axis of an array."""
def sample_negative_binomial(
    k: NDArray, p: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the negative binomial ..."""
def sample_normal(
    mu: NDArray, sigma: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the normal distribution ..."""
def sample_poisson(
    lam: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the Poisson distribution ..."""
def sample_uniform(
    low: NDArray, high: NDArray, shape: _Shape = (), dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples for each element of parameter arrays from the uniform distribution on ..."""
def scatter_nd(
    data: NDArray, indices: NDArray, shape: _Shape = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Scatter data into zeros of a shape: ``out[indices[0, i...], ...] = data[i...]``."""
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
def shape_array(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the shape of an array as a 1-D int64 array."""
def shuffle(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Shuffle an array along its first axis; not differentiable."""
def sigmoid(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The sigmoid function 1 / (1 + exp(-x))."""
def sign(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Sign: -1, 0 or 1."""
def signsgd_update(
    weight: NDArray, grad: NDArray, lr: float = ..., wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by signSGD: ``(1 - lr * wd) * weight - lr * sign(grad)``."""
def signum_update(
    weight: NDArray, grad: NDArray, mom: NDArray, lr: float = ..., momentum: float = 0.0,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, wd_lh: float = 0.0,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Update a weight by Signum: ``(1 - lr * wd_lh) * weight + lr * sign(mom)``."""
def sin(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Sine."""
def sinh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic sine."""
def size_array(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the number of elements of an array as an int64 array of shape (1,)."""
def slice(
    data: NDArray, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def slice_axis(
    data: NDArray, axis: int = ..., begin: int = ..., end: int | None = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Slice one dimension by ``begin:end``; negative positions count from its end."""
def slice_like(
    data: NDArray, shape_like: NDArray, axes: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Slice `data` from the origin to the extents of `shape_like`."""
def smooth_l1(
    data: NDArray, scalar: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the smooth L1 loss: quadratic for small values, linear for large ones."""
def softmax(
    data: NDArray, length: NDArray | None = None, axis: int = -1, temperature: float | None = None,
    dtype: _DType = None, use_length: bool | None = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply softmax along an axis: ``exp(x / t) / sum(exp(x / t))`` with temperature t."""
def softmax_cross_entropy(
    data: NDArray, label: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the cross-entropy of softmax(data) and class labels, summed over rows."""
def softmin(
    data: NDArray, axis: int = -1, temperature: float | None = None, dtype: _DType = None,
    use_length: bool | None = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply softmin along an axis: ``softmax(-x)``."""
def softsign(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The softsign function x / (1 + abs(x))."""
def sort(
    data: NDArray, axis: int | None = -1, is_ascend: bool = True, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Sort elements along `axis`; ``axis=None`` flattens the array."""
def space_to_depth(
    data: NDArray, block_size: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Rearrange blocks of pixels into channels: (n, c, h, w) becomes (n, c*b*b, h/b, w/b)."""
def split(
    data: NDArray, num_outputs: int = ..., axis: int = 1, squeeze_axis: bool = False,
    out: _Out = None, name: str | None = None,
) -> Any:
    """Split an array into `num_outputs` equal parts along `axis`."""
def sqrt(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Square root."""
def square(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Square: x^2."""
def squeeze(
    data: NDArray, axis: _Shape | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Remove dimensions of size 1: all of them, or those listed in `axis`."""
def stack(
    *data: NDArray, axis: int = 0, num_args: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Stack arrays of the same shape along a new dimension `axis`."""
def stop_gradient(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the input unchanged, but stop gradients."""
def sum(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the sum over axes."""
def sum_axis(
    data: NDArray, axis: _Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the sum over axes."""
def swapaxes(
    data: NDArray, dim1: int = 0, dim2: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Swap dimensions `dim1` and `dim2`."""
def take(
    a: NDArray, indices: NDArray, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Take elements at `indices` along `axis`."""
def tan(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Tangent."""
def tanh(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Hyperbolic tangent."""
def tile(data: NDArray, reps: _Shape = ..., out: _Out = None, name: str | None = None) -> NDArray:
    """Tile an array: repeat it ``reps[i]`` times along dimension i."""
def topk(
    data: NDArray, axis: int | None = -1, k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices", is_ascend: bool = False,
    dtype: _DType = "float32", out: _Out = None, name: str | None = None,
) -> Any:
    """Return the `k` largest (with `is_ascend`, smallest) elements along `axis`, sorted."""
def transpose(
    data: NDArray, axes: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Permute the dimensions: dimension i of the result is ``axes[i]`` of the input."""
def trunc(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Round towards zero."""
def uniform(
    low: float = 0.0, high: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Draw samples from the uniform distribution on [low, high)."""
def unravel_index(
    data: NDArray, shape: _Shape | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Convert flat indices to coordinates in an array of shape `shape`."""
def where(
    condition: NDArray, x: NDArray, y: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Choose elements of `x` where `condition` is nonzero, else of `y`."""
def zeros_like(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return an array of zeros with the shape and dtype of the input."""
