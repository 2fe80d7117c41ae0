"""`mx.sym.contrib`: non-core operators and control flow for symbols."""

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

def AdaptiveAvgPooling2D(
    data: Symbol | None = None, output_size: _Shape = (), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply adaptive average pooling to images (batch, channels, height, width)."""
def BatchNormWithReLU(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
    cudnn_off: bool = False, min_calib_range: float | None = None,
    max_calib_range: float | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply batch normalisation followed by ``max(x, 0)``; see BatchNorm."""
def BilinearResize2D(
    data: Symbol | None = None, like: Symbol | None = None, height: int = 1, width: int = 1,
    scale_height: float | None = None, scale_width: float | None = None,
    mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] = "size",
    align_corners: bool = True, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Resize images (batch, channels, height, width) by bilinear interpolation."""
def CTCLoss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the connectionist temporal classification (CTC) loss."""
def DeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, weight: Symbol | None = None,
    bias: Symbol | None = None, kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (),
    pad: _Shape = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1,
    workspace: int = 1024, no_bias: bool = False,
    layout: Literal[None, "NCDHW", "NCHW", "NCW"] = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a convolution with learned offsets."""
def DeformablePSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, trans: Symbol | None = None,
    spatial_scale: float = ..., output_dim: int = ..., group_size: int = ...,
    pooled_size: int = ..., part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0,
    no_trans: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Position-sensitive pooling of regions with learned bin offsets and bilinear sampling."""
def ModulatedDeformableConvolution(
    data: Symbol | None = None, offset: Symbol | None = None, mask: Symbol | None = None,
    weight: Symbol | None = None, bias: Symbol | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    im2col_step: int = 64, layout: Literal[None, "NCDHW", "NCHW", "NCW"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a convolution with learned offsets and modulation (a mask)."""
def MultiBoxDetection(
    cls_prob: Symbol | None = None, loc_pred: Symbol | None = None, anchor: Symbol | None = None,
    clip: bool = True, threshold: float = 0.00999999978, background_id: int = 0,
    nms_threshold: float = 0.5, force_suppress: bool = False,
    variances: _Floats = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Decode a single-shot detector's predictions to boxes, with non-maximum suppression."""
def MultiBoxPrior(
    data: Symbol | None = None, sizes: _Floats = (1.0,), ratios: _Floats = (1.0,),
    clip: bool = False, steps: _Floats = (-1.0, -1.0), offsets: _Floats = (0.5, 0.5),
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Generate anchor boxes of several sizes and aspect ratios at each feature map position."""
def MultiBoxTarget(
    anchor: Symbol | None = None, label: Symbol | None = None, cls_pred: Symbol | None = None,
    overlap_threshold: float = 0.5, ignore_label: float = -1.0, negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0,
    variances: _Floats = (0.1, 0.1, 0.2, 0.2), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the training targets of a single-shot detector from labelled boxes."""
def MultiProposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.699999988,
    rpn_min_size: int = 16, scales: _Floats = (4.0, 8.0, 16.0, 32.0),
    ratios: _Floats = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False,
    iou_loss: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Propose regions of images that may contain objects, best first."""
def PSROIPooling(
    data: Symbol | None = None, rois: Symbol | None = None, spatial_scale: float = ...,
    output_dim: int = ..., pooled_size: int = ..., group_size: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pool regions by averaging over bins, each bin with its own channels."""
def Proposal(
    cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None,
    rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.699999988,
    rpn_min_size: int = 16, scales: _Floats = (4.0, 8.0, 16.0, 32.0),
    ratios: _Floats = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False,
    iou_loss: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Propose regions of an image that may contain objects, best first."""
def ROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, pooled_size: _Shape = ...,
    spatial_scale: float = ..., sample_ratio: int = -1, position_sensitive: bool = False,
    aligned: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Pool regions of interest by averaging bilinear samples over a fixed grid of bins."""
def RROIAlign(
    data: Symbol | None = None, rois: Symbol | None = None, pooled_size: _Shape = ...,
    spatial_scale: float = ..., sampling_ratio: int = -1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Pool rotated regions of interest by averaging bilinear samples over a grid of bins."""
def SparseEmbedding(
    data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ...,
    output_dim: int = ..., dtype: _DType = "float32", deterministic: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Look up rows of a weight matrix, with a row_sparse gradient."""
def SyncBatchNorm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: float = 0.00100000005,
    momentum: float = 0.899999976, fix_gamma: bool = True, use_global_stats: bool = False,
    output_mean_var: bool = False, ndev: int = 1, key: str = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply batch normalisation over axis 1, synchronised across devices."""
def adamw_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
) -> Symbol:
    """One step of AdamW: Adam with decoupled weight decay."""
def allclose(
    a: Symbol | None = None, b: Symbol | None = None, rtol: float = 1e-05, atol: float = 1e-08,
    equal_nan: bool = True, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Test whether ``abs(a - b) <= atol + rtol * abs(b)`` for all elements: 1 if so, else 0."""
def arange_like(
    data: Symbol | None = None, start: float = 0.0, step: float = 1.0, repeat: int = 1,
    ctx: Context | str | None = "", axis: int | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return start, start + step, ... in the shape of `data`, or as a vector along `axis`."""
def bipartite_matching(
    data: Symbol | None = None, is_ascend: bool = False, threshold: float = ..., topk: int = -1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Match rows and columns of scores (..., rows, columns) greedily, best pairs first."""
def boolean_mask(
    data: Symbol | None = None, index: Symbol | None = None, axis: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Select the rows of `data` whose entry in `index` is nonzero; `axis` must be 0."""
def box_decode(
    data: Symbol | None = None, anchors: Symbol | None = None, std0: float = 1.0, std1: float = 1.0,
    std2: float = 1.0, std3: float = 1.0, clip: float = -1.0,
    format: Literal["center", "corner"] = "center", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Decode predicted offsets from anchors to boxes: the inverse of box_encode."""
def box_encode(
    samples: Symbol | None = None, matches: Symbol | None = None, anchors: Symbol | None = None,
    refs: Symbol | None = None, means: Symbol | None = None, stds: Symbol | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Encode matched boxes as normalised offsets from anchors, as training targets."""
def box_iou(
    lhs: Symbol | None = None, rhs: Symbol | None = None,
    format: Literal["center", "corner"] = "corner", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the pairwise intersection over union (IoU) of two arrays of boxes."""
def box_nms(
    data: Symbol | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0.0,
    topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1,
    background_id: int = -1, force_suppress: bool = False,
    in_format: Literal["center", "corner"] = "corner",
    out_format: Literal["center", "corner"] = "corner", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply non-maximum suppression to boxes."""
def box_non_maximum_suppression(
    data: Symbol | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0.0,
    topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1,
    background_id: int = -1, force_suppress: bool = False,
    in_format: Literal["center", "corner"] = "corner",
    out_format: Literal["center", "corner"] = "corner", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply non-maximum suppression to boxes."""
def calibrate_entropy(
    hist: Symbol | None = None, hist_edges: Symbol | None = None, num_quantized_bins: int = 255,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Find the quantization threshold of minimal KL divergence for a histogram."""
def cond(pred, then_func, else_func, name="cond"):
    """Select one of two results by a condition."""
def count_sketch(
    data: Symbol | None = None, h: Symbol | None = None, s: Symbol | None = None,
    out_dim: int = ..., processing_batch_size: int = 32, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the count sketch: add ``s[j] * data[..., j]`` to ``out[..., h[j]]``."""
def ctc_loss(
    data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None,
    label_lengths: Symbol | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the connectionist temporal classification (CTC) loss."""
def dequantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal["float32"] = "float32", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Dequantize 8-bit integers to floats: ``data * (R / 127.5)``, or 255.5 for uint8."""
def div_sqrt_dim(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Divide by the square root of the last extent, as in scaled dot-product attention."""
def dynamic_reshape(
    data: Symbol | None = None, shape: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape `data` to the extents in array `shape`, with the codes of Reshape."""
def fft(
    data: Symbol | None = None, compute_size: int = 128, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the discrete Fourier transform along the last axis."""
def foreach(body, data, init_states, name="foreach"):
    """Call a function for each slice of arrays along their first axis."""
def full(shape, val, dtype=None, **kwargs) -> Symbol:
    """Create an array filled with a number."""
def getnnz(
    data: Symbol | None = None, axis: int | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Count the stored elements of a csr array: in all, or per row or column."""
def gradientmultiplier(
    data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the data unchanged and multiply its gradient by `scalar` (negative to ..."""
def group_adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None,
    lr: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0,
    epsilon: float = 9.99999975e-06, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Update a weight by row-wise AdaGrad: ``weight - lr * grad / sqrt(history + epsilon)``."""
def hawkesll(
    lda: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None,
    state: Symbol | None = None, lags: Symbol | None = None, marks: Symbol | None = None,
    valid_length: Symbol | None = None, max_time: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the log-likelihood of event sequences under a marked Hawkes process."""
def ifft(
    data: Symbol | None = None, compute_size: int = 128, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the real part of the unnormalised inverse Fourier transform along the last ..."""
def index_array(
    data: Symbol | None = None, axes: _Shape | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the int64 coordinates of every element along a new last axis, or only `axes`."""
def index_copy(
    old_tensor: Symbol | None = None, index_vector: Symbol | None = None,
    new_tensor: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Replace row ``index_vector[i]`` of `old_tensor` by row i of `new_tensor`."""
def interleaved_matmul_encdec_qk(
    queries: Symbol | None = None, keys_values: Symbol | None = None, heads: int = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute cross-attention scores: queries times another sequence's keys, over ..."""
def interleaved_matmul_encdec_valatt(
    keys_values: Symbol | None = None, attention: Symbol | None = None, heads: int = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute cross-attention outputs: another sequence's values weighted by attention."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: Symbol | None = None, heads: int = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute self-attention scores: queries times keys, divided by sqrt(depth)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: Symbol | None = None, attention: Symbol | None = None, heads: int = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute self-attention outputs: values weighted by attention."""
def intgemm_fully_connected(
    data: Symbol | None = None, weight: Symbol | None = None, scaling: Symbol | None = None,
    bias: Symbol | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True,
    out_type: Literal["float32", "int32"] = "float32", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a dense layer with prepared int8 weight: ``scaling * (data . weight^T) + bias``."""
def intgemm_maxabsolute(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Return the largest magnitude of float32 data, with shape (1,); 0 if empty."""
def intgemm_prepare_data(
    data: Symbol | None = None, maxabs: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Quantize floats to int8: ``data * 127 / maxabs``, rounded half to even, in [-127, ..."""
def intgemm_prepare_weight(
    weight: Symbol | None = None, maxabs: Symbol | None = None, already_quantized: bool = False,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert weights to the int8 form of `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Take rows of a prepared weight; their number must be a multiple of 8."""
def mp_adamw_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08,
    wd=0, clip_gradient=-1, out=None, name=None, **kwargs,
) -> Symbol:
    """One step of `adamw_update` for a weight in half precision."""
def mrcnn_mask_target(
    rois: Symbol | None = None, gt_masks: Symbol | None = None, matches: Symbol | None = None,
    cls_targets: Symbol | None = None, num_rois: int = ..., num_classes: int = ...,
    mask_size: _Shape = ..., sample_ratio: int = 2, aligned: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute mask targets: the matched objects' masks pooled over regions, and class ..."""
def quadratic(
    data: Symbol | None = None, a: float = 0.0, b: float = 0.0, c: float = 0.0,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute ``a x^2 + b x + c`` (the operator of MXNet's tutorial)."""
def quantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal["int8", "uint8"] = "uint8", name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Quantize floats of a known range to 8-bit integers."""
def quantize_asym(
    data: Symbol | None = None, min_calib_range: float | None = None,
    max_calib_range: float | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Quantize floats to uint8 asymmetrically: ``data * scale + shift``."""
def quantize_v2(
    data: Symbol | None = None, out_type: Literal["auto", "int8", "uint8"] = "int8",
    min_calib_range: float | None = None, max_calib_range: float | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Quantize floats to 8-bit integers."""
def quantized_act(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply ReLU to quantized data; the range is unchanged."""
def quantized_batch_norm(
    data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
    moving_mean: Symbol | None = None, moving_var: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
    cudnn_off: bool = False, min_calib_range: float | None = None,
    max_calib_range: float | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply batch normalisation with running statistics to quantized data, with int8 result."""
def quantized_concat(
    *data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Concatenate `num_args` quantized arrays along dimension `dim`."""
def quantized_conv(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None,
    min_weight: Symbol | None = None, max_weight: Symbol | None = None,
    min_bias: Symbol | None = None, max_bias: Symbol | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convolve int8 or uint8 data with int8 filters; return 32-bit sums and their range."""
def quantized_elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None,
    lhs_max: Symbol | None = None, rhs_min: Symbol | None = None, rhs_max: Symbol | None = None,
    min_calib_range: float | None = None, max_calib_range: float | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Add two quantized arrays, each with its minimum and maximum (1,)."""
def quantized_elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None,
    lhs_max: Symbol | None = None, rhs_min: Symbol | None = None, rhs_max: Symbol | None = None,
    min_calib_range: float | None = None, max_calib_range: float | None = None,
    enable_float_output: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply two quantized arrays, each with its minimum and maximum (1,)."""
def quantized_embedding(
    data: Symbol | None = None, weight: Symbol | None = None, min_weight: Symbol | None = None,
    max_weight: Symbol | None = None, input_dim: int = ..., output_dim: int = ...,
    dtype: _DType = "float32", sparse_grad: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Look up rows of an int8 weight; the result has the weight's range."""
def quantized_flatten(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Flatten all dimensions of quantized data but the first; the range is unchanged."""
def quantized_fully_connected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None,
    min_data: Symbol | None = None, max_data: Symbol | None = None,
    min_weight: Symbol | None = None, max_weight: Symbol | None = None,
    min_bias: Symbol | None = None, max_bias: Symbol | None = None, num_hidden: int = ...,
    no_bias: bool = False, flatten: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply a dense layer to int8 or uint8 data; return 32-bit sums and their range."""
def quantized_pooling(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    kernel: _Shape = (), pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False, cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid", stride: _Shape = (),
    pad: _Shape = (), p_value: int | None = None, count_include_pad: bool | None = None,
    layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] = None,
    output_size: _Shape | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Apply max or average pooling to quantized data; the range is unchanged."""
def quantized_reshape(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    shape: _Shape = (), reverse: bool = False, target_shape: _Shape = (),
    keep_highest: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Reshape quantized data, as Reshape does; the range is unchanged."""
def quantized_rnn(
    data: Symbol | None = None, parameters: Symbol | None = None, state: Symbol | None = None,
    state_cell: Symbol | None = None, sequence_length: Symbol | None = None,
    data_scale: Symbol | None = None, data_shift: Symbol | None = None, state_size: int = ...,
    num_layers: int = ..., bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = ..., p: float = 0.0,
    state_outputs: bool = False, projection_size: int | None = None,
    lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Run LSTM layers over uint8 sequences, which represent ``(data - shift) / scale``."""
def quantized_transpose(
    data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None,
    axes: _Shape = (), name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Transpose quantized data, as transpose does; the range is unchanged."""
def rand_zipfian(true_classes, num_sampled, range_max):
    """Draw classes from an approximately log-uniform (Zipfian) distribution."""
def requantize(
    data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None,
    out_type: Literal["auto", "int8", "uint8"] = "int8", min_calib_range: float | None = None,
    max_calib_range: float | None = None, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Requantize 32-bit integers, such as sums of quantized products, to 8 bits."""
def round_ste(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """`round` with a straight-through gradient."""
def sign_ste(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """`sign` with a straight-through gradient."""
def sldwin_atten_context(
    score: Symbol | None = None, value: Symbol | None = None, dilation: Symbol | None = None,
    w: int = ..., symmetric: bool = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the score-weighted sums of the values in a sliding window."""
def sldwin_atten_mask_like(
    score: Symbol | None = None, dilation: Symbol | None = None, valid_length: Symbol | None = None,
    w: int = ..., symmetric: bool = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Return a mask: 1 where sldwin_atten_score pairs two steps of the sequence, else 0."""
def sldwin_atten_score(
    query: Symbol | None = None, key: Symbol | None = None, dilation: Symbol | None = None,
    w: int = ..., symmetric: bool = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the products of queries with the keys in a sliding window."""
def uniform(low=0, high=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from the uniform distribution on [low, high)."""
def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Call a function as long as a condition holds."""
