"""`mx.np` operators that delete, insert or fill elements."""

from math import prod

import numpy as np

from mxcy._base.dtypes import CODES, is_complex, name_of
from mxcy.ops.core.attrs import Bool, DoubleOrNone, DoubleTuple, Field, IntOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.record import op, register, sample
from mxcy.ops.elementwise.broadcast import sum_to

__all__ = []

_PLACE = tuple(
    Field(name, IntOrNone, None) for name in ("start", "stop", "step", "int_ind", "axis")
)
_KINDS = ("float32", "float64", "int32", "bool")


def _flat(a, shape):
    """Return the shape to edit and the axis; flattened if no axis is given."""
    if a.axis is None:
        return (-1 if -1 in shape else prod(shape),), 0
    return tuple(shape), normal_axis(a.axis, len(shape))


def _key(a, shape, axis, reach):
    """Return the integer attribute, checked, or the slice."""
    extent = shape[axis]
    if a.int_ind is None:
        require(a.step != 0, "step: must not be 0")
        return slice(a.start, a.stop, a.step)
    inside = extent == -1 or -extent <= a.int_ind < extent + reach
    require(inside, f"int_ind: {a.int_ind} is out of bounds for size {extent}")
    return a.int_ind


def _resized(shape, axis, by):
    extent = -1 if shape[axis] == -1 or by is None else shape[axis] + by
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _given_back(F, g, source, shape, axis):
    """Sum gradients at the source of the elements, with the edited axis first."""
    moved = F._npi_moveaxis(g, source=(axis,), destination=(0,))
    extent, others = shape[axis], (*shape[:axis], *shape[axis + 1 :])
    zeros = F._npi_broadcast_to(F._npi_sum(moved) * 0, shape=(extent, *others))
    return F._npx_index_add(zeros, source, moved)


def _restored(F, moved, axis, shape):
    """Move the edited axis, which is first, back to its position."""
    back = F._npi_moveaxis(moved, source=(0,), destination=(axis,))
    return F._backward_reshape(back, shape=shape)


def _places(a):
    return {"start": a.start, "stop": a.stop, "step": a.step, "int_ind": a.int_ind}


# --- delete ----------------------------------------------------------------------------


def _delete_infer(a, arr):
    if arr.shape is None:
        return Spec(None, arr.dtype)
    shape, axis = _flat(a, arr.shape)
    key, gone = _key(a, shape, axis, 0), 1
    if isinstance(key, slice):
        gone = None if shape[axis] == -1 else len(range(*key.indices(shape[axis])))
    return Spec(_resized(shape, axis, None if gone is None else -gone), arr.dtype)


def _delete_grad(a, F, g, specs):
    shape, axis = _flat(a, specs[0].shape)
    own = F._npi_arange(start=0, stop=shape[axis], dtype="int64")
    source = F._npi_delete(own, **_places(a))
    return _restored(F, _given_back(F, g, source, shape, axis), axis, specs[0].shape)


register(
    "_npi_delete",
    inputs="arr",
    fields=_PLACE,
    infer=_delete_infer,
    grad=_delete_grad,
    ref=lambda a, xp, arr: xp.delete(arr, _key(a, *_flat(a, arr.shape), 0), a.axis),
    in_symbols=InSymbols(by_count={2: "_mx_delete_at"}),
    dtypes=_KINDS,
    complexes=True,
    samples=(
        sample((4,), int_ind=1),
        sample((2, 3), int_ind=-1),
        sample((2, 3), int_ind=2, axis=1),
        sample((2, 3), start=0, stop=2, step=1, axis=1),
        sample((4, 3), stop=None, step=-2, axis=0),
        sample((4,), start=9, grad=False),
    ),
    doc="Delete index `int_ind` or `start:stop:step` along `axis`, by default of the flattened "
    "array.",
)


@op(
    "_mx_delete_at",
    inputs="arr obj",
    in_symbols=InSymbols(file_name="_npi_delete"),
    dtypes=("float32", "int32"),
)
class DeleteAt:
    """Delete slices along `axis` at an array of indices; waits for their values.

    Indices out of bounds are ignored.
    """

    start: IntOrNone = None
    stop: IntOrNone = None
    step: IntOrNone = None
    int_ind: IntOrNone = None
    axis: IntOrNone = None

    complexes = True
    samples = (
        sample((4,), np.array([0, 2], "int64")),
        sample((2, 3), np.array([-1, 3, 2, 2], "int64"), axis=1),
    )

    def infer(a, arr, obj):
        if arr.shape is None:
            return Spec(None, arr.dtype)
        return Spec(_resized(*_flat(a, arr.shape), None), arr.dtype)

    def eager(a, F, array, arr, obj):
        shape, axis = _flat(a, arr.shape)
        kept = np.delete(np.arange(shape[axis]), _inside(obj.asnumpy(), shape[axis]))
        flat = F._backward_reshape(arr, shape=shape)
        return F.take(flat, array(kept), axis=axis)

    def ref(a, xp, arr, obj):
        shape, axis = _flat(a, arr.shape)
        return xp.delete(arr, _inside(obj, shape[axis]), a.axis)


