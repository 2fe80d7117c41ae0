"""Creation of arrays."""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of

__all__ = []

#: maximum number of elements of a constant created from a shape
_MOST = 1 << 31


@row("Constant")
def constant(F, a):
    if a.value is not None:
        return a.tensor(a.value)
    for name, dtype in (
        ("value_float", "float32"),
        ("value_floats", "float32"),
        ("value_int", "int64"),
        ("value_ints", "int64"),
    ):
        if a.values.get(name) is not None:
            return F.constant(np.array(a.values[name], dtype))
    raise NotImplementedError("constants that are sparse or text are not implemented")


@row("ConstantOfShape", since=9)
def constant_of_shape(F, a, shape):
    extents = shape.integers_or_names("the input shape")
    if any(isinstance(n, str) for n in extents):
        number = F.constant(np.array(0, np.float32)) if a.value is None else a.tensor(a.value)
        return F.filled(extents, F.constant(number.array.reshape(()), number.spec.dtype))
    shape = extents
    if min(shape, default=0) < 0 or np.prod(shape, dtype=float) > _MOST:
        raise MXNetError(f"the input shape: cannot make an array of shape {shape}")
    if a.value is None:
        return F.constant(np.zeros(shape, np.float32))
    value = a.tensor(a.value)
    array = np.broadcast_to(value.array.reshape(-1)[:1].reshape(()), shape)
    return F.constant(array, value.spec.dtype)


@row("Range", since=11)
def range_(F, a, start, limit, delta):
    code = start.spec.dtype
    if any(value.is_open for value in (start, limit, delta)):
        (begin,), (end,), (step,) = (value.integers_or_names("") for value in (start, limit, delta))
        if step == 1:
            count = F.open.combined("-", end, begin)
            numbers = {"start": begin, "stop": end, "dtype": "int64"}
            return F.shaped("_npi_arange", [], numbers, ((count,), "int64"))
    start, limit, delta = (
        value.numbers(f"the input {name}").reshape(())
        for value, name in ((start, "start"), (limit, "limit"), (delta, "delta"))
    )
    if delta == 0:
        raise MXNetError("the input delta: must not be 0")
    count = max(int(np.ceil((float(limit) - float(start)) / float(delta))), 0)
    if count > _MOST:
        raise MXNetError(f"a range of {count} elements is too long")
    numbers = start + np.arange(count) * delta
    return F.constant(numbers.astype(start.dtype), code)


@row("EyeLike", since=9)
def eye_like(F, a, x):
    rows, columns = x.full_shape
    code = x.spec.dtype if a.dtype is None else code_of(a.dtype, "attribute dtype")
    return F.constant(np.eye(rows, columns, a.k, dtypes.dtype_of(code)), code)
