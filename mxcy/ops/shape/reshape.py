"""Reshape and related operators."""

import math

from mxcy.ops.core.attrs import Bool, Int, IntOrNone, Shape, ShapeOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_dtype, normal_axes, require
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, op, sample

__all__ = ["restored", "reshaped"]

#: maximum length of a requested shape: products of many thousand extents take minutes
MOST_CODES = 1024

#: the output has the input's elements in the same order
MOVE = (native("copy_strided", inplace=True),)


def restored(F, g, spec):
    """Reshape a gradient to its input's shape, for gradient rules."""
    return F._backward_reshape(g, shape=spec.shape)


def _size(shape):
    """Return the number of elements, or None if an extent is unknown."""
    return None if shape is None or -1 in shape else math.prod(shape)


def _product(extents):
    return -1 if -1 in extents else math.prod(extents)


# --- Reshape -------------------------------------------------------------------------------------


def _apply_codes(shape, codes):
    """Apply Reshape's special codes to `shape`; at most one extent is left None."""
    out, source, position = [], 0, 0

    def take(n, code):
        nonlocal source
        require(source + n <= len(shape), f"shape: code {code} has no dimension of {shape} left")
        source += n
        return shape[source - n : source]

    while position < len(codes):
        code = codes[position]
        position += 1
        if code == 0:
            out += take(1, code)
        elif code == -1:
            require(None not in out, f"shape: only one dimension can be inferred, got {codes}")
            out.append(None)
            source += 1
        elif code == -2:
            out += take(max(len(shape) - source, 0), code)
        elif code == -3:
            out.append(_product(take(2, code)))
        elif code == -4:
            require(
                position + 2 <= len(codes), f"shape: code -4 needs two sizes after it in {codes}"
            )
            (extent,) = take(1, code)
            out += _split(extent, *codes[position : position + 2])
            position += 2
        else:
            require(code > 0, f"shape: unknown code {code} in {codes}")
            out.append(code)
            source += 1
    return out


def _split(extent, first, second):
    """Return the two extents that code -4 splits one into; one of them may be -1."""
    require((first, second) != (-1, -1), "shape: only one extent of code -4 can be -1")
    if extent == -1:
        return first, second
    if first == -1 and second > 0:
        first = extent // second
    elif second == -1 and first > 0:
        second = extent // first
    require(
        first * second == extent, f"shape: cannot split size {extent} into {first} and {second}"
    )
    return first, second


def _infer_extent(shape, out):
    """Replace the None in `out` so that both shapes have the same number of elements."""
    total = _size(shape)
    if None in out:
        others = _product([extent for extent in out if extent is not None])
        at = out.index(None)
        if total is None or others == -1:
            out[at] = -1
        else:
            require(
                others > 0 and total % others == 0,
                f"shape: cannot reshape {shape} to {_shown(out)}",
            )
            out[at] = total // others
    known = _size(out)
    require(
        known is None or total is None or known == total,
        f"shape: cannot reshape {shape} to {_shown(out)}",
    )
    return tuple(out)


def _shown(out):
    return tuple(-1 if extent is None else extent for extent in out)


def reshaped(shape, codes, reverse=False):
    """Return Reshape's result for `shape`, which may be partial or None."""
    require(
        len(codes) <= MOST_CODES, f"shape: {len(codes)} dimensions, expected {MOST_CODES} at most"
    )
    if shape is None:
        return tuple(codes) if all(code > 0 or code == -1 for code in codes) else None
    if reverse:
        out = _infer_extent(shape, _apply_codes(shape[::-1], codes[::-1])[::-1])
    else:
        out = _infer_extent(shape, _apply_codes(shape, codes))
    return out


def _legacy_target(shape, target, keep_highest):
    """Resolve the old parameter target_shape: one 0 is inferred."""
    if shape is None:
        return None
    out = [None if extent == 0 else extent for extent in target]
    if keep_highest:
        out[0] = shape[0]
    require(out.count(None) <= 1, f"target_shape: only one dimension can be inferred, got {target}")
    return _infer_extent(shape, out)


