"""Lowering of operators that only move elements to one kernel of nested strided loops.

A copy writes ``dst[dst_offset + sum(i[d] * dst[d])] = src[src_offset + sum(i[d] * src[d])]`` for
every index ``i`` of a shape. Transposing, slicing, broadcasting, tiling and flipping are such
copies.
"""

from mxcy._base.errors import InvalidIndexError
from mxcy.ops.core.params import COPY
from mxcy.ops.core.record import native

__all__ = [
    "NOTHING",
    "FILL",
    "BASE",
    "SCALAR",
    "MAX_DIM",
    "reached",
    "strides_of",
    "loops",
    "walk",
    "strided",
]

MAX_DIM = 32  # loops of one copy

#: contents of the output before the copy: undefined, the scalar, or the first input
NOTHING, FILL, BASE = 0, 1, 2
#: source index of the parameter struct's scalar
SCALAR = -1


def strides_of(shape):
    """Return the strides, in elements, of a C-contiguous array."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def loops(shape, src, dst=None, src_offset=0, dst_offset=0, before=NOTHING, source=0, scalar=0.0):
    """Return the parameters of a copy.

    Parameters
    ----------
    shape : sequence of int
        Extents of the nested loops.
    src, dst : sequence of int
        Strides of each loop, in elements; by default `dst` fills the output in order.
    src_offset, dst_offset : int
        Offsets at which the loops start.
    before : int
        `NOTHING`, `FILL` or `BASE`.
    source : int
        Index of the input to read, or `SCALAR`.
    scalar : float or None
        Value; None for the operator's dynamic attribute of that name.
    """
    if 0 in shape:  # nothing to copy
        src_offset = dst_offset = 0
    params = {
        "ndim": len(shape),
        "before": before,
        "source": source,
        "shape": shape,
        "src": src,
        "dst": strides_of(shape) if dst is None else dst,
        "src_offset": src_offset,
        "dst_offset": dst_offset,
    }
    return params if scalar is None else {**params, "scalar": scalar}


def walk(extents, starts, steps):
    """Return offset and strides of a slice of a contiguous array of `extents`."""
    strides = strides_of(extents)
    offset = sum(start * stride for start, stride in zip(starts, strides, strict=True))
    return offset, [step * stride for step, stride in zip(steps, strides, strict=True)]


def reached(extents, strides, offset):
    """Return the first and last element that nested loops touch; `extents` must be nonzero."""
    ends = [(n - 1) * stride for n, stride in zip(extents, strides, strict=True)]
    return offset + sum(min(n, 0) for n in ends), offset + sum(max(n, 0) for n in ends)


def _check_reach(params, strides, offset, size):
    """Check that loops stay within an array of `size` elements, independently of `infer`.

    Raises
    ------
    IndexError
    """
    first, last = reached(params["shape"], strides, offset)
    if first < 0 or last >= size:
        raise InvalidIndexError(f"elements {first} to {last} of an array of size {size}")


def strided(params, inplace=False, rank=lambda a, ins, outs: outs[0].ndim, when=None):
    """Return the kernel of a record that is one strided copy.

    Parameters
    ----------
    params : callable
        ``params(a, ins, outs)`` returns the call's `loops`.
    inplace : bool
        Whether the output may share the first input's memory.
    rank : callable
        ``rank(a, ins, outs)``: number of loops, by default the output's rank.
    when : callable, optional
        Further condition that refuses a call, see `native`.
    """

    def refusal(a, ins, outs):
        needed = rank(a, ins, outs)
        if needed > MAX_DIM:
            return f"{needed} loops, the kernel takes {MAX_DIM}"
        return when(a, ins, outs) if when else None

    def checked(a, ins, outs):
        loops = params(a, ins, outs)
        if 0 not in loops["shape"]:
            _check_reach(loops, loops["dst"], loops["dst_offset"], outs[0].size)
            if loops["source"] != SCALAR:
                source = ins[loops["source"]]
                _check_reach(loops, loops["src"], loops["src_offset"], source.size)
        return loops

    return native("copy_loops", struct=COPY, params=checked, when=refusal, inplace=inplace)
