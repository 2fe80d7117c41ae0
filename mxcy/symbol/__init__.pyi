"""`mx.sym`: the classic symbolic interface."""

# Written by `python -m tools.stubs --write`.

from mxcy.symbol import (
    _internal as _internal, contrib as contrib, image as image, linalg as linalg, op as op,
    random as random, register as register, sparse as sparse, symbol as symbol,
)
from mxcy.symbol.op import (
    Activation as Activation, BatchNorm as BatchNorm, BatchNorm_v1 as BatchNorm_v1,
    BilinearSampler as BilinearSampler, BlockGrad as BlockGrad, CTCLoss as CTCLoss, Cast as Cast,
    Concat as Concat, Convolution as Convolution, Convolution_v1 as Convolution_v1,
    Correlation as Correlation, Crop as Crop, Deconvolution as Deconvolution, Dropout as Dropout,
    ElementWiseSum as ElementWiseSum, Embedding as Embedding, Flatten as Flatten,
    FullyConnected as FullyConnected, GridGenerator as GridGenerator, GroupNorm as GroupNorm,
    IdentityAttachKLSparseReg as IdentityAttachKLSparseReg, InstanceNorm as InstanceNorm,
    L2Normalization as L2Normalization, LRN as LRN, LayerNorm as LayerNorm, LeakyReLU as LeakyReLU,
    LinearRegressionOutput as LinearRegressionOutput,
    LogisticRegressionOutput as LogisticRegressionOutput,
    MAERegressionOutput as MAERegressionOutput, MakeLoss as MakeLoss, Pad as Pad,
    Pooling as Pooling, Pooling_v1 as Pooling_v1, RNN as RNN, ROIPooling as ROIPooling,
    Reshape as Reshape, SVMOutput as SVMOutput, SequenceLast as SequenceLast,
    SequenceMask as SequenceMask, SequenceReverse as SequenceReverse, SliceChannel as SliceChannel,
    Softmax as Softmax, SoftmaxActivation as SoftmaxActivation, SoftmaxOutput as SoftmaxOutput,
    SpatialTransformer as SpatialTransformer, SwapAxis as SwapAxis, UpSampling as UpSampling,
    abs as abs, adam_update as adam_update, add_n as add_n, all_finite as all_finite,
    amp_cast as amp_cast, amp_multicast as amp_multicast, arccos as arccos, arccosh as arccosh,
    arcsin as arcsin, arcsinh as arcsinh, arctan as arctan, arctanh as arctanh, argmax as argmax,
    argmax_channel as argmax_channel, argmin as argmin, argsort as argsort, batch_dot as batch_dot,
    batch_take as batch_take, broadcast_add as broadcast_add, broadcast_axes as broadcast_axes,
    broadcast_axis as broadcast_axis, broadcast_div as broadcast_div,
    broadcast_equal as broadcast_equal, broadcast_greater as broadcast_greater,
    broadcast_greater_equal as broadcast_greater_equal, broadcast_hypot as broadcast_hypot,
    broadcast_lesser as broadcast_lesser, broadcast_lesser_equal as broadcast_lesser_equal,
    broadcast_like as broadcast_like, broadcast_logical_and as broadcast_logical_and,
    broadcast_logical_or as broadcast_logical_or, broadcast_logical_xor as broadcast_logical_xor,
    broadcast_maximum as broadcast_maximum, broadcast_minimum as broadcast_minimum,
    broadcast_minus as broadcast_minus, broadcast_mod as broadcast_mod,
    broadcast_mul as broadcast_mul, broadcast_not_equal as broadcast_not_equal,
    broadcast_plus as broadcast_plus, broadcast_power as broadcast_power,
    broadcast_sub as broadcast_sub, broadcast_to as broadcast_to, cast as cast,
    cast_storage as cast_storage, cbrt as cbrt, ceil as ceil,
    choose_element_0index as choose_element_0index, clip as clip, col2im as col2im,
    concat as concat, cos as cos, cosh as cosh, crop as crop, ctc_loss as ctc_loss,
    cumsum as cumsum, degrees as degrees, depth_to_space as depth_to_space, diag as diag,
    digamma as digamma, dot as dot, elemwise_add as elemwise_add, elemwise_div as elemwise_div,
    elemwise_mul as elemwise_mul, elemwise_sub as elemwise_sub, erf as erf, erfinv as erfinv,
    exp as exp, expand_dims as expand_dims, expm1 as expm1,
    fill_element_0index as fill_element_0index, fix as fix, flatten as flatten, flip as flip,
    floor as floor, ftml_update as ftml_update, ftrl_update as ftrl_update, gamma as gamma,
    gammaln as gammaln, gather_nd as gather_nd, hard_sigmoid as hard_sigmoid, identity as identity,
    im2col as im2col, khatri_rao as khatri_rao, lamb_update_phase1 as lamb_update_phase1,
    lamb_update_phase2 as lamb_update_phase2, linalg_det as linalg_det,
    linalg_extractdiag as linalg_extractdiag, linalg_extracttrian as linalg_extracttrian,
    linalg_gelqf as linalg_gelqf, linalg_gemm as linalg_gemm, linalg_gemm2 as linalg_gemm2,
    linalg_inverse as linalg_inverse, linalg_makediag as linalg_makediag,
    linalg_maketrian as linalg_maketrian, linalg_potrf as linalg_potrf,
    linalg_potri as linalg_potri, linalg_slogdet as linalg_slogdet,
    linalg_sumlogdiag as linalg_sumlogdiag, linalg_syrk as linalg_syrk, linalg_trmm as linalg_trmm,
    linalg_trsm as linalg_trsm, log as log, log10 as log10, log1p as log1p, log2 as log2,
    log_sigmoid as log_sigmoid, log_softmax as log_softmax, logical_not as logical_not,
    make_loss as make_loss, masked_log_softmax as masked_log_softmax,
    masked_softmax as masked_softmax, max as max, max_axis as max_axis, mean as mean, min as min,
    min_axis as min_axis, mish as mish, moments as moments,
    mp_lamb_update_phase1 as mp_lamb_update_phase1, mp_lamb_update_phase2 as mp_lamb_update_phase2,
    mp_nag_mom_update as mp_nag_mom_update, mp_sgd_mom_update as mp_sgd_mom_update,
    mp_sgd_update as mp_sgd_update, multi_all_finite as multi_all_finite, multi_lars as multi_lars,
    multi_mp_sgd_mom_update as multi_mp_sgd_mom_update, multi_mp_sgd_update as multi_mp_sgd_update,
    multi_sgd_mom_update as multi_sgd_mom_update, multi_sgd_update as multi_sgd_update,
    multi_sum_sq as multi_sum_sq, nag_mom_update as nag_mom_update, nanprod as nanprod,
    nansum as nansum, negative as negative, norm as norm, normal as normal, one_hot as one_hot,
    ones_like as ones_like, pad as pad, pick as pick,
    preloaded_multi_mp_sgd_mom_update as preloaded_multi_mp_sgd_mom_update,
    preloaded_multi_mp_sgd_update as preloaded_multi_mp_sgd_update,
    preloaded_multi_sgd_mom_update as preloaded_multi_sgd_mom_update,
    preloaded_multi_sgd_update as preloaded_multi_sgd_update, prod as prod,
    quantized_reshape as quantized_reshape, quantized_transpose as quantized_transpose,
    radians as radians, random_binomial as random_binomial,
    random_exponential as random_exponential, random_gamma as random_gamma,
    random_generalized_negative_binomial as random_generalized_negative_binomial,
    random_negative_binomial as random_negative_binomial, random_normal as random_normal,
    random_pdf_dirichlet as random_pdf_dirichlet, random_pdf_exponential as random_pdf_exponential,
    random_pdf_gamma as random_pdf_gamma,
    random_pdf_generalized_negative_binomial as random_pdf_generalized_negative_binomial,
    random_pdf_negative_binomial as random_pdf_negative_binomial,
    random_pdf_normal as random_pdf_normal, random_pdf_poisson as random_pdf_poisson,
    random_pdf_uniform as random_pdf_uniform, random_poisson as random_poisson,
    random_randint as random_randint, random_uniform as random_uniform,
    ravel_multi_index as ravel_multi_index, rcbrt as rcbrt, reciprocal as reciprocal, relu as relu,
    repeat as repeat, reset_arrays as reset_arrays, reshape as reshape,
    reshape_like as reshape_like, reverse as reverse, rint as rint,
    rmsprop_update as rmsprop_update, rmspropalex_update as rmspropalex_update, round as round,
    rsqrt as rsqrt, sample_binomial as sample_binomial, sample_categorical as sample_categorical,
    sample_exponential as sample_exponential, sample_gamma as sample_gamma,
    sample_generalized_negative_binomial as sample_generalized_negative_binomial,
    sample_multinomial as sample_multinomial, sample_negative_binomial as sample_negative_binomial,
    sample_normal as sample_normal, sample_poisson as sample_poisson,
    sample_uniform as sample_uniform, scatter_nd as scatter_nd, sgd_mom_update as sgd_mom_update,
    sgd_update as sgd_update, shape_array as shape_array, shuffle as shuffle, sigmoid as sigmoid,
    sign as sign, signsgd_update as signsgd_update, signum_update as signum_update, sin as sin,
    sinh as sinh, size_array as size_array, slice as slice, slice_axis as slice_axis,
    slice_like as slice_like, smooth_l1 as smooth_l1, softmax as softmax,
    softmax_cross_entropy as softmax_cross_entropy, softmin as softmin, softsign as softsign,
    sort as sort, space_to_depth as space_to_depth, split as split, sqrt as sqrt, square as square,
    squeeze as squeeze, stack as stack, stop_gradient as stop_gradient, sum as sum,
    sum_axis as sum_axis, swapaxes as swapaxes, take as take, tan as tan, tanh as tanh,
    tile as tile, topk as topk, transpose as transpose, trunc as trunc, uniform as uniform,
    unravel_index as unravel_index, where as where, zeros_like as zeros_like,
)
from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

