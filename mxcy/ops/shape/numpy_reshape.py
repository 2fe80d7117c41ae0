"""`mx.npx.reshape`, whose codes differ from those of Reshape."""

import math

from mxcy.ops.core.attrs import Bool, Shape, Str
from mxcy.ops.core.infer import Spec, back_dtype, require
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import op, sample
from mxcy.ops.shape.reshape import MOVE, restored

__all__ = []


def _product(extents):
    return -1 if -1 in extents else math.prod(extents)


def _coded(shape, codes):
    """Apply codes to a shape; None stands for the inferred extent."""
    extents, source = [], 0
    codes = iter(codes)

    def taken(count, code):
        nonlocal source
        source += count
        require(source <= len(shape), f"newshape: code {code} has no axis of {shape} left")
        return shape[source - count : source]

    for code in codes:
        if code >= 0 or code == -1:
            extents.append(None if code == -1 else code)
            source += 1
        elif code == -2:
            extents += taken(1, code)
        elif code == -3:
            require(
                taken(1, code)[0] in (1, -1),
                f"newshape: code -3 skips dimensions of size 1 only: {shape}",
            )
        elif code == -4:
            extents += taken(max(len(shape) - source, 0), code)
        elif code == -5:
            extents.append(_product(taken(2, code)))
        else:
            require(code == -6, f"newshape: unknown code {code}")
            (extent,) = taken(1, code)
            extents += _split(extent, next(codes, None), next(codes, None))
    return extents


def _split(extent, first, second):
    """Return the two extents that code -6 splits one into; one of them may be -1."""
    require(second is not None, "newshape: code -6 needs two extents after it")
    require((first, second) != (-1, -1), "newshape: only one extent of code -6 can be -1")
    if extent != -1 and first == -1 and second > 0:
        first = extent // second
    elif extent != -1 and second == -1 and first > 0:
        second = extent // first
    require(
        extent == -1 or first * second == extent,
        f"newshape: cannot split size {extent} into {first} and {second}",
    )
    return first, second


def reshaped(shape, codes, reverse):
    """Apply codes to a shape that may be unknown or partially known."""
    if shape is None:
        return tuple(codes) if min(codes, default=0) >= -1 else None
    extents = _coded(shape[::-1], codes[::-1])[::-1] if reverse else _coded(shape, codes)
    require(extents.count(None) <= 1, f"newshape: only one dimension can be inferred, got {codes}")
    known, size = _product([n for n in extents if n is not None]), _product(shape)
    fail = f"newshape: cannot reshape array of shape {shape} into shape {tuple(codes)}"
    if None in extents:
        require(-1 in (known, size) or (known > 0 and size % known == 0), fail)
        inferred = -1 if -1 in (known, size) else size // known
        return tuple(inferred if n is None else n for n in extents)
    require(-1 in (known, size) or known == size, fail)
    return tuple(extents)


@op(
    "_npx_reshape",
    aliases=("_npi_reshape", "_np_reshape"),
    inputs="a",
    identity=True,
    numpy="npx.reshape(a, newshape, reverse=False, order='C', out=None, name=None)",
)
class Reshape:
    """Reshape an array, keeping the number of elements.

    Besides extents, `newshape` may hold codes: -1 (once) is inferred, -2 keeps an extent, -3 drops
    one that is 1, -4 keeps all remaining extents, -5 merges two and -6 splits one into the two
    following extents, one of which may be -1. With `reverse` codes are matched from the right, and
    the extents of -6 precede it. `order` must be ``'C'``.
    """

    newshape: Shape
    reverse: Bool = False
    order: Str = "C"

    quantized = Quantized("_npx_quantized_reshape")
    infer_back = back_dtype
    kernels = MOVE
    dtypes = ("float32", "int8", "bool")
    complexes = True
    samples = (
        sample((2, 3, 4), newshape=(4, -1)),
        sample((2, 3, 4), newshape=(-2, -5)),
        sample((1, 3, 4), newshape=(-3, -4)),
        sample((2, 3, 4), newshape=(-6, 1, -1, -4)),
        sample((10, 5, 4), newshape=(-1, -2), reverse=True),
        sample((8, 3), newshape=(2, -1, -6, -2), reverse=True),
        sample((2, 0, 4), newshape=(0, 3), grad=False),
        sample((1,), newshape=()),
    )

    def infer(a, x):
        require(a.order == "C", f"order: only 'C' is supported, got {a.order!r}")
        return Spec(reshaped(x.shape, a.newshape or (), a.reverse), x.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, x):
        return xp.reshape(x, reshaped(x.shape, a.newshape or (), a.reverse))