def _inside(obj, extent):
    """Return the indices within bounds, or a mask unchanged."""
    obj = _whole(obj)
    return obj if obj.dtype.kind == "b" else obj[(obj >= 0) & (obj < extent)]


def _whole(obj):
    """Convert indices of any dtype to integers."""
    return obj.astype("int64") if obj.dtype.kind == "f" else obj


# --- insert ------------------------------------------------------------------------------


def _left_padded(shape, ndim):
    return (1,) * (ndim - len(shape)) + tuple(shape)


def _count(a, shape, axis, added, places):
    """Return the number of inserted slices; None if unknown."""
    by_place = places is None
    if by_place:
        key = _key(a, shape, axis, 1)
        single = not isinstance(key, slice)
        count = 1 if single else None
        if not single and shape[axis] != -1:
            count = len(range(*key.indices(shape[axis])))
    else:
        single, count = places == (), None if -1 in places else prod(places)
    if added is None or (count != 1 and not single):
        return count
    shape_of_values = _left_padded(added, len(shape))
    extent = shape_of_values[0] if single else shape_of_values[axis]
    return None if extent == -1 else extent


def _insert_infer(a, arr, values=None, obj=None):
    if arr.shape is None or None in [s.shape for s in (values, obj) if s is not None]:
        return Spec(None, arr.dtype)
    shape, axis = _flat(a, arr.shape)
    added = None if values is None else values.shape
    require(
        values is None or not is_complex(values.dtype) or is_complex(arr.dtype),
        f"values: complex numbers cannot become {arr}: take .real",
    )
    require(added is None or len(added) <= len(shape), f"values: {added} has too many dimensions")
    require(obj is None or obj.dtype != CODES["bool"], "obj: expected places, got a mask")
    count = _count(a, shape, axis, added, None if obj is None else obj.shape)
    return Spec(_resized(shape, axis, count), arr.dtype)


def _insert_ref(a, xp, arr, *others):
    values = xp.asarray(a.val) if a.val is not None else others[0]
    places = others[-1] if len(others) == 2 or (others and a.val is not None) else None
    key = _key(a, *_flat(a, arr.shape), 1) if places is None else _whole(places)
    with np.errstate(all="ignore"):
        return xp.insert(arr, key, values.astype(arr.dtype), a.axis)


def _insert_grad(name, has_places):
    def grad(a, F, g, obj, specs):
        shape, axis = _flat(a, specs[0].shape)
        has_values = a.val is None
        added = specs[1].shape if has_values else None
        places = specs[-1].shape if has_places else None
        extent, count = shape[axis], _count(a, shape, axis, added, places)
        own = F._npi_arange(start=0, stop=extent, dtype="int64")
        others = F._npi_arange(start=extent, stop=extent + count, dtype="int64")
        operands = (own, others, obj) if has_places else (own, others)
        source = getattr(F, name)(*operands, **_places(a))
        full_shape = (*shape[:axis], extent + count, *shape[axis + 1 :])
        gradient = _given_back(F, g, source, full_shape, axis)
        first = F.slice_axis(gradient, axis=0, begin=0, end=extent)
        by_array = _restored(F, first, axis, specs[0].shape)
        if not has_values:
            return (by_array, None) if has_places else by_array
        last = F.slice_axis(gradient, axis=0, begin=extent, end=extent + count)
        by_values = _of_values(a, F, last, specs[1], shape, axis, count, places)
        return (by_array, by_values, None) if has_places else (by_array, by_values)

    if has_places:
        return grad
    return lambda a, F, g, specs: grad(a, F, g, None, specs)


def _of_values(a, F, moved, spec, shape, axis, count, places):
    """Return the gradient of the values from that of the inserted slices, edited axis first."""
    single = a.int_ind is not None if places is None else places == ()
    others = (*shape[:axis], *shape[axis + 1 :])
    if not single:
        moved = F._npi_moveaxis(moved, source=(0,), destination=(axis,))
        others = (*shape[:axis], count, *shape[axis + 1 :])
    else:
        others = (count, *others)
    padded = Spec(_left_padded(spec.shape, len(shape)), spec.dtype)
    return F._backward_reshape(sum_to(F, moved, padded, Spec(others)), shape=spec.shape)


def _insert(name, has_places, doc, samples):
    inputs = "arr values? obj" if has_places else "arr values?"

    def arguments(a):
        named = inputs.replace("?", "").split()
        return tuple(n for n in named if n != "values" or a.val is None)

    register(
        name,
        inputs=inputs,
        fields=(Field("val", DoubleOrNone, None), *_PLACE),
        arguments=arguments,
        infer=lambda a, arr, *others: _insert_infer(a, arr, *_sorted(a, others, has_places)),
        grad=_insert_grad(name, has_places),
        ref=_insert_ref,
        dtypes=_KINDS,
        complexes=True,
        samples=samples,
        doc=doc,
    )