@op("Reshape", aliases=("reshape",), identity=True)
class Reshape:
    """Reshape an array, keeping the number of elements.

    Besides extents, `shape` may hold codes: 0 keeps the input's extent, -1 (once) is inferred, -2
    keeps all remaining extents, -3 merges the next two extents, and -4 splits one extent into the
    two following values (one of which may be -1). With `reverse` codes are matched from the right.
    `target_shape` and `keep_highest` are the older form, where one 0 is inferred.

    Raises
    ------
    MXNetError
        If the numbers of elements differ or the codes do not fit the input.
    """

    shape: Shape = ()
    reverse: Bool = False
    target_shape: Shape = ()
    keep_highest: Bool = False

    def infer_back(a, ins, outs):
        """Infer one unknown extent of the data from the number of elements."""
        back_dtype(a, ins, outs)
        data, size = ins[0].shape, _size(outs[0].shape) or 0
        if data is not None and data.count(-1) == 1 and size > 0:
            remaining = -math.prod(data)
            if remaining > 0 and size % remaining == 0:
                ins[0].fill("data", tuple(size // remaining if n == -1 else n for n in data))

    def infer(a, data):
        if not a.shape and a.target_shape:
            return Spec(_legacy_target(data.shape, a.target_shape, a.keep_highest), data.dtype)
        return Spec(reshaped(data.shape, a.shape or (), a.reverse), data.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, data):
        return xp.reshape(data, Reshape.infer(a, [Spec(data.shape)])[0].shape)

    quantized = Quantized("_contrib_quantized_reshape")
    kernels = MOVE
    complexes = True
    samples = (
        sample((2, 3, 4), shape=(4, 0, 2)),
        sample((2, 3, 4), shape=(0, -1)),
        sample((2, 3, 4), shape=(-3, -4, 2, -1)),
        sample((2, 3, 4), shape=(-2, 1)),
        sample((10, 5, 4), shape=(-1, 0), reverse=True),
        sample((2, 3, 4), target_shape=(2, 0)),
        sample((0, 3), shape=(-3,)),
        sample((1,), shape=()),
    )


@op(
    "_backward_reshape",
    identity=True,
    in_symbols=InSymbols(noted_as=("_npx_reshape", {"shape": "newshape"}, {})),
)
class ReshapeExactly:
    """Reshape an array to literal extents, without codes: zeros are extents."""

    shape: Shape

    infer_back = back_dtype

    def infer(a, data):
        known = _size(data.shape)
        require(
            known is None or known == math.prod(a.shape),
            f"shape: cannot reshape {data.shape} to {a.shape}",
        )
        return Spec(a.shape, data.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, data):
        return xp.reshape(data, a.shape)

    kernels = MOVE
    complexes = True
    samples = (sample((2, 3, 4), shape=(4, 6)), sample((0, 3), shape=(2, 0)))


def _part(ndim, begin, end, name):
    """Return the dimensions [begin, end) that reshape_like replaces or copies."""
    first = 0 if begin is None else begin + ndim if begin < 0 else begin
    last = ndim if end is None else end + ndim if end < 0 else end
    require(
        0 <= first and last <= ndim, f"{name}: {begin}:{end} is out of bounds for {ndim} dimensions"
    )
    require(first < last or (begin is None and end is None), f"{name}: {begin}:{end} is empty")
    return first, last


@op(
    "reshape_like",
    aliases=("_npx_reshape_like",),
    inputs="lhs rhs",
    identity=True,
    ignores=("rhs",),
)
class ReshapeLike:
    """Reshape `lhs` to the shape of `rhs`, or replace a range of its dimensions by one of `rhs`.

    The dimensions `lhs_begin` to `lhs_end` of `lhs` are replaced by `rhs_begin` to `rhs_end` of
    `rhs`; both ranges default to all dimensions, and bounds may be negative.
    """

    lhs_begin: IntOrNone = None
    lhs_end: IntOrNone = None
    rhs_begin: IntOrNone = None
    rhs_end: IntOrNone = None

    infer_back = back_dtype

    def infer(a, lhs, rhs):
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, lhs.dtype)
        begin, end = _part(lhs.ndim, a.lhs_begin, a.lhs_end, "lhs")
        first, last = _part(rhs.ndim, a.rhs_begin, a.rhs_end, "rhs")
        shape = lhs.shape[:begin] + rhs.shape[first:last] + lhs.shape[end:]
        have, want = _size(lhs.shape), _size(shape)
        require(
            have is None or want is None or have == want,
            f"lhs: cannot reshape {lhs.shape} to {shape}, the numbers of elements differ",
        )
        return Spec(shape, lhs.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, lhs, rhs):
        return xp.reshape(lhs, ReshapeLike.infer(a, [Spec(lhs.shape), Spec(rhs.shape)])[0].shape)

    kernels = MOVE
    complexes = True
    samples = (
        sample((6,), (2, 3)),
        sample((30, 7), (15, 2, 4), lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2),
        sample((30, 7), (15, 2, 4), lhs_begin=-2, lhs_end=-1, rhs_end=-1),
    )


@op("Flatten", aliases=("_npx_batch_flatten", "flatten"), identity=True)
class Flatten:
    """Flatten all dimensions but the first: (d0, d1, ..., dn) becomes (d0, d1*...*dn)."""

    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec((-1, -1), data.dtype)
        require(data.ndim > 0, "data: needs at least one dimension")
        return Spec((data.shape[0], _product(data.shape[1:])), data.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, data):
        return xp.reshape(data, (data.shape[0], math.prod(data.shape[1:])))

    quantized = Quantized("_contrib_quantized_flatten")
    kernels = MOVE
    complexes = True
    samples = (sample((2, 3, 4)), sample((5,)))


@op("expand_dims", aliases=("_npi_expand_dims",), identity=True)
class ExpandDims:
    """Insert a dimension of size 1 at position `axis`, counted from the end when negative."""

    axis: Int

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        ndim = data.ndim
        require(
            -ndim - 1 <= a.axis <= ndim, f"axis: must lie in [{-ndim - 1}, {ndim}], got {a.axis}"
        )
        at = a.axis + ndim + 1 if a.axis < 0 else a.axis
        return Spec((*data.shape[:at], 1, *data.shape[at:]), data.dtype)

    def infer_back(a, ins, outs):
        shape = outs[0].shape
        if shape is not None:
            at = a.axis + len(shape) if a.axis < 0 else a.axis
            shape = shape[:at] + shape[at + 1 :]
        ins[0].fill("data", shape, outs[0].dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, data):
        return xp.expand_dims(data, a.axis)

    kernels = MOVE
    complexes = True
    samples = (sample((2, 3), axis=1), sample((2, 3), axis=-1), sample((2, 3), axis=0))


@op("squeeze", identity=True, in_symbols=InSymbols(named_input=True))
class Squeeze:
    """Remove dimensions of size 1: all of them, or those listed in `axis`.

    If all dimensions would be removed, the shape is (1,).
    """

    axis: ShapeOrNone = None

    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        if a.axis is None:
            if -1 in data.shape:
                return Spec(None, data.dtype)
            kept = tuple(extent for extent in data.shape if extent != 1)
        else:
            axes = normal_axes(a.axis, data.ndim)
            for axis in axes:
                require(
                    data.shape[axis] in (1, -1),
                    f"axis: cannot remove dimension {axis} of size {data.shape[axis]}",
                )
            kept = tuple(n for i, n in enumerate(data.shape) if i not in axes)
        return Spec(kept or (1,), data.dtype)

    def grad(a, F, g, specs):
        return restored(F, g, specs[0])

    def ref(a, xp, data):
        return xp.reshape(data, Squeeze.infer(a, [Spec(data.shape)])[0].shape)

    kernels = MOVE
    complexes = True
    samples = (
        sample((1, 2, 1, 3)),
        sample((1, 2, 1, 3), axis=(0, -2)),
        sample((1, 2, 1, 3), axis=0),
        sample((1, 1)),
    )