def Group(symbols, create_fn=...) -> Symbol:
    """Group the outputs of several symbols."""
def Variable(
    name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None,
    profiler_scope=None, **kwargs,
) -> Symbol:
    """Create a variable, to which an array is bound later."""
def arange(
    start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None,
) -> Symbol:
    """Create an array of evenly spaced values."""
def eye(N, M=0, k=0, dtype=None, **kwargs) -> Symbol:
    """Create a matrix with ones on a diagonal."""
def fromjson(json_str) -> Symbol:
    """Read a symbol from JSON text."""
def full(shape, val, dtype=None, **kwargs) -> Symbol:
    """Create an array filled with a number."""
def histogram(a, bins=10, range=None, **kwargs) -> Symbol:
    """Compute a histogram."""
def hypot(left, right) -> Symbol:
    """Return the length of the hypotenuse, ``sqrt(left ** 2 + right ** 2)``."""
def linspace(start, stop, num, endpoint=True, name=None, dtype=None) -> Symbol:
    """Create an array of `num` evenly spaced values."""
def load(fname) -> Symbol:
    """Read a symbol from a JSON file."""
def load_json(json_str) -> Symbol:
    """Read a symbol from JSON text."""
def maximum(left, right) -> Symbol:
    """Return the elementwise maximum."""
def minimum(left, right) -> Symbol:
    """Return the elementwise minimum."""
def ones(shape, dtype=None, **kwargs) -> Symbol:
    """Create ones; dimensions of 0 are inferred from the symbol's users."""
def pow(base, exp) -> Symbol:
    """Raise `base` to the power of `exp`."""
def power(base, exp) -> Symbol:
    """Raise `base` to the power of `exp`, like `pow`."""
def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False) -> Symbol:
    """Split along an axis."""
def var(
    name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None,
    profiler_scope=None, **kwargs,
) -> Symbol:
    """Create a variable, to which an array is bound later."""
def zeros(shape, dtype=None, **kwargs) -> Symbol:
    """Create zeros; dimensions of 0 are inferred from the symbol's users."""