def _sorted(a, others, has_places):
    """Return (values or None, indices or None) from the inputs after the first."""
    others = list(others)
    values = others.pop(0) if a.val is None and others else None
    return values, others[0] if has_places and others else None


_insert(
    "_npi_insert_scalar",
    False,
    "Insert `val` or an array before index `int_ind` along `axis`.",
    (
        sample((4,), val=5.0, int_ind=1),
        sample((2, 3), val=2.0, int_ind=-1, axis=1),
        sample((2, 3), val=2.0, int_ind=-3, axis=1),
        sample((2, 3), (2,), int_ind=3),
        sample((2, 3), (2, 3), int_ind=2, axis=0),
        sample((2, 3), (2,), int_ind=0, axis=1),
    ),
)
_insert(
    "_npi_insert_slice",
    False,
    "Insert values before the indices `start:stop:step` along `axis`.",
    (
        sample((4,), (3,), start=0, stop=3, step=1),
        sample((2, 3), val=1.5, start=1, axis=1),
        sample((4, 2), (2, 1), step=-2, axis=0),
        sample((3,), (2,), start=1, stop=2),
    ),
)
_insert(
    "_npi_insert_tensor",
    True,
    "Insert values before an array of indices along `axis`.",
    (
        sample((4,), (2,), np.array([1, 1], "int64")),
        sample((2, 3), (2, 1), np.array([0, -1, 3], "int64"), axis=1),
        sample((2, 3), (4,), np.array(1, "int64")),
    ),
)


# --- diagonals -----------------------------------------------------------------------------------


@op("_npi_fill_diagonal", inputs="a", dtypes=("float32", "float64", "int32"))
class FillDiagonal:
    """Fill the main diagonal with values, repeated cyclically if there are too few.

    With `wrap` the diagonal of a tall matrix wraps around.
    """

    val: DoubleTuple
    wrap: Bool = False

    complexes = True
    samples = (
        sample((3, 3), val=(2.0,)),
        sample((5, 2), val=(1.0, 2.0), wrap=True),
        sample((2, 2, 2), val=(3.0,)),
    )

    def infer(a, x):
        if x.shape is not None:
            require(x.ndim > 1, "a: expected two dimensions at least")
            equal = x.ndim == 2 or len({n for n in x.shape if n != -1}) < 2
            require(equal, f"a: expected equal sizes, got {x.shape}")
        require(a.val, "val: expected a number at least")
        return Spec(x.shape, x.dtype)

    def grad(a, F, g):
        return F._npi_fill_diagonal(g, val=(0.0,), wrap=a.wrap)

    def ref(a, xp, x):
        out = xp.array(x)
        xp.fill_diagonal(out, xp.asarray(a.val).astype(x.dtype), a.wrap)
        return out


# --- indexing by integers or masks ---------------------------------------------------------------


@op("_npi_advanced_indexing", inputs="data indices", dtypes=("float32", "int32"))
class AdvancedIndexing:
    """Index the first axes by an integer array or a boolean mask; waits for a mask's values."""

    complexes = True
    samples = (
        sample((4, 2), np.array([0, -1, 2], "int64")),
        sample((3, 2), np.array([True, False, True])),
    )

    def infer(a, data, indices):
        if data.shape is None or indices.shape is None or indices.dtype is None:
            return Spec(None, data.dtype)
        if name_of(indices.dtype) == "bool":
            return Spec((-1, *data.shape[indices.ndim :]), data.dtype)
        return Spec((*indices.shape, *data.shape[1:]), data.dtype)

    def eager(a, F, array, data, indices):
        key = indices.asnumpy()
        grid = np.arange(prod(data.shape[: key.ndim])).reshape(data.shape[: key.ndim])
        if key.dtype != np.bool_:
            grid, key = np.arange(data.shape[0]), key.astype("int64")
        tail = data.shape[grid.ndim :]
        flat = F._backward_reshape(data, shape=(grid.size, *tail))
        return F.take(flat, array(grid[key]), axis=0)

    def ref(a, xp, data, indices):
        return data[_whole(indices)]


@op("_npi_share_memory", inputs="a b", dtypes=("float32",), ignores=("a", "b"))
class ShareMemory:
    """Return whether two arrays share memory; outputs of operators never do."""

    complexes = True
    samples = (sample((3,), (2,), grad=False),)

    def infer(a, first, second):
        return Spec((1,), CODES["bool"])

    def grad(a, F, g):
        return None, None

    def ref(a, xp, first, second):
        return xp.zeros(1, bool)
