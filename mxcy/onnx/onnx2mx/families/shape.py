"""Reshaping, transposition, expansion and space/depth conversion."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row

__all__ = ["product"]


@row("Shape")
def shape(F, a, x):
    extents = F.extents(x)
    return F.constant(F.open.array(extents[slice(a.start or 0, a.end)]))


def product(F, extents):
    """The product of ints and names."""
    number = 1
    for extent in extents:
        number = F.open.combined("*", number, extent)
    return number


@row("Size")
def size(F, a, x):
    return F.constant(F.open.array([product(F, F.extents(x))]).reshape(()))


# --- extents -------------------------------------------------------------------------------------


@row("Reshape")
def reshape_by_attribute(F, a, x):
    return _reshape(F, x, a.shape, False)


@row("Reshape", since=5)
def reshape(F, a, x, target):
    wanted = target.integers_or_names("the input shape")
    if any(isinstance(n, str) for n in wanted):
        named = F.extents(x)
        codes = None if a.allowzero and 0 in wanted else _without_names(wanted, named)
        if codes is None:
            return _reshape_by_names(F, x, wanted, named, a.allowzero)
        if codes.count(0):
            return F("_npx_reshape", x, newshape=tuple(-2 if n == 0 else n for n in codes))
        return _reshape(F, x, codes, False)
    return _reshape(F, x, wanted, bool(a.allowzero))


def _without_names(wanted, named):
    """Replace open extents in a Reshape target by 0 (copy) and -1 (infer).

    None if these do not suffice.
    """
    extents = [
        0 if isinstance(n, str) and n in named[i : i + 1] else n for i, n in enumerate(wanted)
    ]
    others = [i for i, n in enumerate(extents) if isinstance(n, str)]
    if len(others) > 1 or others and -1 in extents:
        return None
    return tuple(-1 if i in others else n for i, n in enumerate(extents))


def _reshape_by_names(F, x, wanted, named, literal):
    wanted = tuple(named[i] if n == 0 and not literal else n for i, n in enumerate(wanted))
    left, others = list(named), []
    for n in wanted:  # extents on both sides cancel
        if n in left and n != -1:
            left.remove(n)
        elif n != -1:
            others.append(n)
    follows = F.open.combined("/", product(F, left), product(F, others))
    shape = tuple(follows if n == -1 else n for n in wanted)
    return F.shaped(
        "_npi_reshape", [x], {"newshape": wanted}, (shape, dtypes.name_of(x.spec.dtype))
    )


def _reshape(F, x, target, literal):
    if target.count(-1) > 1 or min(target, default=0) < -1:
        raise MXNetError(f"shape: {target} has more than one open extent, or one below -1")
    if not literal:
        if any(n == 0 and i >= x.ndim for i, n in enumerate(target)):
            raise MXNetError(f"shape: {target} copies extents that {x.shape} does not have")
        # unknown extents are copied, or inferred from all others
        copied = [i for i, n in enumerate(target) if n == 0 and x.shape[i] == -1]
        target = tuple(x.shape[i] if n == 0 else n for i, n in enumerate(target))
        if target.count(-1) > 1:
            codes = tuple(-2 if i in copied else n for i, n in enumerate(target))
            return F("_npx_reshape", x, newshape=codes)
    if -1 in target and -1 not in x.shape and 0 in x.shape:
        known = math.prod(n for n in target if n != -1)
        quotient = math.prod(x.shape) // known if known else 0
        target = tuple(quotient if n == -1 else n for n in target)
    if target == x.shape and -1 not in target:
        return x
    return F("_npi_reshape", x, newshape=target)


@row("Flatten")
def flatten(F, a, x):
    axis = a.axis if a.axis >= 0 else a.axis + x.ndim
    if axis == 1 and x.ndim > 1 and 0 not in x.shape:
        return F("Flatten", x)
    before, after = x.shape[:axis], x.shape[axis:]
    if -1 in before:
        return F("_npi_reshape", x, newshape=(-1, math.prod(x.full_shape[axis:])))
    if -1 in after:
        return F("_npi_reshape", x, newshape=(math.prod(before), -1))
    return F("_npi_reshape", x, newshape=(math.prod(before), math.prod(after)))


@row("Squeeze")
def squeeze(F, a, x, axes=None):
    dims = a.axes if axes is None else axes.integers("the input axes")
    if dims is None:
        dims = [i for i, n in enumerate(x.full_shape) if n == 1]
    dims = tuple(sorted(axis % max(x.ndim, 1) for axis in dims))
    return F("_npi_squeeze", x, axis=dims) if dims else x


@row("Unsqueeze")
def unsqueeze(F, a, x, axes=None):
    dims = a.axes if axes is None else axes.integers("the input axes")
    for axis in sorted(axis % (x.ndim + len(dims)) for axis in dims):
        x = F("expand_dims", x, axis=axis)
    return x


@row("Expand", since=8)
def expand(F, a, x, target):
    wanted = target.integers_or_names("the input shape")
    if -1 not in x.shape and not any(isinstance(n, str) for n in wanted):
        extents = np.broadcast_shapes(x.shape, wanted)
        return x if extents == x.shape else F("_npi_broadcast_to", x, shape=extents)
    rank = max(x.ndim, len(wanted))
    named = (1,) * (rank - x.ndim) + F.extents(x)
    wanted = (1,) * (rank - len(wanted)) + wanted
    extents = tuple(_met(F, n, m) for n, m in zip(named, wanted, strict=True))
    if extents == named and rank == x.ndim:
        return x
    if rank == x.ndim and all(n == m for n, m in zip(named, extents, strict=True) if n != 1):
        if not any(isinstance(m, str) for n, m in zip(named, extents, strict=True) if n == 1):
            kept = tuple(0 if n == m else m for n, m in zip(named, extents, strict=True))
            return F("broadcast_to", x, shape=kept)
    return F.shaped("_npi_broadcast_to", [x], {"shape": extents},
                    (extents, dtypes.name_of(x.spec.dtype)))  # fmt: skip


def _met(F, extent, other):
    """The broadcast of two extents."""
    if extent == 1 or other == 1:
        return other if extent == 1 else extent
    if extent == other or not isinstance(other, str):
        return other
    return extent if not isinstance(extent, str) else F.open.combined("max", extent, other)


@row("Transpose")
def transpose(F, a, x):
    axes = a.perm if a.perm else tuple(reversed(range(x.ndim)))
    return F("transpose", x, axes=axes) if axes != tuple(range(x.ndim)) else x


@row("Tile")
def tile_by_number(F, a, x, tiles, axis):
    (axis,), reps = axis.integers("the input axis"), [1] * x.ndim
    (reps[axis],) = tiles.integers("the input tiles")
    return F("_npi_tile", x, reps=tuple(reps))


@row("Tile", since=6)
def tile(F, a, x, repeats):
    times = repeats.integers_or_names("the input repeats")
    if not any(isinstance(n, str) for n in times):
        return F("_npi_tile", x, reps=times)
    named = F.extents(x)
    shape = tuple(F.open.combined("*", n, m) for n, m in zip(named, times, strict=True))
    return F.shaped("_npi_tile", [x], {"reps": times}, (shape, dtypes.name_of(x.spec.dtype)))


def _image(F, a, x):
    """Extents of images; names for open ones."""
    if x.ndim != 4:
        raise MXNetError(f"expected images (batch, channels, height, width), got {x.shape}")
    return F.extents(x)


def _over(F, extent, b, what):
    if not isinstance(extent, str) and extent % b:
        raise MXNetError(f"{extent} {what} cannot be split into blocks of {b}")
    return F.open.combined("/", extent, b)


@row("DepthToSpace")
def depth_to_space(F, a, x):
    b, (batch, channels, height, width) = a.blocksize, _image(F, a, x)
    quotient = _over(F, channels, b * b, "channels")
    enlarged = [F.open.combined("*", n, b) for n in (height, width)]
    if a.mode == "CRD":
        parts = F.reshaped(x, (batch, quotient, b, b, height, width)).transpose(0, 1, 4, 2, 5, 3)
    else:
        parts = F.reshaped(x, (batch, b, b, quotient, height, width)).transpose(0, 3, 4, 1, 5, 2)
    return F.reshaped(parts, (batch, quotient, *enlarged))


@row("SpaceToDepth")
def space_to_depth(F, a, x):
    b, (batch, channels, height, width) = a.blocksize, _image(F, a, x)
    height, width = _over(F, height, b, "rows"), _over(F, width, b, "columns")
    parts = F.reshaped(x, (batch, channels, height, b, width, b))
    order = (0, 1, 3, 5, 2, 4) if a.mode == "CRD" else (0, 3, 5, 1, 2, 4)
    deep = F.open.combined("*", channels, b * b)
    return F.reshaped(parts.transpose(*order), (batch, deep, height, width))
