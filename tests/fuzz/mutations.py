"""Wrong calls derived from the records' samples, with one change each."""

import zlib

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core import attrs as types
from mxcy.ops.core.attrs import REQUIRED
from mxcy.ops.core.reference import narrow
from tests.fuzz.operator_calls import OperatorCall

__all__ = [
    "DTYPES",
    "INTEGERS",
    "NUMBERS",
    "calls_of_samples",
    "change_attribute",
    "mutations",
    "name_of",
    "other_shapes",
    "plain",
    "resized",
    "typed",
]

INTEGERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    -2,
    -100,
    1 << 20,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 31,
    1 << 40,
    (1 << 63) - 1,
    -(1 << 63),
    1 << 64,
)
NUMBERS = (0.0, -1.0, 1e-30, 0.5, 3.7, 1e7, -1e7, 1e30, np.inf, -np.inf, np.nan)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool")
DTYPES += ("complex64",)


def typed(values, dtype):
    """Cast values to the NumPy dtype of an element type, with any loss of information."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return narrow(np.asarray(np.real(values), np.float32)).view(dtypes.bfloat16)
        values = np.asarray(values)
        return (values if dtype.startswith("complex") else values.real).astype(dtype)


def plain(values):
    """Values of any element type as NumPy's own."""
    if values.dtype == dtypes.bfloat16:
        return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return values


def name_of(values):
    """The name of an array's element type."""
    return dtypes.name_of(dtypes.code_of(values.dtype))


def calls_of_samples(record):
    """The calls of a record's samples, in its first element type."""
    samples = record.samples() if callable(record.samples) else record.samples
    for sample in samples:
        rng = np.random.default_rng(zlib.crc32(f"{record.name}{sample.attrs}".encode()))
        dtype = (sample.dtypes or record.dtypes)[0]
        inputs = [_drawn(source, record, dtype, rng) for source in sample.inputs]
        attrs = dict(sample.attrs)
        if record.num_args is not None:
            attrs.setdefault(record.num_args, len(inputs))
        yield OperatorCall(record, attrs, inputs, sample.train)


def _drawn(source, record, dtype, rng):
    if isinstance(source, np.ndarray):
        return source
    if callable(source):
        values = source(rng)
        return values if values.dtype != np.float64 else typed(values, dtype)
    low, high = record.domain
    if dtype.startswith(("int", "uint", "bool")):
        low, high = max(int(np.ceil(low)), 0), max(int(np.ceil(high)), 1)
        return typed(rng.integers(low, high + 1, source), dtype)
    return typed(rng.uniform(low, high, source), dtype)


def mutations(call):
    """The call itself, and all calls that differ from it in one respect.

    Yields
    ------
    OperatorCall
    """
    yield call
    for inputs in (*_other_counts(call), *_other_shapes(call), *_other_values(call)):
        yield OperatorCall(call.record, call.attrs, inputs, call.train)
    yield from _other_attributes(call)
    if call.record.uses_mode:
        yield OperatorCall(call.record, call.attrs, call.inputs, not call.train)


def _other_counts(call):
    inputs = call.inputs
    yield []
    if inputs:
        yield inputs[:-1]
        yield [*inputs, inputs[-1]]
        yield inputs[1:]


def _with(inputs, i, values):
    return [*inputs[:i], values, *inputs[i + 1 :]]


def resized(values, shape):
    """An array of another shape with the same elements, repeated or cut."""
    if 0 in shape or values.size == 0:
        return np.zeros(shape, values.dtype)
    return np.resize(values, shape)


def other_shapes(shape):
    """Shapes that differ from one in an extent or in their rank."""
    yield ()
    yield (0,)
    yield (*shape, 1)
    yield (*shape, 2)
    yield (1, *shape)
    yield shape[:-1]
    yield shape[1:]
    yield shape[::-1]
    for d, extent in enumerate(shape):
        for other in (0, 1, extent - 1, extent + 1, 2 * extent):
            if other >= 0 and other != extent:
                yield (*shape[:d], other, *shape[d + 1 :])


def _other_shapes(call):
    inputs = call.inputs
    for i, values in enumerate(inputs):
        for shape in dict.fromkeys(other_shapes(values.shape)):
            if shape != values.shape:
                yield _with(inputs, i, resized(values, shape))
    if len(inputs) < 2:
        return
    for shape in dict.fromkeys(other_shapes(inputs[0].shape)):
        yield [resized(values, shape) for values in inputs]
    for d in range(max(values.ndim for values in inputs)):
        for extent in (0, 1):
            yield [
                resized(v, (*v.shape[:d], extent, *v.shape[d + 1 :])) if d < v.ndim else v
                for v in inputs
            ]


def _other_values(call):
    inputs = call.inputs
    for dtype in DTYPES:
        yield [typed(plain(values), dtype) for values in inputs]
    for i, values in enumerate(inputs):
        own = name_of(values)
        for dtype in DTYPES:
            if dtype != own and len(inputs) > 1:
                yield _with(inputs, i, typed(plain(values), dtype))
        numbers = NUMBERS if dtypes.is_inexact(dtypes.code_of(values.dtype)) else _extremes(values)
        for number in numbers:
            yield _with(inputs, i, typed(np.full(values.shape, number), own))
            if number in (np.inf, 1e7) or number != number:
                mixed = np.array(plain(values))
                with np.errstate(over="ignore"):
                    mixed.reshape(-1)[::2] = number
                yield _with(inputs, i, typed(mixed, own))


def _extremes(values):
    if values.dtype == np.bool_:
        return (False, True)
    about = np.iinfo(values.dtype)
    return [
        n for n in (0, -1, 1, 100, 1 << 31, about.min, about.max) if about.min <= n <= about.max
    ]


def _other_attributes(call):
    for field in call.record.schema.fields:
        known = call.attrs.get(field.name, field.default)
        for value in change_attribute(field, known):
            attrs = {**call.attrs, field.name: value}
            yield OperatorCall(call.record, attrs, call.inputs, call.train)
        if field.default is REQUIRED and field.name in call.attrs:
            attrs = {k: v for k, v in call.attrs.items() if k != field.name}
            yield OperatorCall(call.record, attrs, call.inputs, call.train)


def change_attribute(field, known):
    """Other values for an attribute."""
    if isinstance(field.type, types.Enum):
        yield from (choice for choice in field.type.choices if choice != known)
        return
    kind = field.type.kind
    if kind.startswith("boolean"):
        yield from (True, False)
    elif kind.startswith(("int", "long")):
        yield from INTEGERS
    elif kind.startswith(("float", "double")):
        yield from NUMBERS
    elif "tuple" in kind or "Shape" in kind:
        yield from _other_tuples(
            known, NUMBERS if "float" in kind or "double" in kind else INTEGERS
        )
    else:
        yield from ("", "nonsense", "{}", "[[1]]", "\x00")
    if kind.endswith("None"):
        yield None


def _other_tuples(known, numbers):
    try:
        known = tuple(known)
    except TypeError:
        known = (1,)
    yield ()
    yield (*known, 1)
    yield known[:-1]
    yield known[1:]
    yield (2,) * 40
    for number in numbers:
        yield tuple([number] * len(known))
        for i in range(len(known)):
            yield (*known[:i], number, *known[i + 1 :])
