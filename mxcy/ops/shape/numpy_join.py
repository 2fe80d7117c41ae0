"""`mx.np` operators that add axes, and stack or split arrays."""

from itertools import accumulate
from math import prod

from mxcy.ops.core.attrs import Bool, Field, Int, IntOrNone, Shape
from mxcy.ops.core.infer import Spec, numbered, require, same_dtype
from mxcy.ops.core.params import BLOCKS
from mxcy.ops.core.record import find, native, register, sample
from mxcy.ops.shape.concat import check_count

__all__ = []

_KINDS = ("float32", "float64", "int8", "bool")


# --- added axes ----------------------------------------------------------------------------------


def _at_least(ndim):
    """Return a function that extends shapes to at least `ndim` axes, as NumPy does."""

    def lifted(shape):
        if ndim == 3 and len(shape) == 2:
            return (*shape, 1)
        if ndim == 3 and len(shape) == 1:
            return (1, *shape, 1)
        return (1,) * (ndim - len(shape)) + tuple(shape)

    return lifted


def _as_columns(shape):
    """Return the shape with vectors as columns."""
    return (prod(shape), 1) if len(shape) < 2 else tuple(shape)


def _register_at_least(ndim):
    lifted = _at_least(ndim)

    def infer(a, ins):
        check_count(a, ins, "arys")
        return [Spec(None if x.shape is None else lifted(x.shape), x.dtype) for x in ins]

    def grad(a, F, g, specs):
        g = g if isinstance(g, list) else [g]
        shapes = [spec.shape for spec in specs]
        return [F._backward_reshape(x, shape=shape) for x, shape in zip(g, shapes, strict=True)]

    def ref(a, xp, arrays):
        return [xp.array(x).reshape(lifted(x.shape)) for x in arrays]

    register(
        f"_npi_atleast_{ndim}d",
        fields=(Field("num_args", Int),),
        inputs="",
        variadic="arys",
        num_args="num_args",
        outputs=lambda a: numbered(a.num_args, "num_args"),
        infer=infer,
        grad=grad,
        ref=ref,
        complexes=True,
        samples=(sample((2, 3), ()), sample((4,)), sample((2, 3, 1, 2), (0,), grad=False)),
        dtypes=_KINDS,
        doc=f"View arrays with at least {ndim} axes; one result per array.",
    )


for _ndim in (1, 2, 3):
    _register_at_least(_ndim)


# --- joining -------------------------------------------------------------------------------------


def _register_stack(name, doc, lifted, axis_of, fields, samples):
    def checked(a, ins):
        """Return the lifted shapes and the axis to join along."""
        check_count(a, ins)
        shapes = [lifted(spec.shape) for spec in ins]
        axis = axis_of(shapes[0])
        for shape in shapes:
            fits = len(shape) == len(shapes[0]) and all(
                n == m or i == axis for i, (n, m) in enumerate(zip(shape, shapes[0], strict=False))
            )
            require(fits, f"data: shapes {[spec.shape for spec in ins]} do not fit together")
        return shapes, axis

    def infer(a, ins):
        dtype = same_dtype(ins, [f"data{i}" for i in range(len(ins))])
        if any(spec.shape is None or -1 in spec.shape for spec in ins):
            return Spec(None, dtype)
        shapes, axis = checked(a, ins)
        total = sum(shape[axis] for shape in shapes)
        return Spec((*shapes[0][:axis], total, *shapes[0][axis + 1 :]), dtype)

    def grad(a, F, g, specs):
        shapes, axis = checked(a, specs)
        starts = tuple(accumulate((shape[axis] for shape in shapes[:-1]), initial=0))
        parts = F._split_v2(g, indices=starts, axis=axis) if len(specs) > 1 else [g]
        return [
            F._backward_reshape(part, shape=spec.shape)
            for part, spec in zip(parts, specs, strict=True)
        ]

    def rows(a, ins, outs):
        _, axis = checked(a, ins)
        return {"rows": prod(outs[0].shape[:axis])}

    register(
        f"_npi_{name}",
        fields=(Field("num_args", Int), *fields),
        inputs="",
        variadic="data",
        num_args="num_args",
        infer=infer,
        grad=grad,
        ref=lambda a, xp, arrays: getattr(xp, name)(arrays),
        kernels=(native("concat", struct=BLOCKS, params=rows),),
        joins=lambda a, ins, outs: rows(a, ins, outs)["rows"] == 1,
        complexes=True,
        amp="widest",
        samples=samples,
        dtypes=_KINDS,
        doc=doc,
    )


_DIM = (Field("dim", IntOrNone, 1),)
_register_stack(
    "vstack",
    "Join arrays along the first axis; vectors are rows.",
    _at_least(2),
    lambda shape: 0,
    (),
    (sample((2, 3), (3,)), sample((3,), (3,), (3,)), sample((), ()), sample((0, 3), (1, 3))),
)
_register_stack(
    "hstack",
    "Join arrays along the second axis, vectors along the first; `dim` is ignored.",
    _at_least(1),
    lambda shape: 0 if len(shape) == 1 else 1,
    _DIM,
    (sample((2, 3), (2, 1)), sample((3,), (2,)), sample((), (2,)), sample((2, 0, 2), (2, 1, 2))),
)
_register_stack(
    "dstack",
    "Join arrays along the third axis, added if missing; `dim` is ignored.",
    _at_least(3),
    lambda shape: 2,
    _DIM,
    (sample((2, 3), (2, 3)), sample((3,), (3,)), sample((2, 3, 2), (2, 3)), sample((), ())),
)
_register_stack(
    "column_stack",
    "Join vectors (as columns) and matrices along the second axis.",
    _as_columns,
    lambda shape: 1,
    (),
    (sample((3,), (3,)), sample((3, 2), (3,)), sample((), ()), sample((3, 0), (3,))),
)


# --- splitting -----------------------------------------------------------------------------------


def _along(a, ndim):
    """Return the attributes of a split along the second axis, or the first of a vector."""
    require(ndim, "data: hsplit only works on arrays of 1 or more dimensions")
    return a.with_values(("axis",), (min(ndim - 1, 1),))


def _register_hsplit():
    cut = find("_split_v2")

    def infer(a, data):
        attrs = a if data.shape is None else _along(a, data.ndim)
        return cut._infer(attrs, data)

    register(
        "_npi_hsplit",
        fields=(
            Field("indices", Shape),
            Field("axis", Int, 1),
            Field("squeeze_axis", Bool, False),
            Field("sections", Int, 0),
        ),
        outputs=cut.outputs,
        infer=infer,
        grad=lambda a, F, g, specs: cut.grad_rule(_along(a, specs[0].ndim), F, g, specs),
        ref=lambda a, xp, data: cut.ref(_along(a, data.ndim), xp, data),
        complexes=True,
        samples=(
            sample((4, 6), indices=(), sections=3),
            sample((7,), indices=(0, 2, 5)),
            sample((2, 4, 2), indices=(0, 1)),
        ),
        dtypes=_KINDS,
        doc="Split an array along its second axis, a vector along its first, as _split_v2 does.",
    )


_register_hsplit()
