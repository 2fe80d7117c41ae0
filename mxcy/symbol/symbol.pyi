"""The class Symbol: symbolic outputs of operations."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Iterator
from typing import Any
import numpy as np
from mxcy.ndarray.ndarray import NDArray
from mxcy.symbol import op

def __getattr__(name: str) -> Any: ...

class Symbol:
    """One or several outputs of a graph of operations."""

    abs = op.abs
    adam_update = op.adam_update
    all_finite = op.all_finite
    amp_cast = op.amp_cast
    arccos = op.arccos
    arccosh = op.arccosh
    arcsin = op.arcsin
    arcsinh = op.arcsinh
    arctan = op.arctan
    arctanh = op.arctanh
    argmax = op.argmax
    argmax_channel = op.argmax_channel
    argmin = op.argmin
    argsort = op.argsort
    def as_classic_symbol(self) -> Symbol:
        """Return the symbol itself."""
    def as_in_context(self):
        """Not supported: symbols have no values."""
    def as_nd_ndarray(self) -> Symbol:
        """Return the symbol itself."""
    def as_np_ndarray(self) -> Symbol:
        """Return a symbol of `mx.sym.np` with the same outputs."""
    def asnumpy(self):
        """Not supported: symbols have no values."""
    def asscalar(self):
        """Not supported: symbols have no values."""
    def attr(self, key) -> str | None:
        """Return an attribute of the operation or variable."""
    def attr_dict(self):
        """Return the attributes of all nodes that have any."""
    def backward(self):
        """Not supported: executors compute gradients."""
    batch_dot = op.batch_dot
    batch_take = op.batch_take
    def bind(
        self, ctx, args, args_grad=None, grad_req="write", aux_states=None, group2ctx=None,
        shared_exec=None,
    ):
        """Create an executor with given arrays."""
    broadcast_add = op.broadcast_add
    broadcast_axes = op.broadcast_axes
    broadcast_axis = op.broadcast_axis
    broadcast_div = op.broadcast_div
    broadcast_equal = op.broadcast_equal
    broadcast_greater = op.broadcast_greater
    broadcast_greater_equal = op.broadcast_greater_equal
    broadcast_hypot = op.broadcast_hypot
    broadcast_lesser = op.broadcast_lesser
    broadcast_lesser_equal = op.broadcast_lesser_equal
    broadcast_like = op.broadcast_like
    broadcast_logical_and = op.broadcast_logical_and
    broadcast_logical_or = op.broadcast_logical_or
    broadcast_logical_xor = op.broadcast_logical_xor
    broadcast_maximum = op.broadcast_maximum
    broadcast_minimum = op.broadcast_minimum
    broadcast_minus = op.broadcast_minus
    broadcast_mod = op.broadcast_mod
    broadcast_mul = op.broadcast_mul
    broadcast_not_equal = op.broadcast_not_equal
    broadcast_plus = op.broadcast_plus
    broadcast_power = op.broadcast_power
    broadcast_sub = op.broadcast_sub
    broadcast_to = op.broadcast_to
    cast = op.cast
    cast_storage = op.cast_storage
    cbrt = op.cbrt
    ceil = op.ceil
    choose_element_0index = op.choose_element_0index
    clip = op.clip
    col2im = op.col2im
    def copy(self) -> Symbol:
        """Not supported; use `copy.copy`."""
    cos = op.cos
    cosh = op.cosh
    crop = op.crop
    ctc_loss = op.ctc_loss
    cumsum = op.cumsum
    def debug_str(self) -> str:
        """List all nodes with their inputs and attributes, for debugging."""
    degrees = op.degrees
    depth_to_space = op.depth_to_space
    def detach(self):
        """Not supported; use `mx.sym.BlockGrad` to stop gradients."""
    diag = op.diag
    digamma = op.digamma
    dot = op.dot
    elemwise_add = op.elemwise_add
    elemwise_div = op.elemwise_div
    elemwise_mul = op.elemwise_mul
    elemwise_sub = op.elemwise_sub
    erf = op.erf
    erfinv = op.erfinv
    def eval(self, ctx=None, **kwargs) -> list[NDArray]:
        """Compute the outputs."""
    exp = op.exp
    def expand_dims(self, *args, inplace=False, **kwargs):
        """Apply `mx.sym.expand_dims` to this symbol."""
    expm1 = op.expm1
    fill_element_0index = op.fill_element_0index
    fix = op.fix
    def flatten(self, *args, inplace=False, **kwargs):
        """Apply `mx.sym.flatten` to this symbol."""
    flip = op.flip
    floor = op.floor
    ftml_update = op.ftml_update
    ftrl_update = op.ftrl_update
    gamma = op.gamma
    gammaln = op.gammaln
    gather_nd = op.gather_nd
    def get_backend_symbol(self, backend) -> Symbol:
        """Return the symbol as a backend would run it."""
    def get_children(self) -> Symbol | None:
        """Return a group of the inputs of this symbol's operations."""
    def get_inputs(self) -> Symbol:
        """Return a group of all variables."""
    def get_internals(self) -> Symbol:
        """Return a group of all outputs that this symbol depends on."""
    def gradient(self, wrt):
        """Not supported: executors compute gradients."""
    @property
    def handle(self) -> Any:
        """ctypes.c_void_p: a pointer for functions of `mx.base._LIB`."""
    hard_sigmoid = op.hard_sigmoid
    def has_dynamic_shape_op(self) -> bool:
        """Return whether the shape of any output depends on values."""
    identity = op.identity
    im2col = op.im2col
    def infer_shape(self, *args, **kwargs):
        """Infer the shapes of all arguments, outputs and auxiliary states."""
    def infer_shape_partial(self, *args, **kwargs):
        """Infer as many shapes as possible; see `infer_shape`."""
    def infer_type(self, *args, **kwargs):
        """Infer the dtypes of all arguments, outputs and auxiliary states."""
    def infer_type_partial(self, *args, **kwargs):
        """Infer as many dtypes as possible; see `infer_type`."""
    lamb_update_phase1 = op.lamb_update_phase1
    lamb_update_phase2 = op.lamb_update_phase2
    linalg_det = op.linalg_det
    linalg_extractdiag = op.linalg_extractdiag
    linalg_extracttrian = op.linalg_extracttrian
    linalg_gelqf = op.linalg_gelqf
    linalg_gemm = op.linalg_gemm
    linalg_gemm2 = op.linalg_gemm2
    linalg_inverse = op.linalg_inverse
    linalg_makediag = op.linalg_makediag
    linalg_maketrian = op.linalg_maketrian
    linalg_potrf = op.linalg_potrf
    linalg_potri = op.linalg_potri
    linalg_slogdet = op.linalg_slogdet
    linalg_sumlogdiag = op.linalg_sumlogdiag
    linalg_syrk = op.linalg_syrk
    linalg_trmm = op.linalg_trmm
    linalg_trsm = op.linalg_trsm
    def list_arguments(self) -> list[str]:
        """List the names of the variables, without the auxiliary states."""
    def list_attr(self, recursive=False):
        """Return the attributes of the operation or variable."""
    def list_auxiliary_states(self) -> list[str]:
        """List the names of variables that operators write, such as BatchNorm's running means."""
    def list_inputs(self) -> list[str]:
        """List the names of all variables in order."""
    def list_outputs(self) -> list[str]:
        """List the names of the outputs, such as ``fc1_output``, or a variable's own name."""
    log = op.log
    log10 = op.log10
    log1p = op.log1p
    log2 = op.log2
    log_sigmoid = op.log_sigmoid
    log_softmax = op.log_softmax
    logical_not = op.logical_not
    make_loss = op.make_loss
    masked_log_softmax = op.masked_log_softmax
    masked_softmax = op.masked_softmax
    max = op.max
    max_axis = op.max_axis
    mean = op.mean
    min = op.min
    min_axis = op.min_axis
    mish = op.mish
    moments = op.moments
    mp_lamb_update_phase1 = op.mp_lamb_update_phase1
    mp_lamb_update_phase2 = op.mp_lamb_update_phase2
    mp_nag_mom_update = op.mp_nag_mom_update
    mp_sgd_mom_update = op.mp_sgd_mom_update
    mp_sgd_update = op.mp_sgd_update
    multi_lars = op.multi_lars
    nag_mom_update = op.nag_mom_update
    @property
    def name(self) -> str | None:
        """str or None: name of its operation or variable; None for groups."""
    nanprod = op.nanprod
    nansum = op.nansum
    negative = op.negative
    norm = op.norm
    @property
    def num_outputs(self) -> int:
        """int: number of outputs."""
    one_hot = op.one_hot
    ones_like = op.ones_like
    def optimize_for(
        self, backend, args=None, aux=None, ctx=None, shape_dict=None, type_dict=None,
        stype_dict=None, skip_infer=False, **kwargs,
    ) -> Symbol:
        """Replace operators by a backend's fused ones."""
    pad = op.pad
    pick = op.pick
    prod = op.prod
    quantized_reshape = op.quantized_reshape
    quantized_transpose = op.quantized_transpose
    radians = op.radians
    random_pdf_dirichlet = op.random_pdf_dirichlet
    random_pdf_exponential = op.random_pdf_exponential
    random_pdf_gamma = op.random_pdf_gamma
    random_pdf_generalized_negative_binomial = op.random_pdf_generalized_negative_binomial
    random_pdf_negative_binomial = op.random_pdf_negative_binomial
    random_pdf_normal = op.random_pdf_normal
    random_pdf_poisson = op.random_pdf_poisson
    random_pdf_uniform = op.random_pdf_uniform
    ravel_multi_index = op.ravel_multi_index
    rcbrt = op.rcbrt
    reciprocal = op.reciprocal
    relu = op.relu
    repeat = op.repeat
    reshape = op.reshape
    reshape_like = op.reshape_like
    reverse = op.reverse
    rint = op.rint
    rmsprop_update = op.rmsprop_update
    rmspropalex_update = op.rmspropalex_update
    round = op.round
    rsqrt = op.rsqrt
    sample_binomial = op.sample_binomial
    sample_categorical = op.sample_categorical
    sample_exponential = op.sample_exponential
    sample_gamma = op.sample_gamma
    sample_generalized_negative_binomial = op.sample_generalized_negative_binomial
    sample_multinomial = op.sample_multinomial
    sample_negative_binomial = op.sample_negative_binomial
    sample_normal = op.sample_normal
    sample_poisson = op.sample_poisson
    sample_uniform = op.sample_uniform
    def save(self, fname, remove_amp_cast=True) -> None:
        """Write the graph to a JSON file."""
    scatter_nd = op.scatter_nd
    sgd_mom_update = op.sgd_mom_update
    sgd_update = op.sgd_update
    shape_array = op.shape_array
    shuffle = op.shuffle
    sigmoid = op.sigmoid
    sign = op.sign
    signsgd_update = op.signsgd_update
    signum_update = op.signum_update
    def simple_bind(
        self, ctx, grad_req="write", type_dict=None, stype_dict=None, group2ctx=None,
        shared_arg_names=None, shared_exec=None, shared_buffer=None, **kwargs,
    ):
        """Create an executor with new arrays, initially zeros."""
    sin = op.sin
    sinh = op.sinh
    size_array = op.size_array
    slice = op.slice
    slice_axis = op.slice_axis
    slice_like = op.slice_like
    smooth_l1 = op.smooth_l1
    softmax = op.softmax
    softmax_cross_entropy = op.softmax_cross_entropy
    softmin = op.softmin
    softsign = op.softsign
    sort = op.sort
    space_to_depth = op.space_to_depth
    split = op.split
    def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False) -> Symbol:
        """Split along an axis."""
    sqrt = op.sqrt
    square = op.square
    def squeeze(self, *args, inplace=False, **kwargs):
        """Apply `mx.sym.squeeze` to this symbol."""
    stop_gradient = op.stop_gradient
    sum = op.sum
    sum_axis = op.sum_axis
    swapaxes = op.swapaxes
    take = op.take
    tan = op.tan
    tanh = op.tanh
    tile = op.tile
    def tojson(self, remove_amp_cast=True) -> str:
        """Convert the graph to JSON text readable by any MXNet."""
    topk = op.topk
    transpose = op.transpose
    trunc = op.trunc
    unravel_index = op.unravel_index
    def wait_to_read(self):
        """Not supported: symbols have no values."""
    where = op.where
    zeros_like = op.zeros_like
    def __abs__(self) -> Symbol: ...
    def __add__(self, other: Any) -> Symbol: ...
    def __bool__(self) -> bool: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Symbol: ...
    def __eq__(self, other: Any) -> Symbol: ...  # type: ignore[override]
    def __ge__(self, other: Any) -> Symbol: ...
    def __getitem__(self, key: Any) -> Symbol: ...
    def __gt__(self, other: Any) -> Symbol: ...
    def __iadd__(self, other: Any) -> Symbol: ...
    def __imul__(self, other: Any) -> Symbol: ...
    def __init__(self, handle): ...
    def __isub__(self, other: Any) -> Symbol: ...
    def __iter__(self) -> Iterator[Symbol]: ...
    def __itruediv__(self, other: Any) -> Symbol: ...
    def __le__(self, other: Any) -> Symbol: ...
    def __len__(self) -> int: ...
    def __lt__(self, other: Any) -> Symbol: ...
    def __mod__(self, other: Any) -> Symbol: ...
    def __mul__(self, other: Any) -> Symbol: ...
    def __ne__(self, other: Any) -> Symbol: ...  # type: ignore[override]
    def __neg__(self) -> Symbol: ...
    def __pow__(self, other: Any) -> Symbol: ...
    def __radd__(self, other: Any) -> Symbol: ...
    def __rmod__(self, other: Any) -> Symbol: ...
    def __rmul__(self, other: Any) -> Symbol: ...
    def __rpow__(self, other: Any) -> Symbol: ...
    def __rsub__(self, other: Any) -> Symbol: ...
    def __rtruediv__(self, other: Any) -> Symbol: ...
    def __sub__(self, other: Any) -> Symbol: ...
    def __truediv__(self, other: Any) -> Symbol: ...
