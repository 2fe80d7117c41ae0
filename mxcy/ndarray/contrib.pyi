"""`mx.nd.contrib`: non-core operators, tests for special values, control flow."""

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

def AdaptiveAvgPooling2D(
    data: NDArray, output_size: _Shape = (), out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply adaptive average pooling to images (batch, channels, height, width)."""
def BatchNormWithReLU(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
    cudnn_off: bool = False, min_calib_range: float | None = None,
    max_calib_range: float | None = None, out: _Out = None, name: str | None = None,
) -> Any:
    """Apply batch normalisation followed by ``max(x, 0)``; see BatchNorm."""
def BilinearResize2D(
    data: NDArray, like: NDArray | None = None, height: int = 1, width: int = 1,
    scale_height: float | None = None, scale_width: float | None = None,
    mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] = "size",
    align_corners: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Resize images (batch, channels, height, width) by bilinear interpolation."""
def CTCLoss(
    data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the connectionist temporal classification (CTC) loss."""
def DeformableConvolution(
    data: NDArray, offset: NDArray | None = None, weight: NDArray | None = None,
    bias: NDArray | None = None, kernel: _Shape = ..., stride: _Shape = (), dilate: _Shape = (),
    pad: _Shape = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1,
    workspace: int = 1024, no_bias: bool = False,
    layout: Literal[None, "NCDHW", "NCHW", "NCW"] = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a convolution with learned offsets."""
def DeformablePSROIPooling(
    data: NDArray, rois: NDArray | None = None, trans: NDArray | None = None,
    spatial_scale: float = ..., output_dim: int = ..., group_size: int = ...,
    pooled_size: int = ..., part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0,
    no_trans: bool = False, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Position-sensitive pooling of regions with learned bin offsets and bilinear sampling."""
def ModulatedDeformableConvolution(
    data: NDArray, offset: NDArray | None = None, mask: NDArray | None = None,
    weight: NDArray | None = None, bias: NDArray | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    im2col_step: int = 64, layout: Literal[None, "NCDHW", "NCHW", "NCW"] = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Apply a convolution with learned offsets and modulation (a mask)."""
def MultiBoxDetection(
    cls_prob: NDArray, loc_pred: NDArray, anchor: NDArray, clip: bool = True,
    threshold: float = 0.00999999978, background_id: int = 0, nms_threshold: float = 0.5,
    force_suppress: bool = False, variances: _Floats = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Decode a single-shot detector's predictions to boxes, with non-maximum suppression."""
def MultiBoxPrior(
    data: NDArray, sizes: _Floats = (1.0,), ratios: _Floats = (1.0,), clip: bool = False,
    steps: _Floats = (-1.0, -1.0), offsets: _Floats = (0.5, 0.5), out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Generate anchor boxes of several sizes and aspect ratios at each feature map position."""
def MultiBoxTarget(
    anchor: NDArray, label: NDArray, cls_pred: NDArray, overlap_threshold: float = 0.5,
    ignore_label: float = -1.0, negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0,
    variances: _Floats = (0.1, 0.1, 0.2, 0.2), out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Compute the training targets of a single-shot detector from labelled boxes."""
def MultiProposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300, threshold: float = 0.699999988, rpn_min_size: int = 16,
    scales: _Floats = (4.0, 8.0, 16.0, 32.0), ratios: _Floats = (0.5, 1.0, 2.0),
    feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Propose regions of images that may contain objects, best first."""
def PSROIPooling(
    data: NDArray, rois: NDArray, spatial_scale: float = ..., output_dim: int = ...,
    pooled_size: int = ..., group_size: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pool regions by averaging over bins, each bin with its own channels."""
def Proposal(
    cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300, threshold: float = 0.699999988, rpn_min_size: int = 16,
    scales: _Floats = (4.0, 8.0, 16.0, 32.0), ratios: _Floats = (0.5, 1.0, 2.0),
    feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Propose regions of an image that may contain objects, best first."""
def ROIAlign(
    data: NDArray, rois: NDArray, pooled_size: _Shape = ..., spatial_scale: float = ...,
    sample_ratio: int = -1, position_sensitive: bool = False, aligned: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pool regions of interest by averaging bilinear samples over a fixed grid of bins."""
def RROIAlign(
    data: NDArray, rois: NDArray, pooled_size: _Shape = ..., spatial_scale: float = ...,
    sampling_ratio: int = -1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Pool rotated regions of interest by averaging bilinear samples over a grid of bins."""
def SparseEmbedding(
    data: NDArray, weight: NDArray, input_dim: int = ..., output_dim: int = ...,
    dtype: _DType = "float32", deterministic: bool = False, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Look up rows of a weight matrix, with a row_sparse gradient."""
def SyncBatchNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    eps: float = 0.00100000005, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, ndev: int = 1, key: str = ...,
    out: _Out = None, name: str | None = None,
) -> Any:
    """Apply batch normalisation over axis 1, synchronised across devices."""
def adabelief_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
) -> NDArray:
    """One step of AdaBelief: Adam with the variance around the mean gradient."""
def adamw_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
) -> NDArray:
    """One step of AdamW: Adam with decoupled weight decay."""
def allclose(
    a: NDArray, b: NDArray, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = True,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Test whether ``abs(a - b) <= atol + rtol * abs(b)`` for all elements: 1 if so, else 0."""
def arange_like(
    data: NDArray, start: float = 0.0, step: float = 1.0, repeat: int = 1,
    ctx: Context | str | None = "", axis: int | None = None, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return start, start + step, ... in the shape of `data`, or as a vector along `axis`."""
def bipartite_matching(
    data: NDArray, is_ascend: bool = False, threshold: float = ..., topk: int = -1,
    out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Match rows and columns of scores (..., rows, columns) greedily, best pairs first."""
def boolean_mask(
    data: NDArray, index: NDArray, axis: int = 0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Select the rows of `data` whose entry in `index` is nonzero; `axis` must be 0."""
def box_decode(
    data: NDArray, anchors: NDArray, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0,
    std3: float = 1.0, clip: float = -1.0, format: Literal["center", "corner"] = "center",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Decode predicted offsets from anchors to boxes: the inverse of box_encode."""
def box_encode(
    samples: NDArray, matches: NDArray, anchors: NDArray, refs: NDArray, means: NDArray,
    stds: NDArray, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Encode matched boxes as normalised offsets from anchors, as training targets."""
def box_iou(
    lhs: NDArray, rhs: NDArray, format: Literal["center", "corner"] = "corner", out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute the pairwise intersection over union (IoU) of two arrays of boxes."""
def box_nms(
    data: NDArray, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1,
    coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1,
    force_suppress: bool = False, in_format: Literal["center", "corner"] = "corner",
    out_format: Literal["center", "corner"] = "corner", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply non-maximum suppression to boxes."""
def box_non_maximum_suppression(
    data: NDArray, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1,
    coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1,
    force_suppress: bool = False, in_format: Literal["center", "corner"] = "corner",
    out_format: Literal["center", "corner"] = "corner", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply non-maximum suppression to boxes."""
def calibrate_entropy(
    hist: NDArray, hist_edges: NDArray, num_quantized_bins: int = 255, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Find the quantization threshold of minimal KL divergence for a histogram."""
def cond(pred, then_func, else_func):
    """Call one of two functions, depending on a condition."""
def count_sketch(
    data: NDArray, h: NDArray, s: NDArray, out_dim: int = ..., processing_batch_size: int = 32,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the count sketch: add ``s[j] * data[..., j]`` to ``out[..., h[j]]``."""
def ctc_loss(
    data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the connectionist temporal classification (CTC) loss."""
def dequantize(
    data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal["float32"] = "float32",
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Dequantize 8-bit integers to floats: ``data * (R / 127.5)``, or 255.5 for uint8."""
def dgl_adjacency(data):
    """Return the adjacency matrix of a graph, with 1 for each edge."""
def dgl_csr_neighbor_non_uniform_sample(
    csr_matrix, probability, *seed_arrays, num_args=..., num_hops=1, num_neighbor=2,
    max_num_vertices=100,
):
    """Sample like `dgl_csr_neighbor_uniform_sample`, with non-uniform probabilities."""
def dgl_csr_neighbor_uniform_sample(
    csr_matrix, *seed_arrays, num_args=..., num_hops=1, num_neighbor=2, max_num_vertices=100,
):
    """Sample neighbourhoods: edges to some neighbours, from there to others, ..."""
def dgl_graph_compact(*graph_data, num_args=..., return_mapping, graph_sizes):
    """Remove the empty rows and columns of samples."""
def dgl_subgraph(graph, *data, num_args=..., return_mapping):
    """Extract the subgraphs induced by sets of vertices."""
def div_sqrt_dim(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Divide by the square root of the last extent, as in scaled dot-product attention."""
def dynamic_reshape(
    data: NDArray, shape: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Reshape `data` to the extents in array `shape`, with the codes of Reshape."""
def edge_id(data, u, v) -> NDArray:
    """Look up the ids of edges."""
def fft(
    data: NDArray, compute_size: int = 128, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the discrete Fourier transform along the last axis."""
def foreach(body, data, init_states):
    """Call a function for each slice of arrays along their first axis."""
def getnnz(
    data: NDArray, axis: int | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Count the stored elements of a csr array: in all, or per row or column."""
def gradientmultiplier(
    data: NDArray, scalar: float = 1.0, is_int: bool = True, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Return the data unchanged and multiply its gradient by `scalar` (negative to ..."""
def group_adagrad_update(
    weight: NDArray, grad: NDArray, history: NDArray, lr: float = ..., rescale_grad: float = 1.0,
    clip_gradient: float = -1.0, epsilon: float = 9.99999975e-06, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Update a weight by row-wise AdaGrad: ``weight - lr * grad / sqrt(history + epsilon)``."""
def hawkesll(
    lda: NDArray, alpha: NDArray, beta: NDArray, state: NDArray, lags: NDArray, marks: NDArray,
    valid_length: NDArray, max_time: NDArray, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Compute the log-likelihood of event sequences under a marked Hawkes process."""
def ifft(
    data: NDArray, compute_size: int = 128, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the real part of the unnormalised inverse Fourier transform along the last ..."""
def index_array(
    data: NDArray, axes: _Shape | None = None, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return the int64 coordinates of every element along a new last axis, or only `axes`."""
def index_copy(
    old_tensor: NDArray, index_vector: NDArray, new_tensor: NDArray, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Replace row ``index_vector[i]`` of `old_tensor` by row i of `new_tensor`."""
def interleaved_matmul_encdec_qk(
    queries: NDArray, keys_values: NDArray, heads: int = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute cross-attention scores: queries times another sequence's keys, over ..."""
def interleaved_matmul_encdec_valatt(
    keys_values: NDArray, attention: NDArray, heads: int = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute cross-attention outputs: another sequence's values weighted by attention."""
def interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray, heads: int = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute self-attention scores: queries times keys, divided by sqrt(depth)."""
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray, attention: NDArray, heads: int = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute self-attention outputs: values weighted by attention."""
def intgemm_fully_connected(
    data: NDArray, weight: NDArray | None = None, scaling: NDArray | None = None,
    bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True,
    out_type: Literal["float32", "int32"] = "float32", out: _Out = None, name: str | None = None,
) -> NDArray:
    """Apply a dense layer with prepared int8 weight: ``scaling * (data . weight^T) + bias``."""
def intgemm_maxabsolute(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Return the largest magnitude of float32 data, with shape (1,); 0 if empty."""
def intgemm_prepare_data(
    data: NDArray, maxabs: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Quantize floats to int8: ``data * 127 / maxabs``, rounded half to even, in [-127, ..."""
def intgemm_prepare_weight(
    weight: NDArray, maxabs: NDArray | None = None, already_quantized: bool = False,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Convert weights to the int8 form of `intgemm_fully_connected`."""
def intgemm_take_weight(
    weight: NDArray, indices: NDArray, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Take rows of a prepared weight; their number must be a multiple of 8."""
def isfinite(data):
    """Return 1 where an element is neither infinite nor NaN, else 0; like `isinf`."""
def isinf(data) -> NDArray:
    """Return 1 where an element is infinite, else 0."""
def isnan(data):
    """Return 1 where an element is NaN, else 0; like `isinf`."""
def mp_adabelief_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08,
    wd=0, clip_gradient=-1, out=None, name=None, **kwargs,
) -> NDArray:
    """One step of `adabelief_update` for a weight in half precision."""
def mp_adamw_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-08,
    wd=0, clip_gradient=-1, out=None, name=None, **kwargs,
) -> NDArray:
    """One step of `adamw_update` for a weight in half precision."""
def mrcnn_mask_target(
    rois: NDArray, gt_masks: NDArray, matches: NDArray, cls_targets: NDArray, num_rois: int = ...,
    num_classes: int = ..., mask_size: _Shape = ..., sample_ratio: int = 2, aligned: bool = False,
    out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Compute mask targets: the matched objects' masks pooled over regions, and class ..."""
def multi_adabelief_update(
    weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs,
):
    """One step of `adabelief_update` for several weights."""
def multi_adamw_update(
    weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs,
):
    """One step of `adamw_update` for several weights."""
def multi_lamb_update(
    weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs,
):
    """One step of LAMB for several weights."""
def multi_lans_update(
    weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs,
):
    """One step of LANS for several weights."""
def multi_mp_adabelief_update(
    weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas, out=None, name=None, size=0,
    **kwargs,
):
    """One step of `adabelief_update` for several weights in half precision."""
def multi_mp_adamw_update(
    weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas, out=None, name=None, size=0,
    **kwargs,
):
    """One step of `adamw_update` for several weights in half precision."""
def multi_mp_lamb_update(
    weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0, **kwargs,
):
    """One step of LAMB for several weights in half precision."""
def multi_mp_lans_update(
    weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0, **kwargs,
):
    """One step of LANS for several weights in half precision."""
def quadratic(
    data: NDArray, a: float = 0.0, b: float = 0.0, c: float = 0.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute ``a x^2 + b x + c`` (the operator of MXNet's tutorial)."""
def quantize(
    data: NDArray, min_range: NDArray, max_range: NDArray,
    out_type: Literal["int8", "uint8"] = "uint8", out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Quantize floats of a known range to 8-bit integers."""
def quantize_asym(
    data: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None,
    out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Quantize floats to uint8 asymmetrically: ``data * scale + shift``."""
def quantize_v2(
    data: NDArray, out_type: Literal["auto", "int8", "uint8"] = "int8",
    min_calib_range: float | None = None, max_calib_range: float | None = None, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Quantize floats to 8-bit integers."""
def quantized_act(
    data: NDArray, min_data: NDArray, max_data: NDArray,
    act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"] = ..., out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Apply ReLU to quantized data; the range is unchanged."""
def quantized_batch_norm(
    data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
    min_data: NDArray, max_data: NDArray, eps: float = 0.0010000000474974513,
    momentum: float = 0.899999976, fix_gamma: bool = True, use_global_stats: bool = False,
    output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False,
    min_calib_range: float | None = None, max_calib_range: float | None = None, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Apply batch normalisation with running statistics to quantized data, with int8 result."""
def quantized_concat(
    *data: NDArray, num_args: int = ..., dim: int = 1, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Concatenate `num_args` quantized arrays along dimension `dim`."""
def quantized_conv(
    data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None,
    min_data: NDArray | None = None, max_data: NDArray | None = None,
    min_weight: NDArray | None = None, max_weight: NDArray | None = None,
    min_bias: NDArray | None = None, max_bias: NDArray | None = None, kernel: _Shape = ...,
    stride: _Shape = (), dilate: _Shape = (), pad: _Shape = (), num_filter: int = ...,
    num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Literal[None, "fastest", "limited_workspace", "off"] = None,
    cudnn_off: bool = False, layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] = None,
    out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Convolve int8 or uint8 data with int8 filters; return 32-bit sums and their range."""
def quantized_elemwise_add(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray,
    rhs_max: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None,
    out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Add two quantized arrays, each with its minimum and maximum (1,)."""
def quantized_elemwise_mul(
    lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray,
    rhs_max: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None,
    enable_float_output: bool = False, out: _Out = None, name: str | None = None,
) -> Any:
    """Multiply two quantized arrays, each with its minimum and maximum (1,)."""
def quantized_embedding(
    data: NDArray, weight: NDArray, min_weight: NDArray, max_weight: NDArray, input_dim: int = ...,
    output_dim: int = ..., dtype: _DType = "float32", sparse_grad: bool = False, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Look up rows of an int8 weight; the result has the weight's range."""
def quantized_flatten(
    data: NDArray, min_data: NDArray, max_data: NDArray, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Flatten all dimensions of quantized data but the first; the range is unchanged."""
def quantized_fully_connected(
    data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None,
    min_data: NDArray | None = None, max_data: NDArray | None = None,
    min_weight: NDArray | None = None, max_weight: NDArray | None = None,
    min_bias: NDArray | None = None, max_bias: NDArray | None = None, num_hidden: int = ...,
    no_bias: bool = False, flatten: bool = True, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Apply a dense layer to int8 or uint8 data; return 32-bit sums and their range."""
def quantized_pooling(
    data: NDArray, min_data: NDArray, max_data: NDArray, kernel: _Shape = (),
    pool_type: Literal["avg", "lp", "max", "sum"] = "max", global_pool: bool = False,
    cudnn_off: bool = False, pooling_convention: Literal["full", "same", "valid"] = "valid",
    stride: _Shape = (), pad: _Shape = (), p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: Literal[None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] = None,
    output_size: _Shape | None = None, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Apply max or average pooling to quantized data; the range is unchanged."""
def quantized_reshape(
    data: NDArray, min_data: NDArray, max_data: NDArray, shape: _Shape = (), reverse: bool = False,
    target_shape: _Shape = (), keep_highest: bool = False, out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Reshape quantized data, as Reshape does; the range is unchanged."""
def quantized_rnn(
    data: NDArray, parameters: NDArray | None = None, state: NDArray | None = None,
    state_cell: NDArray | None = None, sequence_length: NDArray | None = None,
    data_scale: NDArray | None = None, data_shift: NDArray | None = None, state_size: int = ...,
    num_layers: int = ..., bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = ..., p: float = 0.0,
    state_outputs: bool = False, projection_size: int | None = None,
    lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, out: _Out = None,
    name: str | None = None,
) -> Any:
    """Run LSTM layers over uint8 sequences, which represent ``(data - shift) / scale``."""
def quantized_transpose(
    data: NDArray, min_data: NDArray, max_data: NDArray, axes: _Shape = (), out: _Out = None,
    name: str | None = None,
) -> list[NDArray]:
    """Transpose quantized data, as transpose does; the range is unchanged."""
def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Draw classes from an approximately log-uniform (Zipfian) distribution."""
def requantize(
    data: NDArray, min_range: NDArray, max_range: NDArray,
    out_type: Literal["auto", "int8", "uint8"] = "int8", min_calib_range: float | None = None,
    max_calib_range: float | None = None, out: _Out = None, name: str | None = None,
) -> list[NDArray]:
    """Requantize 32-bit integers, such as sums of quantized products, to 8 bits."""
def round_ste(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """`round` with a straight-through gradient."""
def sign_ste(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """`sign` with a straight-through gradient."""
def sldwin_atten_context(
    score: NDArray, value: NDArray, dilation: NDArray, w: int = ..., symmetric: bool = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the score-weighted sums of the values in a sliding window."""
def sldwin_atten_mask_like(
    score: NDArray, dilation: NDArray, valid_length: NDArray, w: int = ..., symmetric: bool = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Return a mask: 1 where sldwin_atten_score pairs two steps of the sequence, else 0."""
def sldwin_atten_score(
    query: NDArray, key: NDArray, dilation: NDArray, w: int = ..., symmetric: bool = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute the products of queries with the keys in a sliding window."""
def uniform(low=0, high=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from the uniform distribution on [low, high)."""
def while_loop(cond, func, loop_vars, max_iterations=None):
    """Call a function as long as a condition holds."""
