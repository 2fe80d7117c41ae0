"""Functions of `mx.nd` that create arrays."""

import operator
import sys

import numpy as np

from mxcy import env
from mxcy._base import dtypes
from mxcy._library import front
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError, integer_types, numeric_types
from mxcy.context import as_context, check_usable
from mxcy.gpu.reference import store
from mxcy.ndarray.classes import sparse_class
from mxcy.ndarray.register import F
from mxcy.ops.core import reference

__all__ = ["arange", "array", "empty", "eye", "from_numpy", "full", "linspace", "ones", "zeros"]


def _code(dtype):
    """The code of a dtype, float32 for None; TypeError if it is not a dtype."""
    if dtype is None:
        return 0
    if isinstance(dtype, str) and dtype in dtypes.CODES:
        return dtypes.real_code_of(dtype)
    return dtypes.real_code_of(dtypes.numpy_dtype(dtype))


def _name(dtype):
    return dtypes.name_of(_code(dtype))


def _place(ctx):
    """Convert to a context that can hold arrays."""
    ctx = as_context(ctx)
    check_usable(ctx)
    return ctx


def _shape(shape):
    """Convert a shape to a tuple of int."""
    if isinstance(shape, integer_types):
        return (int(shape),)
    try:
        return tuple(map(operator.index, shape))
    except (TypeError, ValueError):
        raise MXNetError(
            f"Invalid Parameter format for shape expect Shape(tuple) but value='{shape}'"
        ) from None


def _known_shape(shape, name):
    """Check that a shape is known under MXNet's own shape semantics."""
    shape = _shape(shape)
    if (not shape or 0 in shape) and not is_np_shape():
        raise MXNetError(
            f"{name}: shape {shape} is unknown; scalars and empty arrays need mx.util.np_shape()"
        )
    return shape


