"""`mx.np` functions that create arrays with the shape and dtype of another."""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import Context
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.general import operate
from mxcy.numpy._creation.conversion import asarray
from mxcy.numpy._creation.rules import check_order, extents_of, filled, named_type, place

__all__ = ["empty_like", "full_like"]


def empty_like(prototype, dtype=None, order="C", subok=False, shape=None, device=None, ctx=None):
    """Return a new uninitialised array with the shape and dtype of another.

    Parameters
    ----------
    prototype : array_like
    dtype : dtype, optional
    order : {'C'}
    subok : {False}
    shape : tuple of int, optional
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    if isinstance(order, (Context, type(None))):  # MXNet's argument order
        order, device = "C", order if device is None else device
    device = ctx if device is None else device
    check_order(order, "empty_like")
    if subok:
        raise NotImplementedError("empty_like: subok=True is not implemented")
    prototype = asarray(prototype)
    code = prototype.dtype_code if dtype is None else dtypes.code_of(named_type(dtype))
    extents = prototype.shape if shape is None else extents_of(shape)
    context = prototype.context if device is None else place(device)
    return front.empty(extents, code, context, ndarray)


def full_like(a, fill_value, dtype=None, order="C", ctx=None, device=None, out=None):
    """Return a new array with the shape and dtype of another, filled with a value.

    Parameters
    ----------
    a : array_like
    fill_value : scalar or array_like
    dtype : dtype, optional
    order : {'C'}
    ctx, device : Device, optional
    out : ndarray, optional

    Returns
    -------
    ndarray
    """
    check_order(order, "full_like")
    if out is not None:
        return filled(out, fill_value)
    small = isinstance(fill_value, (bool, int, float)) and not abs(fill_value) > 1 << 53
    if small and (front.is_recording() or front.is_deferred()):
        word = None if dtype is None else dtypes.name_of(dtypes.code_of(named_type(dtype)))
        return operate("_npi_full_like", asarray(a), fill_value=float(fill_value), dtype=word)
    return filled(empty_like(a, dtype, device=device if ctx is None else ctx), fill_value)
