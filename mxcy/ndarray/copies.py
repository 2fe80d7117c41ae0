"""Implementation of `copyto` and `astype`."""

import numpy as np

from mxcy import context
from mxcy._base import dtypes
from mxcy._base.warning import warn
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.gpu.reference import store
from mxcy.ndarray import gradients
from mxcy.ndarray.register import F
from mxcy.ops.elementwise.cast import caster

__all__ = ["astype", "copyto"]


def copyto(array, other):
    """See `NDArray.copyto`."""
    if isinstance(other, context.Context):
        context.check_usable(other)
        if front.is_deferred() and other != array.context:
            return gradients.noted_copy(array, other)
        if front.is_deferred():
            return F._npi_copy(array) if array._is_numpy else F._copy(array)
        other = array._fresh(array.dtype_code, other)
    elif not isinstance(other, front.NDArrayBase):
        raise TypeError(f"copyto does not support type {type(other)}")
    elif other is array:
        message = "You are attempting to copy an array to itself"
        warn(message, RuntimeWarning)
        return False
    if other.stype != "default":
        F.cast_storage(array.as_in_context(other.context), stype=other.stype).copyto(other)
        return other
    if other.shape != array.shape:
        raise MXNetError(
            f"copyto: expected an array of shape {array.shape}, got one of shape {other.shape}"
        )
    if array.dtype_code == other.dtype_code:
        F._copy(array, out=other)
    elif front.is_taping():
        word = dtypes.name_of(other.dtype_code)
        getattr(F, caster(other.dtype_code, array.dtype_code))(array, dtype=word, out=other)
    else:
        _store(array, other)
    return other


def astype(array, dtype, copy):
    """See `NDArray.astype`."""
    if not (isinstance(dtype, str) and dtype in dtypes.CODES):
        dtype = dtypes.numpy_dtype(np.float32 if dtype is None else dtype)
    code = (dtypes.code_of if array._is_numpy else dtypes.real_code_of)(dtype)
    if code == array.dtype_code and not copy:
        return array
    if front.is_deferred():
        return getattr(F, caster(code, array.dtype_code))(array, dtype=dtypes.name_of(code))
    return array.copyto(array._fresh(code, array.context))


def _store(source, target):
    """Cast the elements into another array, without recording."""
    if dtypes.is_complex(source.dtype_code) and not dtypes.is_complex(target.dtype_code):
        raise TypeError(
            f"cannot cast {dtypes.name_of(source.dtype_code)} to "
            f"{dtypes.name_of(target.dtype_code)}: use .real"
        )
    with front.held((source,), (target,), whole=True), np.errstate(all="ignore"):
        store(target, source)
