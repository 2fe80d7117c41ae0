"""Elementwise operators of one array, of two arrays of one shape, and of an array and a number."""

from mxcy.ops.attrs import Bool, Double, Dynamic, Field
from mxcy.ops.infer import Spec, broadcast_shapes, same_dtype
from mxcy.ops.params import SCALAR
from mxcy.ops.record import native, register, sample

__all__ = ["unary"]


def _infer_unary(a, data):
    return Spec(data.shape, data.dtype)


def unary(name, xp_name, doc, grad=None, aliases=(), domain=(-1.0, 1.0), kernel=None):
    """Register an elementwise operator of one array.

    Parameters
    ----------
    name, aliases
        Operator names.
    xp_name : str or callable
        The function of the array module that defines it, or ``f(xp, x)``.
    grad : callable, optional
        ``grad(F, g, x, y)``: the gradient from the output's gradient, the input and the output;
        it may leave out trailing names it does not need.
    domain : (float, float)
        Where the battery samples inputs.
    """
    define = xp_name if callable(xp_name) else lambda xp, x: getattr(xp, xp_name)(x)
    return register(
        name,
        aliases=aliases,
        inputs="data",
        infer=_infer_unary,
        grad=grad,
        names={"x": ("in", 0), "y": ("out", 0)},
        ref=lambda a, xp, data: define(xp, data),
        kernels=(native(kernel or name, inplace=True),),
        samples=(sample((3, 4)), sample((2, 3, 5))),
        domain=domain,
        doc=doc,
    )


unary("exp", "exp", "Exponential of every element.", grad=lambda a, F, g, y: g * y, domain=(-4, 4))

_SCALAR_FIELDS = (Field("scalar", Dynamic(Double), 1.0), Field("is_int", Bool, True))
register(
    "_plus_scalar", aliases=("_PlusScalar",), fields=_SCALAR_FIELDS, infer=_infer_unary,
    grad=lambda a, F, g: g, ref=lambda a, xp, data: data + a.scalar,
    kernels=(native("add_scalar", struct=SCALAR, inplace=True),), samples=(sample((3, 4), scalar=2.5),),
    doc="Add a number to every element.",
)  # fmt: skip


def _infer_broadcast(a, lhs, rhs):
    return Spec(broadcast_shapes(lhs.shape, rhs.shape), same_dtype((lhs, rhs), ("lhs", "rhs")))


def _shapes_differ(a, ins, outs):
    return None if ins[0].shape == ins[1].shape else "the shapes differ"


register(
    "broadcast_add", aliases=("broadcast_plus",), inputs="lhs rhs", infer=_infer_broadcast,
    grad=lambda a, F, g: (g, g), ref=lambda a, xp, lhs, rhs: lhs + rhs,
    kernels=(native("add", when=_shapes_differ, inplace=True),), samples=(sample((3, 4), (3, 4)),),
    doc="Add two arrays with broadcasting.",
)  # fmt: skip
register(
    "broadcast_mul", inputs="lhs rhs", infer=_infer_broadcast,
    grad=lambda a, F, g, lhs, rhs: (g * rhs, g * lhs), ref=lambda a, xp, lhs, rhs: lhs * rhs,
    kernels=(native("mul", when=_shapes_differ, inplace=True),), samples=(sample((3, 4), (3, 4)),),
    doc="Multiply two arrays with broadcasting.",
)  # fmt: skip
