"""`mx.np` argmax and argmin."""

import numpy as np

from mxcy._base.dtypes import CODES
from mxcy.ops.core.attrs import Bool, Field, IntOrNone
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.params import ARG
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.reduce.numpy_reduce import kept_shape
from mxcy.ops.reduce.reduce import along_axis

__all__ = []

_FLOATS = ("float32", "float64", "float16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8", "bool")
_INT64 = CODES["int64"]


def _infer_position(a, x):
    if x.shape is None:
        return Spec(None, _INT64)
    all_axes = a.axis is None or (not x.ndim and a.axis in (0, -1))  # as NumPy
    axes = tuple(range(x.ndim)) if all_axes else (normal_axis(a.axis, x.ndim),)
    empty = 0 in (x.shape[axis] for axis in axes)
    require(not empty, "attempt to get the position of an extreme of an empty sequence")
    return Spec(kept_shape(x.shape, axes, a.keepdims), _INT64)


for _name, _word in (("argmax", "largest"), ("argmin", "smallest")):
    register(
        f"_npi_{_name}",
        inputs="a",
        fields=(Field("axis", IntOrNone, None), Field("keepdims", Bool, False)),
        infer=_infer_position,
        grad=lambda a, F, g: None,
        ref=lambda a, xp, x, _name=_name: xp.asarray(getattr(xp, _name)(x, a.axis)).reshape(
            _infer_position(a, Spec(x.shape)).shape
        ),
        samples=(
            sample((3, 4)),
            sample((2, 3, 4), axis=1),
            sample((2, 3, 4), axis=-1, keepdims=True),
            sample((2, 3), keepdims=True),
            sample(()),
            sample((0, 3), axis=1),
            sample(np.array([1, np.nan, 3], "float32")),
            sample((300, 19), axis=0),
            sample((2, 300)),
        ),
        dtypes=_ALL,
        kernels=(
            native(
                _name,
                ARG,
                lambda a, ins, outs: along_axis(a.axis if ins[0].ndim else None, ins[0]),
                when=lambda a, ins, outs: None if ins[0].size else "there are no elements",
                mixed=True,
            ),
        ),
        doc=f"Return the int64 index of the {_word} element, the first on ties; NaN wins.",
        numpy=f"{_name}(a, axis=None, out=None, keepdims=False)",
    )