def _is_scipy_csr(source):
    """Whether a source is a SciPy csr array, without importing SciPy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and scipy_sparse.issparse(source) and source.format == "csr"


@front.shortcut
def array(source_array, ctx=None, dtype=None, device=None):
    """Create an array from an array-like object.

    Parameters
    ----------
    source_array : array_like
        An NDArray, a NumPy array, a number, or nested sequences. Sparse arrays, including SciPy's
        csr arrays, give a sparse result.
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        The dtype, by default that of an NDArray, otherwise float32.

    Returns
    -------
    NDArray

    Raises
    ------
    TypeError
        If the source is not array-like.
    """
    ctx = ctx if device is None else device
    ctx = _place(ctx)
    if _is_scipy_csr(source_array):
        return sparse_class("csr")._of_scipy(source_array, ctx, dtype)
    if isinstance(source_array, front.NDArrayBase) and source_array.stype != "default":
        copied = source_array.copyto(ctx)
        return copied if dtype is None else copied.astype(dtype, copy=False)
    if isinstance(source_array, front.NDArrayBase):
        result = front.empty(
            source_array.shape, source_array.dtype_code if dtype is None else _code(dtype), ctx
        )
        return source_array.copyto(result)
    code = _code(dtype)
    try:
        values = np.asarray(source_array)
        if values.dtype == dtypes.bfloat16:
            values = reference.widen(values.view(np.uint16))
        result = front.empty(values.shape, code, ctx)
        with np.errstate(all="ignore"):
            store(result, values)
    except env.EnvError:
        raise  # unrelated to the source
    except (TypeError, ValueError):
        raise TypeError("source_array must be array like object") from None
    return result


@front.shortcut
def empty(shape, ctx=None, dtype=None, stype=None, device=None):
    """Create an array with uninitialized elements.

    Parameters
    ----------
    shape : int or tuple of int
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        float32 by default.
    stype : {None, 'default', 'row_sparse', 'csr'}
        The storage type, by default dense.

    Returns
    -------
    NDArray
    """
    ctx = ctx if device is None else device
    if stype not in (None, "default"):
        return sparse_class(stype)._empty(_shape(shape), _code(dtype), _place(ctx))
    return front.empty(_shape(shape), _code(dtype), _place(ctx))


@front.shortcut
def zeros(shape, ctx=None, dtype=None, stype=None, device=None, **kwargs):
    """Create an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        float32 by default.
    stype : {None, 'default', 'row_sparse', 'csr'}
        The storage type, by default dense.
    out : NDArray, optional
        Array to write the result to.

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        If the shape is () or has a zero dimension without NumPy shape semantics.
    """
    ctx = ctx if device is None else device
    if stype not in (None, "default"):
        return sparse_class(stype)._empty(_shape(shape), _code(dtype), _place(ctx))
    shape = _known_shape(shape, "zeros")
    return F._zeros(shape=shape, ctx=str(_place(ctx)), dtype=_name(dtype), **kwargs)


@front.shortcut
def ones(shape, ctx=None, dtype=None, device=None, **kwargs):
    """Create an array of ones; parameters as for `zeros`.

    Returns
    -------
    NDArray
    """
    ctx = ctx if device is None else device
    shape = _known_shape(shape, "ones")
    return F._ones(shape=shape, ctx=str(_place(ctx)), dtype=_name(dtype), **kwargs)


@front.shortcut
def full(shape, val, ctx=None, dtype=np.float32, out=None, device=None):
    """Create an array filled with a value.

    Parameters
    ----------
    shape : int or tuple of int
    val : number or array_like
        The value, broadcast to the shape.
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype
    out : NDArray, optional
        Array to write the result to.

    Returns
    -------
    NDArray
    """
    ctx = ctx if device is None else device
    if out is None:
        out = empty(shape, ctx, dtype)
    if isinstance(val, numeric_types) and not out.size:
        return out
    out[:] = val
    return out


@front.shortcut
def arange(
    start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, dtype=np.float32, device=None
):
    """Create an array of evenly spaced values in [start, stop).

    Parameters
    ----------
    start : number
        The first value; without `stop`, the end of an interval starting at 0.
    stop : number, optional
        The end of the interval, exclusive.
    step : number
    repeat : int
        Number of repetitions of each value.
    infer_range : bool, optional
        Ignored for arrays.
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        If the step is 0 or the interval is empty.
    """
    ctx = ctx if device is None else device
    return F._arange(
        start=start,
        stop=stop,
        step=step,
        repeat=repeat,
        infer_range=False,
        ctx=str(_place(ctx)),
        dtype=_name(dtype),
    )


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=np.float32, device=None):
    """Create an array of `num` evenly spaced values from start to stop.

    Parameters
    ----------
    start, stop : number
    num : int
    endpoint : bool
        Whether the last value is `stop`.
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype

    Returns
    -------
    NDArray
    """
    ctx = ctx if device is None else device
    return F._linspace(
        start=start, stop=stop, num=num, endpoint=endpoint, ctx=str(_place(ctx)), dtype=_name(dtype)
    )


def eye(N, M=0, k=0, ctx=None, dtype=None, device=None, **kwargs):
    """Create a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int
        The number of columns; N if not positive.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.
    ctx, device : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        float32 by default.

    Returns
    -------
    NDArray
    """
    ctx = ctx if device is None else device
    return F._eye(N=N, M=M, k=k, ctx=str(_place(ctx)), dtype=_name(dtype), **kwargs)


def from_numpy(ndarray, zero_copy=True, array_cls=None):
    """Create an array from a NumPy array.

    Parameters
    ----------
    ndarray : numpy.ndarray
    zero_copy : bool
        Whether to share the memory instead of copying; `ndarray` then becomes read-only, since
        both would change together.
    array_cls : type, optional
        The class of the result.

    Returns
    -------
    NDArray

    Raises
    ------
    ValueError
        If `zero_copy` is True and the memory is not contiguous.
    """
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    result = over_numpy(ndarray, dtypes.real_code_of(ndarray.dtype))
    return result if array_cls in (None, type(result)) else array_cls(result)


def over_numpy(ndarray, code):
    """Create an array over the memory of a NumPy array, which becomes read-only."""
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("Only c-contiguous arrays are supported for zero-copy")
    copy = not ndarray.flags.writeable
    result = front.from_numpy(ndarray.view(), code, as_context(None), copy)  # a view stays writable
    ndarray.flags["WRITEABLE"] = False
    return result
