"""`mx.nd.NDArray`, the array of the classic interface."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Iterator
from typing import Any
import numpy as np
from mxcy.context import Context
from mxcy.ndarray import op

def __getattr__(name: str) -> Any: ...

class NDArray:
    """A multi-dimensional array of one element type on one device."""

    @property
    def T(self) -> NDArray:
        """NDArray: the array with its axes in reverse order."""
    abs = op.abs
    adam_update = op.adam_update
    address: Any
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
    def as_in_context(self, context) -> NDArray:
        """Return the array if it is on that device, otherwise a copy there."""
    def as_nd_ndarray(self) -> NDArray:
        """Return the array itself."""
    def as_np_ndarray(self):
        """Return an array of `mx.np` with the same memory, gradient and history."""
    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Copy the elements to a NumPy array."""
    def asscalar(self) -> np.generic:
        """Return the only element as a NumPy scalar."""
    def astype(self, dtype, copy=True) -> NDArray:
        """Cast the array to another dtype."""
    def attach_grad(self, grad_req="write", stype=None) -> None:
        """Make the array a variable with a gradient, detached from any graph."""
    def backward(self, out_grad=None, retain_graph=False, train_mode=True) -> None:
        """Compute the gradients of the array with respect to the variables it depends on."""
    batch_dot = op.batch_dot
    batch_take = op.batch_take
    def become(self, other):
        """Share memory, shape and dtype of another array; for blank arrays in unpickling."""
    @property
    def blank(self) -> Any:
        """Whether the array, created by ``cls.__new__(cls)``, has no memory yet."""
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
    def broadcast_like(self, other) -> NDArray:
        """Broadcast the array to the shape of another one."""
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
    def broadcast_to(self, shape) -> NDArray:
        """Broadcast the array to `shape`, along axes of size 1 and new leading axes."""
    cast = op.cast
    cast_storage = op.cast_storage
    cbrt = op.cbrt
    ceil = op.ceil
    choose_element_0index = op.choose_element_0index
    clip = op.clip
    col2im = op.col2im
    context: Context
    def copy(self) -> NDArray:
        """Return a copy on the same device."""
    def copyto(self, other) -> NDArray:
        """Copy the elements to another array or another device."""
    cos = op.cos
    cosh = op.cosh
    crop = op.crop
    ctc_loss = op.ctc_loss
    @property
    def ctx(self) -> Context:
        """Context: the device that holds the array."""
    cumsum = op.cumsum
    degrees = op.degrees
    depth_to_space = op.depth_to_space
    def detach(self) -> NDArray:
        """Return an array with the same memory but without gradient."""
    def detached(self, cls=None):
        """Make a detached view of the whole array, optionally of another class."""
    @property
    def device(self) -> Context:
        """Context: the device that holds the array."""
    def diag(self, k=0, **kwargs) -> NDArray:
        """Return the k-th diagonal, or a matrix with the array on its k-th diagonal."""
    digamma = op.digamma
    dot = op.dot
    def drop_grad(self):
        """Drop the gradient, so that the array is no longer a variable."""
    @property
    def dtype(self) -> type:
        """type: NumPy's scalar type of the elements, such as ``numpy.float32``."""
    dtype_code: Any
    elemwise_add = op.elemwise_add
    elemwise_div = op.elemwise_div
    elemwise_mul = op.elemwise_mul
    elemwise_sub = op.elemwise_sub
    erf = op.erf
    erfinv = op.erfinv
    exp = op.exp
    def expand_dims(self, axis, inplace=False) -> NDArray:
        """Insert an axis of size 1; a view with ``inplace=True``."""
    expm1 = op.expm1
    def export(self):
        """Mark the memory as accessible to others from now on."""
    @property
    def failed(self) -> Any:
        """Whether the operation that should have computed the elements failed."""
    fill_element_0index = op.fill_element_0index
    fix = op.fix
    def flatten(self, inplace=False) -> NDArray:
        """Merge all axes but the first one, to a matrix; a view with ``inplace=True``."""
    flip = op.flip
    floor = op.floor
    ftml_update = op.ftml_update
    ftrl_update = op.ftrl_update
    gamma = op.gamma
    gammaln = op.gammaln
    gather_nd = op.gather_nd
    @property
    def grad(self) -> NDArray:
        """NDArray: the gradient that `backward` computes; None without `attach_grad`."""
    @property
    def handle(self) -> NDArray:
        """NDArray: the same memory detached from the tape, for the constructor."""
    hard_sigmoid = op.hard_sigmoid
    def held_read_view(self):
        """Like `read_view`, for callers that hold the array; see `held`."""
    def held_view(self):
        """Like `numpy_view`, for callers that hold the array; see `held`."""
    identity = op.identity
    im2col = op.im2col
    kind: Any
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
    nanprod = op.nanprod
    nansum = op.nansum
    @property
    def ndim(self) -> int:
        """Number of dimensions."""
    negative = op.negative
    node: Any
    node_index: Any
    norm = op.norm
    def numpy_view(self):
        """Make a NumPy array that shares the memory; bfloat16 as uint16 bits."""
    @property
    def on_device(self) -> Any:
        """Whether the host cannot access the memory."""
    one_hot = op.one_hot
    ones_like = op.ones_like
    @property
    def owner(self) -> Any:
        """What keeps the memory alive, None when NumPy does."""
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
    def read_view(self):
        """Likewise for reading only; a copy for device memory."""
    reciprocal = op.reciprocal
    relu = op.relu
    repeat = op.repeat
    def reshape(self, *shape, **kwargs) -> NDArray:
        """Return a view of the array with another shape of the same size."""
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
    scatter_nd = op.scatter_nd
    sgd_mom_update = op.sgd_mom_update
    sgd_update = op.sgd_update
    shape: tuple[int, ...]
    shape_array = op.shape_array
    def shares_memory(self, other) -> bool:
        """Whether both arrays are views of one storage."""
    shuffle = op.shuffle
    sigmoid = op.sigmoid
    sign = op.sign
    signsgd_update = op.signsgd_update
    signum_update = op.signum_update
    sin = op.sin
    sinh = op.sinh
    @property
    def size(self) -> int:
        """Number of elements."""
    size_array = op.size_array
    slice = op.slice
    def slice_assign(self, rhs, begin, end, step) -> NDArray:
        """Write `rhs` to the elements from `begin` to `end` by `step`; returns the array."""
    def slice_assign_scalar(self, value, begin, end, step) -> NDArray:
        """Write a number to the elements from `begin` to `end` by `step`; returns the array."""
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
    def split_v2(self, *args, **kwargs):
        """Split the array along an axis; see `mx.nd.split_v2`."""
    sqrt = op.sqrt
    square = op.square
    def squeeze(self, axis=None, inplace=False) -> NDArray:
        """Remove axes of size 1, all or the given ones; a view with ``inplace=True``."""
    stop_gradient = op.stop_gradient
    @property
    def stype(self) -> str:
        """str: the storage type: ``'default'`` for dense arrays, ``'row_sparse'`` or ``'csr'``."""
    sum = op.sum
    sum_axis = op.sum_axis
    swapaxes = op.swapaxes
    take = op.take
    tan = op.tan
    tanh = op.tanh
    tile = op.tile
    def to_dlpack_for_read(self):
        """Make a DLPack capsule of the array for reading."""
    def to_dlpack_for_write(self):
        """Make a DLPack capsule of the array for reading and writing."""
    topk = op.topk
    def tostype(self, stype) -> NDArray:
        """Convert a copy to another storage type."""
    def touch(self):
        """Mark the memory as written."""
    transpose = op.transpose
    trunc = op.trunc
    unravel_index = op.unravel_index
    @property
    def var(self) -> Any:
        """Address of the memory's engine variable, an mx_var."""
    @property
    def version(self) -> int:
        """A number that changes with each write to the memory."""
    def view_as(self, shape):
        """Make a detached view with another shape of equal size."""
    def view_bytes(self, offset, shape, dtype):
        """Make a detached view with `shape` and `dtype` of the memory from byte `offset` on."""
    def view_rows(self, begin, end):
        """Make a detached view of the rows begin <= row < end of the first axis."""
    def wait_to_read(self) -> None:
        """Wait until the elements are computed."""
    def wait_to_write(self) -> None:
        """Wait until no operation reads or writes the elements; raises like `wait_to_read`."""
    where = op.where
    writable: Any
    zeros_like = op.zeros_like
    def __abs__(self) -> NDArray: ...
    def __add__(self, other: Any) -> NDArray: ...
    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]: ...
    def __bool__(self) -> bool: ...
    def __float__(self) -> float: ...
    def __getitem__(self, key: Any) -> NDArray: ...
    def __iadd__(self, other: Any) -> NDArray: ...
    def __imod__(self, other: Any) -> NDArray: ...
    def __imul__(self, other: Any) -> NDArray: ...
    def __init__(self, handle=(), writable=True): ...
    def __int__(self) -> int: ...
    def __isub__(self, other: Any) -> NDArray: ...
    def __iter__(self) -> Iterator[NDArray]: ...
    def __itruediv__(self, other: Any) -> NDArray: ...
    def __len__(self) -> int: ...
    def __mod__(self, other: Any) -> NDArray: ...
    def __mul__(self, other: Any) -> NDArray: ...
    def __neg__(self) -> NDArray: ...
    def __pow__(self, other: Any) -> NDArray: ...
    def __radd__(self, other: Any) -> NDArray: ...
    def __rmod__(self, other: Any) -> NDArray: ...
    def __rmul__(self, other: Any) -> NDArray: ...
    def __rpow__(self, other: Any) -> NDArray: ...
    def __rsub__(self, other: Any) -> NDArray: ...
    def __rtruediv__(self, other: Any) -> NDArray: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __sub__(self, other: Any) -> NDArray: ...
    def __truediv__(self, other: Any) -> NDArray: ...
