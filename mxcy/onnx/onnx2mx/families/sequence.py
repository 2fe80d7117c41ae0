"""Sequences and optional values, represented by Python lists during import."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.parts import sliced
from mxcy.onnx.onnx2mx.table import row

__all__ = []


def _place(position, count, what="the input position"):
    (place,) = position.integers(what)
    if not -count <= place <= count:
        raise MXNetError(f"{what}: {place} is not within a sequence of {count}")
    return place


@row("SequenceEmpty", since=11)
def empty(F, a):
    return ([],)


@row("SequenceConstruct", since=11)
def construct(F, a, *values):
    return (list(values),)


@row("SequenceAt", since=11)
def at(F, a, values, position):
    return values[_place(position, len(values))]


@row("SequenceErase", since=11)
def erase(F, a, values, position=None):
    place = len(values) - 1 if position is None else _place(position, len(values))
    return ([value for i, value in enumerate(values) if i != place % len(values)],)


@row("SequenceInsert", since=11)
def insert(F, a, values, value, position=None):
    place = len(values) if position is None else _place(position, len(values))
    place += len(values) if place < 0 else 0
    return ([*values[:place], value, *values[place:]],)


@row("SequenceLength", since=11)
def length(F, a, values):
    return F.constant(np.array(len(values), np.int64))


@row("ConcatFromSequence", since=11)
def concat(F, a, values):
    if a.new_axis:
        return F("_npi_stack", *values, axis=a.axis)
    return F.concat(values, a.axis % values[0].ndim)


@row("SplitToSequence", since=11)
def split(F, a, x, parts=None):
    axis = a.axis % x.ndim
    extent, kept = x.full_shape[axis], True
    if parts is None:
        sizes, kept = [1] * extent, bool(a.keepdims)
    elif parts.ndim == 0:
        (size,) = parts.integers("the input split")
        sizes = [min(size, extent - i) for i in range(0, extent, size)]
    else:
        sizes = parts.integers("the input split")
    result, begin = [], 0
    for size in sizes:
        part = sliced(F, x, [begin], [begin + size], [axis])
        result.append(part if kept else F("_npi_squeeze", part, axis=axis))
        begin += size
    return (result,)


@row("Optional", since=15)
def optional(F, a, x=None):
    return x


@row("OptionalHasElement", since=15)
def has_element(F, a, x=None):
    return F.constant(np.array(x is not None))


@row("OptionalGetElement", since=15)
def get_element(F, a, x):
    if x is None:
        raise MXNetError("the optional value is empty")
    return (x,)
