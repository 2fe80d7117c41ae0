"""`mx.sym.op`: all operators with public names."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import TypeAlias
import numpy as np
from mxcy.context import Context
from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

_Shape: TypeAlias = int | Sequence[int | None]
_Floats: TypeAlias = float | Sequence[float]
_DType: TypeAlias = str | type | np.dtype[Any] | None

def Activation(
    data: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply an activation function elementwise."""
def BatchNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
    cudnn_off: bool = False, min_calib_range: float | None = None,
    max_calib_range: float | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply batch normalisation: normalise each channel over the batch, then scale and ..."""
def BatchNorm_v1(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: float = 0.00100000005,
    momentum: float = 0.899999976, fix_gamma: bool = True, use_global_stats: bool = False,
    output_mean_var: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply batch normalisation over axis 1, as older models do."""
def BilinearSampler(
    data: Symbol | None = None, grid: Symbol | None = None, cudnn_off: bool | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sample images at the positions of a grid by bilinear interpolation."""
def BlockGrad(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the input unchanged, but stop gradients."""
def CTCLoss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the connectionist temporal classification (CTC) loss."""
def Cast(
    data: Symbol | None = None, dtype: _DType = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Cast to another dtype; floats are truncated to integers towards zero."""
def Concat(
    *data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Concatenate arrays along dimension `dim`."""
def Convolution(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (),
    num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a 1-D, 2-D or 3-D convolution (cross-correlation) with a bank of filters."""
def Convolution_v1(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (),
    num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NDHWC", "NHWC"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a convolution as older models do; see Convolution."""
def Correlation(
    data1: Symbol | None = None, data2: Symbol | None = None, kernel_size: int = 1,
    max_displacement: int = 1, stride1: int = 1, stride2: int = 1, pad_size: int = 0,
    is_multiply: bool = True, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Correlate each patch of an image with displaced patches of another image."""
def Crop(
    *data: Symbol, num_args: int = ..., offset: _Shape = (0, 0), h_w: _Shape = (0, 0),
    center_crop: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Crop the last two dimensions of images (batch, channel, height, width)."""
def Deconvolution(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (),
    adj: _Shape = (), target_shape: _Shape = (), num_filter: int = ..., num_group: int = 1,
    workspace: int = 512, no_bias: bool = True,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a 1-D, 2-D or 3-D transposed convolution."""
def Dropout(
    data: Symbol | None = None, p: float = 0.5, mode: Literal["always", "training"] = "training",
    axes: _Shape = (), cudnn_off: bool | None = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply dropout: in training, zero elements with probability p and scale the others."""
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
def Flatten(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Flatten all dimensions but the first: (d0, d1, ..., dn) becomes (d0, d1*...*dn)."""
def FullyConnected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply an affine map (dense layer): ``out = data . weight^T + bias``."""
def GridGenerator(
    data: Symbol | None = None, transform_type: Literal["affine", "warp"] = ...,
    target_shape: _Shape = (0, 0), name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Generate a sampling grid for BilinearSampler from a transformation."""
def GroupNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    num_groups: int = 1, eps: float = 9.99999975e-06, output_mean_var: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply group normalisation: normalise groups of channels per sample, then scale and ..."""
def IdentityAttachKLSparseReg(
    data: Symbol | None = None, moving_avg: Symbol | None = None,
    sparseness_target: float = 0.100000001, penalty: float = 0.00100000005,
    momentum: float = 0.899999976, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the data unchanged, adding a KL sparsity penalty to the gradient."""
def InstanceNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    eps: float = 0.00100000005, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply instance normalisation: normalise each channel per sample, then scale and shift."""
def L2Normalization(
    data: Symbol | None = None, eps: float = 1.00000001e-10,
    mode: Literal["channel", "instance", "spatial"] = "instance", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply L2 normalisation: ``data / sqrt(sum(data ** 2) + eps)``."""
def LRN(
    data: Symbol | None = None, alpha: float = 9.99999975e-05, beta: float = 0.75,
    knorm: float = 2.0, nsize: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply local response normalisation across channels."""
def LayerNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    axis: int = -1, eps: float = 9.99999975e-06, output_mean_var: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply layer normalisation: normalise along one axis, then scale and shift."""
def LeakyReLU(
    data: Symbol | None = None, gamma: Symbol | None = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky",
    slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.333999991,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a leaky rectifier: elementwise, with nonzero output for negative inputs."""
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
def MakeLoss(
    data: Symbol | None = None, grad_scale: float = 1.0, valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] = "null", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Turn an array into a loss: the data unchanged, with gradient `grad_scale`."""
def Pad(
    data: Symbol | None = None, mode: Literal["constant", "edge", "reflect"] = ...,
    pad_width: _Shape = ..., constant_value: float = 0.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pad all dimensions of an array but the first two."""
def Pooling(
    data: Symbol | None = None, kernel: _Shape = (),
    pool_type: Literal["avg", "lp", "max", "sum"] = "max", global_pool: bool = False,
    cudnn_off: bool = False, pooling_convention: Literal["full", "same", "valid"] = "valid",
    stride: _Shape = (), pad: _Shape = (), p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply max, average, sum or p-norm pooling over the spatial dimensions."""
def Pooling_v1(
    data: Symbol | None = None, kernel: _Shape = (),
    pool_type: Literal["avg", "max", "sum"] = "max", global_pool: bool = False,
    pooling_convention: Literal["full", "valid"] = "valid", stride: _Shape = (), pad: _Shape = (),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Pool images (batch, channels, height, width) as older models do."""
def RNN(
    data: Symbol | None = None, parameters: Symbol | None = None, state: Symbol | None = None,
    state_cell: Symbol | None = None, sequence_length: Symbol | None = None, state_size: int = ...,
    num_layers: int = ..., bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = ..., p: float = 0.0,
    state_outputs: bool = False, projection_size: int | None = None,
    lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply stacked recurrent layers (RNN, LSTM or GRU) to a batch of sequences."""
def ROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, pooled_size: _Shape = ...,
    spatial_scale: float = ..., name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Pool regions of interest by the maximum over a fixed grid of bins."""
def Reshape(
    data: Symbol | None = None, shape: _Shape = (), reverse: bool = False,
    target_shape: _Shape = (), keep_highest: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape an array, keeping the number of elements."""
def SVMOutput(
    data: Symbol | None = None, label: Symbol | None = None, margin: float = 1.0,
    regularization_coefficient: float = 1.0, use_linear: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the data unchanged, with the gradient of a one-vs-all SVM (hinge) loss."""
def SequenceLast(
    data: Symbol | None = None, sequence_length: Symbol | None = None,
    use_sequence_length: bool = False, axis: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the last step of each sequence."""
def SequenceMask(
    data: Symbol | None = None, sequence_length: Symbol | None = None,
    use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Set the steps beyond each sequence's length to `value`."""
def SequenceReverse(
    data: Symbol | None = None, sequence_length: Symbol | None = None,
    use_sequence_length: bool = False, axis: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reverse each sequence, leaving steps beyond its length in place."""
def SliceChannel(
    data: Symbol | None = None, num_outputs: int = ..., axis: int = 1, squeeze_axis: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Split an array into `num_outputs` equal parts along `axis`."""
def Softmax(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0,
    ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False,
    preserve_shape: bool = False, normalization: Literal["batch", "null", "valid"] = "null",
    out_grad: bool = False, smooth_alpha: float = 0.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmax, with the gradient of the cross-entropy with `label`."""
def SoftmaxActivation(
    data: Symbol | None = None, mode: Literal["channel", "instance"] = "instance",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmax over the last axis (`mode` 'instance') or axis 1 ('channel')."""
def SoftmaxOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1.0,
    ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False,
    preserve_shape: bool = False, normalization: Literal["batch", "null", "valid"] = "null",
    out_grad: bool = False, smooth_alpha: float = 0.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmax, with the gradient of the cross-entropy with `label`."""
def SpatialTransformer(
    data: Symbol | None = None, loc: Symbol | None = None, target_shape: _Shape = (0, 0),
    transform_type: Literal["affine"] = ..., sampler_type: Literal["bilinear"] = ...,
    cudnn_off: bool | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply affine transformations to images: BilinearSampler on an affine GridGenerator."""
def SwapAxis(
    data: Symbol | None = None, dim1: int = 0, dim2: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Swap dimensions `dim1` and `dim2`."""
def UpSampling(
    *data: Symbol, scale: int = ..., num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"] = ...,
    multi_input_mode: Literal["concat", "sum"] = "concat", num_args: int = ...,
    workspace: int = 512, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Upsample images `scale` times."""
def abs(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Absolute value."""
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
def all_finite(
    data: Symbol | None = None, init_output: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Test whether all elements are finite: 1 or 0 as float32 of shape (1,)."""
def amp_cast(
    data: Symbol | None = None, dtype: _DType = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Cast between float32, float16 and bfloat16; arrays of other dtypes are unchanged."""
def amp_multicast(
    *data: Symbol, num_outputs: int = ..., cast_narrow: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Cast arrays of float32, float16 and bfloat16 to a common dtype."""
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
def argmax(
    data: Symbol | None = None, axis: int | None = None, keepdims: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the index of the maximum along an axis, as float; the first on ties."""
def argmax_channel(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the index of the maximum along axis 1, as float."""
def argmin(
    data: Symbol | None = None, axis: int | None = None, keepdims: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the index of the minimum along an axis, as float; the first on ties."""
def argsort(
    data: Symbol | None = None, axis: int | None = -1, is_ascend: bool = True,
    dtype: _DType = "float32", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the indices that sort an array along `axis`, with dtype `dtype`."""
def batch_dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: bool = False,
    transpose_b: bool = False, forward_stype: Literal[None, "csr", "default", "row_sparse"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute batched matrix products: (b, m, k) and (b, k, n) give (b, m, n)."""
def batch_take(
    a: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Take element ``a[i, indices[i]]`` of each row i; `indices` are int32 and clipped."""
def broadcast_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_axes(
    data: Symbol | None = None, axis: _Shape = (), size: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Broadcast the dimensions `axis` (of size 1, non-negative) to the extents `size`."""
def broadcast_axis(
    data: Symbol | None = None, axis: _Shape = (), size: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Broadcast the dimensions `axis` (of size 1, non-negative) to the extents `size`."""
def broadcast_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise quotient; integers are truncated towards zero. Shapes are broadcast."""
def broadcast_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs == rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_greater(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs > rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_greater_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs >= rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_hypot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise hypotenuse sqrt(x^2 + y^2). Shapes are broadcast."""
def broadcast_lesser(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs < rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_lesser_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs <= rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_like(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_axes: _Shape | None = None,
    rhs_axes: _Shape | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Broadcast `lhs` to the shape of `rhs`: all dimensions, or `lhs_axes` to `rhs_axes`."""
def broadcast_logical_and(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where both operands are nonzero, else 0, in the operands' dtype. Shapes are ..."""
def broadcast_logical_or(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where an operand is nonzero, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_logical_xor(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where exactly one operand is nonzero, else 0, in the operands' dtype. Shapes are ..."""
def broadcast_maximum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise maximum. Shapes are broadcast."""
def broadcast_minimum(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise minimum. Shapes are broadcast."""
def broadcast_minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_mod(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise remainder with the sign of the divisor; 0 for divisor 0. Shapes are ..."""
def broadcast_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise product. Shapes are broadcast."""
def broadcast_not_equal(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """1 where lhs != rhs, else 0, in the operands' dtype. Shapes are broadcast."""
def broadcast_plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise sum. Shapes are broadcast."""
def broadcast_power(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise power. Shapes are broadcast."""
def broadcast_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Elementwise difference. Shapes are broadcast."""
def broadcast_to(
    data: Symbol | None = None, shape: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Broadcast dimensions of size 1 to `shape`, of equal rank; 0 keeps an extent."""
def cast(
    data: Symbol | None = None, dtype: _DType = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Cast to another dtype; floats are truncated to integers towards zero."""
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
def choose_element_0index(
    data: Symbol | None = None, index: Symbol | None = None, axis: int | None = -1,
    keepdims: bool = False, mode: Literal["clip", "wrap"] = "clip", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pick one element along `axis` for each position of the other axes."""
def clip(
    data: Symbol | None = None, a_min: float = ..., a_max: float = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Clip elements to [a_min, a_max]; the gradient is zero outside."""
def col2im(
    data: Symbol | None = None, output_size: _Shape = ..., kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Sum patches at the positions that im2col took them from: the transpose of im2col."""
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
def crop(
    data: Symbol | None = None, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def ctc_loss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the connectionist temporal classification (CTC) loss."""
def cumsum(
    a: Symbol | None = None, axis: int | None = None, dtype: _DType = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the cumulative sum along `axis` (flattened by default), in dtype `dtype`."""
def degrees(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert radians to degrees."""
def depth_to_space(
    data: Symbol | None = None, block_size: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Rearrange channels into blocks of pixels: (n, c, h, w) becomes (n, c/b/b, h*b, w*b)."""
def diag(
    data: Symbol | None = None, k: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract diagonal `k` over two dimensions, or construct a matrix from a vector."""
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
def erf(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The error function."""
def erfinv(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The inverse error function."""
def exp(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Exponential exp(x)."""
def expand_dims(
    data: Symbol | None = None, axis: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Insert a dimension of size 1 at position `axis`, counted from the end when negative."""
def expm1(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """exp(x) - 1, accurate for small x."""
def fill_element_0index(
    lhs: Symbol | None = None, mhs: Symbol | None = None, rhs: Symbol | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the matrix `lhs` with element ``rhs[i]`` of each row i replaced by ``mhs[i]``."""
def fix(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round towards zero."""
def flatten(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Flatten all dimensions but the first: (d0, d1, ..., dn) becomes (d0, d1*...*dn)."""
def flip(
    data: Symbol | None = None, axis: _Shape = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reverse the order of elements along the dimensions `axis` (non-negative)."""
def floor(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round down to the largest integer not above x."""
def ftml_update(
    weight: Symbol | None = None, grad: Symbol | None = None, d: Symbol | None = None,
    v: Symbol | None = None, z: Symbol | None = None, lr: float = ..., beta1: float = 0.600000024,
    beta2: float = 0.999000013, epsilon: float = 9.99999993922529e-09, t: int = ...,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_grad: float = -1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by FTML (follow the moving leader); `t` counts updates from 1."""
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
def gather_nd(
    data: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Gather elements or slices at coordinates: ``out[i...] = data[indices[0, i...], ...]``."""
def hard_sigmoid(
    data: Symbol | None = None, alpha: float = 0.2, beta: float = 0.5, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the hard sigmoid: ``alpha * x + beta`` clipped to [0, 1]."""
def identity(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return a copy of an array."""
def im2col(
    data: Symbol | None = None, kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (),
    pad: _Shape = (), name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract the patches of a sliding window over images as columns."""
def khatri_rao(
    *args: Symbol, num_args: int = ..., name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the Khatri-Rao (column-wise Kronecker) product of matrices."""
def lamb_update_phase1(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None,
    var: Symbol | None = None, beta1: float = 0.899999976, beta2: float = 0.999000013,
    epsilon: float = 9.99999997e-07, t: int = ..., bias_correction: bool = True, wd: float = ...,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute phase 1 of LAMB: the direction of the step."""
def lamb_update_phase2(
    weight: Symbol | None = None, g: Symbol | None = None, r1: Symbol | None = None,
    r2: Symbol | None = None, lr: float = ..., lower_bound: float = -1.0, upper_bound: float = -1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply phase 2 of LAMB: ``weight - lr * trust * g`` along the direction `g`."""
def linalg_det(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the determinants of square matrices; a single matrix gives shape (1,)."""
def linalg_extractdiag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract the diagonals of square matrices; a positive `offset` is above the main ..."""
def linalg_extracttrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract triangles of square matrices as vectors."""
def linalg_gelqf(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the LQ factorisation ``A = L Q``: orthonormal rows in Q, lower triangular L."""
def linalg_gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None,
    transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0,
    axis: int = -2, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute matrix products with addition: ``alpha * op(A) op(B) + beta * C``."""
def linalg_gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False,
    transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute matrix products: ``alpha * op(A) op(B)``."""
def linalg_inverse(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the inverse of square matrices; singular matrices raise an error."""
def linalg_makediag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Construct square matrices with the given diagonals at `offset` above the main one."""
def linalg_maketrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Construct square matrices with the given triangles and zeros elsewhere."""
def linalg_potrf(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the Cholesky factor L, lower triangular, of positive definite ``A = L L^T``."""
def linalg_potri(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the inverse of ``A A^T`` for lower triangular A, such as a Cholesky factor."""
def linalg_slogdet(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the signs and log-magnitudes of determinants; a single matrix gives shape ..."""
def linalg_sumlogdiag(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum of the logarithms of the diagonals of square matrices."""
def linalg_syrk(
    A: Symbol | None = None, transpose: bool = False, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply a matrix by its transpose: ``alpha * A A^T``, with `transpose` ``alpha * ..."""
def linalg_trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply by triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def linalg_trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Solve triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``, for X."""
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
def log_softmax(
    data: Symbol | None = None, axis: int = -1, temperature: float | None = None,
    dtype: _DType = None, use_length: bool | None = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply log-softmax along an axis: ``log(softmax(x))``, without overflow."""
def logical_not(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Logical NOT: 1 where x is zero, 0 elsewhere."""
def make_loss(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the input unchanged as a loss: its gradient is 1, ignoring the head gradient."""
def masked_log_softmax(
    data: Symbol | None = None, mask: Symbol | None = None, axis: int = -1,
    temperature: float | None = None, normalize: bool | None = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply log-softmax along an axis to the elements selected by a mask."""
def masked_softmax(
    data: Symbol | None = None, mask: Symbol | None = None, axis: int = -1,
    temperature: float | None = None, normalize: bool | None = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmax along an axis to the elements selected by a mask."""
def max(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the maximum over axes."""
def max_axis(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the maximum over axes."""
def mean(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the mean over axes; integer results are truncated towards zero."""
def min(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the minimum over axes."""
def min_axis(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the minimum over axes."""
def mish(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The mish function x * tanh(log(1 + exp(x)))."""
def moments(
    data: Symbol | None = None, axes: _Shape | None = None, keepdims: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the mean and the biased variance over `axes`, which must be given."""
def mp_lamb_update_phase1(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None,
    var: Symbol | None = None, weight32: Symbol | None = None, beta1: float = 0.899999976,
    beta2: float = 0.999000013, epsilon: float = 9.99999997e-07, t: int = ...,
    bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute phase 1 of LAMB: the direction of the step."""
def mp_lamb_update_phase2(
    weight: Symbol | None = None, g: Symbol | None = None, r1: Symbol | None = None,
    r2: Symbol | None = None, weight32: Symbol | None = None, lr: float = ...,
    lower_bound: float = -1.0, upper_bound: float = -1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply phase 2 of LAMB: ``weight - lr * trust * g`` along the direction `g`."""
def mp_nag_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None,
    weight32: Symbol | None = None, lr: float = ..., momentum: float = 0.0, wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD with Nesterov momentum (NAG)."""
def mp_sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None,
    weight32: Symbol | None = None, lr: float = ..., momentum: float = 0.0, wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD with momentum."""
def mp_sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, weight32: Symbol | None = None,
    lr: float = ..., wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD: ``weight - lr * (grad + wd * weight)``."""
def multi_all_finite(
    *data: Symbol, num_arrays: int = 1, init_output: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Test whether all elements of all arrays are finite: 1 or 0 as float32 of shape (1,)."""
def multi_lars(
    lrs: Symbol | None = None, weights_sum_sq: Symbol | None = None,
    grads_sum_sq: Symbol | None = None, wds: Symbol | None = None, eta: float = ...,
    eps: float = ..., rescale_grad: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the learning rates of LARS for several weights."""
def multi_mp_sgd_mom_update(
    *data: Symbol, lrs: _Floats = ..., wds: _Floats = ..., momentum: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_mom_update, each with its own lr and wd."""
def multi_mp_sgd_update(
    *data: Symbol, lrs: _Floats = ..., wds: _Floats = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_update, each with its own lr and wd."""
def multi_sgd_mom_update(
    *data: Symbol, lrs: _Floats = ..., wds: _Floats = ..., momentum: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_mom_update, each with its own lr and wd."""
def multi_sgd_update(
    *data: Symbol, lrs: _Floats = ..., wds: _Floats = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_update, each with its own lr and wd."""
def multi_sum_sq(
    *data: Symbol, num_arrays: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum of squares of each array, as one float32 per array."""
def nag_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None,
    lr: float = ..., momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by SGD with Nesterov momentum (NAG)."""
def nanprod(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the product over axes, treating NaN as 1."""
def nansum(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum over axes, treating NaN as 0."""
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
def normal(
    loc: float = 0.0, scale: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the normal distribution with a mean and a standard deviation."""
def one_hot(
    indices: Symbol | None = None, depth: int = ..., on_value: float = 1.0, off_value: float = 0.0,
    dtype: _DType = "float32", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Encode indices as one-hot vectors of `depth` elements."""
def ones_like(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return an array of ones with the shape and dtype of the input."""
def pad(
    data: Symbol | None = None, mode: Literal["constant", "edge", "reflect"] = ...,
    pad_width: _Shape = ..., constant_value: float = 0.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pad all dimensions of an array but the first two."""
def pick(
    data: Symbol | None = None, index: Symbol | None = None, axis: int | None = -1,
    keepdims: bool = False, mode: Literal["clip", "wrap"] = "clip", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pick one element along `axis` for each position of the other axes."""
def preloaded_multi_mp_sgd_mom_update(
    *data: Symbol, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_mom_update, with lrs and wds in arrays."""
def preloaded_multi_mp_sgd_update(
    *data: Symbol, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_update, with lrs and wds in arrays."""
def preloaded_multi_sgd_mom_update(
    *data: Symbol, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_mom_update, with lrs and wds in arrays."""
def preloaded_multi_sgd_update(
    *data: Symbol, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update several weights as sgd_update, with lrs and wds in arrays."""
def prod(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the product over axes."""
def quantized_reshape(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    shape: _Shape = (), reverse: bool = False, target_shape: _Shape = (),
    keep_highest: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape quantized data, as Reshape does; the range is unchanged."""
def quantized_transpose(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    axes: _Shape = (), name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Transpose quantized data, as transpose does; the range is unchanged."""
def radians(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert degrees to radians."""
def random_binomial(
    n: int = 1, p: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the binomial distribution: successes with probability p in n trials."""
def random_exponential(
    lam: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the exponential distribution with rate lam (1 / mean)."""
def random_gamma(
    alpha: float = 1.0, beta: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the gamma distribution with shape alpha and scale beta."""
def random_generalized_negative_binomial(
    mu: float = 1.0, alpha: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the generalized negative binomial distribution with mean mu and ..."""
def random_negative_binomial(
    k: int = 1, p: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the negative binomial distribution: failures with probability p ..."""
def random_normal(
    loc: float = 0.0, scale: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the normal distribution with a mean and a standard deviation."""
def random_pdf_dirichlet(
    sample: Symbol | None = None, alpha: Symbol | None = None, is_log: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the Dirichlet density with concentrations alpha of each row along the last ..."""
def random_pdf_exponential(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the exponential distribution with rate lam."""
def random_pdf_gamma(
    sample: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None,
    is_log: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the gamma distribution with shape alpha and ..."""
def random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None, mu: Symbol | None = None, alpha: Symbol | None = None,
    is_log: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the generalized negative binomial distribution ..."""
def random_pdf_negative_binomial(
    sample: Symbol | None = None, k: Symbol | None = None, p: Symbol | None = None,
    is_log: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the negative binomial distribution: failures ..."""
def random_pdf_normal(
    sample: Symbol | None = None, mu: Symbol | None = None, sigma: Symbol | None = None,
    is_log: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the normal distribution with mean mu and ..."""
def random_pdf_poisson(
    sample: Symbol | None = None, lam: Symbol | None = None, is_log: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the Poisson distribution with rate lam."""
def random_pdf_uniform(
    sample: Symbol | None = None, low: Symbol | None = None, high: Symbol | None = None,
    is_log: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the probability density of the uniform distribution on [low, high], ..."""
def random_poisson(
    lam: float = 1.0, shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the Poisson distribution with rate lam."""
def random_randint(
    low: int = ..., high: int = ..., shape: _Shape | None = None, ctx: Context | str | None = "",
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw integers from the uniform distribution on [low, high)."""
def random_uniform(
    low: float = 0.0, high: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the uniform distribution on [low, high)."""
def ravel_multi_index(
    data: Symbol | None = None, shape: _Shape | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert coordinates, one column each, to flat indices in an array of shape `shape`."""
def rcbrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reciprocal cube root: 1 / cbrt(x)."""
def reciprocal(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reciprocal: 1 / x."""
def relu(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The rectified linear unit max(x, 0)."""
def repeat(
    data: Symbol | None = None, repeats: int = ..., axis: int | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Repeat each element `repeats` times along `axis`, by default of the flattened array."""
def reset_arrays(
    *data: Symbol, num_arrays: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Set all arrays to zero."""
def reshape(
    data: Symbol | None = None, shape: _Shape = (), reverse: bool = False,
    target_shape: _Shape = (), keep_highest: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape an array, keeping the number of elements."""
def reshape_like(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_begin: int | None = None,
    lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape `lhs` to the shape of `rhs`, or replace a range of its dimensions by one ..."""
def reverse(
    data: Symbol | None = None, axis: _Shape = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reverse the order of elements along the dimensions `axis` (non-negative)."""
def rint(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round to the nearest integer, halves down."""
def rmsprop_update(
    weight: Symbol | None = None, grad: Symbol | None = None, n: Symbol | None = None,
    lr: float = ..., gamma1: float = 0.949999988, epsilon: float = 9.99999994e-09, wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by RMSProp: ``weight - lr * grad / sqrt(n + epsilon)``."""
def rmspropalex_update(
    weight: Symbol | None = None, grad: Symbol | None = None, n: Symbol | None = None,
    g: Symbol | None = None, delta: Symbol | None = None, lr: float = ...,
    gamma1: float = 0.949999988, gamma2: float = 0.899999976, epsilon: float = 9.99999994e-09,
    wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    clip_weights: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by centred RMSProp with momentum (Graves)."""
def round(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round to the nearest integer, halves away from zero."""
def rsqrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reciprocal square root: 1 / sqrt(x)."""
def sample_binomial(
    n: Symbol | None = None, p: Symbol | None = None, shape: _Shape = (), dtype: _DType = "None",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the binomial distribution: ..."""
def sample_categorical(
    data: Symbol | None = None, shape: _Shape = (), get_prob: bool = False, dtype: _DType = "int32",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw indices with the probabilities along the last axis of an array."""
def sample_exponential(
    lam: Symbol | None = None, shape: _Shape = (), dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the exponential ..."""
def sample_gamma(
    alpha: Symbol | None = None, beta: Symbol | None = None, shape: _Shape = (),
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the gamma distribution with ..."""
def sample_generalized_negative_binomial(
    mu: Symbol | None = None, alpha: Symbol | None = None, shape: _Shape = (),
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the generalized negative ..."""
def sample_multinomial(
    data: Symbol | None = None, shape: _Shape = (), get_prob: bool = False, dtype: _DType = "int32",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw indices with the probabilities along the last axis of an array."""
def sample_negative_binomial(
    k: Symbol | None = None, p: Symbol | None = None, shape: _Shape = (), dtype: _DType = "None",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the negative binomial ..."""
def sample_normal(
    mu: Symbol | None = None, sigma: Symbol | None = None, shape: _Shape = (),
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the normal distribution ..."""
def sample_poisson(
    lam: Symbol | None = None, shape: _Shape = (), dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the Poisson distribution ..."""
def sample_uniform(
    low: Symbol | None = None, high: Symbol | None = None, shape: _Shape = (),
    dtype: _DType = "None", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples for each element of parameter arrays from the uniform distribution on ..."""
def scatter_nd(
    data: Symbol | None = None, indices: Symbol | None = None, shape: _Shape = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Scatter data into zeros of a shape: ``out[indices[0, i...], ...] = data[i...]``."""
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
def shape_array(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the shape of an array as a 1-D int64 array."""
def shuffle(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Shuffle an array along its first axis; not differentiable."""
def sigmoid(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The sigmoid function 1 / (1 + exp(-x))."""
def sign(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sign: -1, 0 or 1."""
def signsgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, lr: float = ..., wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by signSGD: ``(1 - lr * wd) * weight - lr * sign(grad)``."""
def signum_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None,
    lr: float = ..., momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, wd_lh: float = 0.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by Signum: ``(1 - lr * wd_lh) * weight + lr * sign(mom)``."""
def sin(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sine."""
def sinh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Hyperbolic sine."""
def size_array(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the number of elements of an array as an int64 array of shape (1,)."""
def slice(
    data: Symbol | None = None, begin: _Shape = ..., end: _Shape = ..., step: _Shape = (),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Slice the first dimensions by ``begin:end:step``, as Python does."""
def slice_axis(
    data: Symbol | None = None, axis: int = ..., begin: int = ..., end: int | None = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Slice one dimension by ``begin:end``; negative positions count from its end."""
def slice_like(
    data: Symbol | None = None, shape_like: Symbol | None = None, axes: _Shape = (),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Slice `data` from the origin to the extents of `shape_like`."""
def smooth_l1(
    data: Symbol | None = None, scalar: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the smooth L1 loss: quadratic for small values, linear for large ones."""
def softmax(
    data: Symbol | None = None, length: Symbol | None = None, axis: int = -1,
    temperature: float | None = None, dtype: _DType = None, use_length: bool | None = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmax along an axis: ``exp(x / t) / sum(exp(x / t))`` with temperature t."""
def softmax_cross_entropy(
    data: Symbol | None = None, label: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the cross-entropy of softmax(data) and class labels, summed over rows."""
def softmin(
    data: Symbol | None = None, axis: int = -1, temperature: float | None = None,
    dtype: _DType = None, use_length: bool | None = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply softmin along an axis: ``softmax(-x)``."""
def softsign(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The softsign function x / (1 + abs(x))."""
def sort(
    data: Symbol | None = None, axis: int | None = -1, is_ascend: bool = True,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Sort elements along `axis`; ``axis=None`` flattens the array."""
def space_to_depth(
    data: Symbol | None = None, block_size: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Rearrange blocks of pixels into channels: (n, c, h, w) becomes (n, c*b*b, h/b, w/b)."""
def split(
    data: Symbol | None = None, num_outputs: int = ..., axis: int = 1, squeeze_axis: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Split an array into `num_outputs` equal parts along `axis`."""
def sqrt(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Square root."""
def square(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Square: x^2."""
def squeeze(
    data: Symbol | None = None, axis: _Shape | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Remove dimensions of size 1: all of them, or those listed in `axis`."""
def stack(
    *data: Symbol, axis: int = 0, num_args: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Stack arrays of the same shape along a new dimension `axis`."""
def stop_gradient(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the input unchanged, but stop gradients."""
def sum(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum over axes."""
def sum_axis(
    data: Symbol | None = None, axis: _Shape | None = None, keepdims: bool = False,
    exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum over axes."""
def swapaxes(
    data: Symbol | None = None, dim1: int = 0, dim2: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Swap dimensions `dim1` and `dim2`."""
def take(
    a: Symbol | None = None, indices: Symbol | None = None, axis: int = 0,
    mode: Literal["clip", "raise", "wrap"] = "clip", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Take elements at `indices` along `axis`."""
def tan(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Tangent."""
def tanh(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Hyperbolic tangent."""
def tile(
    data: Symbol | None = None, reps: _Shape = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Tile an array: repeat it ``reps[i]`` times along dimension i."""
def topk(
    data: Symbol | None = None, axis: int | None = -1, k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices", is_ascend: bool = False,
    dtype: _DType = "float32", name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the `k` largest (with `is_ascend`, smallest) elements along `axis`, sorted."""
def transpose(
    data: Symbol | None = None, axes: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Permute the dimensions: dimension i of the result is ``axes[i]`` of the input."""
def trunc(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Round towards zero."""
def uniform(
    low: float = 0.0, high: float = 1.0, shape: _Shape | None = None,
    ctx: Context | str | None = "", dtype: _DType = "None", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples from the uniform distribution on [low, high)."""
def unravel_index(
    data: Symbol | None = None, shape: _Shape | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert flat indices to coordinates in an array of shape `shape`."""
def where(
    condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Choose elements of `x` where `condition` is nonzero, else of `y`."""
def zeros_like(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return an array of zeros with the shape and dtype of the input."""
