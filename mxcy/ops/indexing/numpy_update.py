"""`mx.npx` operators that update elements at coordinates, and an assertion."""

import numpy as np

from mxcy._base.dtypes import CODES, name_of
from mxcy._base.errors import InvalidIndexError, InvalidValueError
from mxcy.ops.core.attrs import Field, Str
from mxcy.ops.core.infer import Spec, broadcast_shapes, require
from mxcy.ops.core.record import op, register, sample, stop
from mxcy.ops.elementwise.broadcast import sum_to
from mxcy.ops.indexing.indexing import integers

__all__ = []


def _updated(a, ind):
    """Return the shape of the values at coordinates `ind` of an array of shape `a`."""
    require(len(ind) < 3, f"ind: expected at most two dimensions, got {ind}")
    axes = ind[0] if len(ind) == 2 else 1
    require(axes <= len(a), f"ind: {axes} coordinates for an array of shape {a}")
    return (ind[-1] if ind else 1, *a[axes:])


def _infer(a, x, ind, val):
    if None not in (x.shape, ind.shape, val.shape):
        wanted = _updated(x.shape, ind.shape)
        require(
            broadcast_shapes(val.shape, wanted) == wanted,
            f"val: {val.shape} cannot be broadcast to {wanted}",
        )
    return Spec(x.shape, x.dtype)


def _places(xp, ind, shape):
    """Return coordinates as a tuple of arrays.

    Raises
    ------
    IndexError
        If a coordinate is out of bounds or negative.
    """
    rows = integers(ind if ind.ndim == 2 else ind.reshape(1, -1))
    for axis, (row, extent) in enumerate(zip(rows, shape, strict=False)):
        wrong = row[(row < 0) | (row >= extent)]
        if wrong.size:
            raise InvalidIndexError(
                f"index {wrong.flat[0]} is out of bounds for axis {axis} with size {extent}"
            )
    return tuple(rows)


def _as_rows(F, ind, spec):
    return ind if spec.ndim == 2 else F._backward_reshape(ind, shape=(1, *(spec.shape or (1,))))


def _of_values(F, g, specs):
    """Return the gradient of the values from the gradient at their positions."""
    wanted = Spec(_updated(specs[0].shape, specs[1].shape))
    result = sum_to(F, g, specs[2], wanted)
    same = specs[2].dtype == specs[0].dtype
    return result if same else F.Cast(result, dtype=name_of(specs[2].dtype))


@op("_npx_index_add", inputs="a ind val", names={"x": ("in", 0)}, amp="widest")
class IndexAdd:
    """Add values to `a` at coordinates, accumulating repeated ones.

    Shapes: ind (m, n), one column of coordinates per value, or (n,) or () along the first axis; val
    broadcasts to (n, ...) with the last axes of `a`.

    Raises
    ------
    IndexError
        If a coordinate is out of bounds.
    """

    infer = _infer
    dtypes = ("float32", "float64", "int32")
    complexes = True
    samples = (
        sample((2, 3), np.array([[0, 1, 0], [1, 2, 1]], "int64"), (3,)),
        sample((3, 2, 2), np.array([[0, 2, 0]], "int32"), (1, 2)),
        sample((4, 3), np.array([0, 3, 3], "int64"), (3, 1)),
        sample((2, 3), np.array([[0, 1], [1, 2]], "int64"), ()),
        sample((2, 3), np.zeros((2, 0), "int64"), (), grad=False),
        sample((2, 3), np.array(1, "int64"), (3,)),
    )

    def grad(a, F, g, ind, specs):
        taken = F.gather_nd(g, _as_rows(F, ind, specs[1]))
        return g, None, _of_values(F, taken, specs)

    def ref(a, xp, x, ind, val):
        out = xp.array(x)
        val = xp.broadcast_to(val.astype(x.dtype), _updated(x.shape, ind.shape))
        xp.add.at(out, _places(xp, ind, x.shape), val)
        return out


@op("_npx_index_update", inputs="a ind val", names={"x": ("in", 0)}, amp="widest")
class IndexUpdate:
    """Set values of `a` at coordinates; for repeated ones the last value wins.

    Shapes are those of `_npx_index_add`.

    Raises
    ------
    IndexError
        If a coordinate is out of bounds.
    """

    infer = _infer
    dtypes = ("float32", "float64", "int32", "bool")
    complexes = True
    samples = (
        sample((2, 3), np.array([[0, 1, 0], [1, 2, 0]], "int64"), (3,)),
        sample((3, 2, 2), np.array([[0, 2]], "int32"), (1, 2)),
        sample((4, 3), np.array([0, 3], "int64"), (2, 1)),
        sample((2, 3), np.array([[0, 1], [1, 2]], "int64"), ()),
        sample((2, 3), np.array(1, "int64"), (3,)),
    )

    def grad(a, F, g, ind, specs):
        rows = _as_rows(F, ind, specs[1])
        taken = F.gather_nd(g, rows)
        kept = F._scatter_set_nd(g, F.zeros_like(taken), rows, shape=specs[0].shape)
        return kept, None, _of_values(F, taken, specs)

    def ref(a, xp, x, ind, val):
        out = xp.array(x)
        out[_places(xp, ind, x.shape)] = val
        return out


def _all_hold(a, xp, x):
    if not x.all():
        raise InvalidValueError(a.msg)
    return xp.asarray(True)


def _check_infer(a, x):
    require(x.dtype in (None, CODES["bool"]), "input: expected an array of booleans")
    return Spec((), CODES["bool"])


register(
    "_npx_constraint_check",
    inputs="input",
    fields=(Field("msg", Str, "Constraint violated."),),
    infer=_check_infer,
    grad=stop,
    ref=_all_hold,
    dtypes=("bool",),
    samples=(
        sample(np.ones((2, 3), bool), grad=False),
        sample(np.ones((), bool), msg="no", grad=False),
        sample(np.ones((0,), bool), grad=False),
    ),
    doc="""Return True if all elements are True, else raise an error with the message `msg`.

    Raises
    ------
    ValueError
        If an element is False.
    """,
)
