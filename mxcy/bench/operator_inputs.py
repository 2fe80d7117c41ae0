"""Inputs for timing an operator, derived from the samples of its record."""

import math
import time

import numpy as np

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY

__all__ = ["Case", "cases", "function_of", "label_of", "random_array", "records", "types_of"]

#: MXNet's shapes for operators on arrays of any shape
SHAPES = ((1024, 1024), (10000, 1), (10000, 100))
_SIZES = (1 << 12, 1 << 16, 1 << 20)  # number of elements of the largest input
_SLOW = 0.05  # seconds per call; slower operators get smaller inputs


class Case:
    """Arrays and attributes of a call.

    Parameters
    ----------
    arrays : list of NDArray
    attrs : dict
    names : list of str
        Names of the arrays in the report.
    train : bool
        Whether to run in training mode even without gradients.
    """

    def __init__(self, arrays, attrs, names, train=False):
        self.arrays, self.attrs, self.names, self.train = arrays, attrs, names, train

    def described(self):
        """Shapes and attributes by name, for the report."""
        shapes = {name: a.shape for name, a in zip(self.names, self.arrays, strict=True)}
        return {**shapes, **self.attrs}


def records():
    """Return the records callable on arrays, each with its names, in alphabetical order.

    Returns
    -------
    list of (Op, list of str)
    """
    known = ((record, homes.public_names(record)) for record in dict.fromkeys(REGISTRY.values()))
    return sorted(((r, names) for r, names in known if names), key=lambda pair: label_of(pair[1]))


def label_of(names):
    """Return an operator's name in the report: ``linalg_gemm`` for ``mx.nd.linalg.gemm``.

    Parameters
    ----------
    names : list of str
        The public names.
    """
    name = next((n for n in names if n.startswith("mx.nd.")), names[0])
    return name.removeprefix("mx.").removeprefix("nd.").replace(".", "_")


def function_of(names):
    """Return the function of the first name that exists.

    Parameters
    ----------
    names : list of str
    """
    ordered = sorted(names, key=lambda name: not name.startswith("mx.nd."))
    owner = mx
    for part in ordered[0].split(".")[1:]:
        owner = getattr(owner, part)
    return owner


def types_of(record):
    """Return the dtypes of a record's samples, in alphabetical order.

    Parameters
    ----------
    record : Op
    """
    samples = list(record.samples() if callable(record.samples) else record.samples)
    return sorted({dtype for s in samples for dtype in s.dtypes or record.dtypes})


def random_array(record, shape, dtype, rng, ctx):
    """Return an array of random numbers in the domain of an operator.

    Parameters
    ----------
    record : Op
    shape : tuple of int
    dtype : str
    rng : numpy.random.Generator
    ctx : Context

    Returns
    -------
    NDArray
    """
    low, high = record.domain
    if dtype.startswith(("int", "uint")):
        low = max(low, 0) if dtype.startswith("u") else low
        values = rng.integers(math.ceil(low), max(math.floor(high), math.ceil(low)) + 1, shape)
    else:
        values = rng.random(shape, "float32") * np.float32(high - low) + np.float32(low)
    return mx.nd.array(values, ctx=ctx, dtype=dtype)


def _repeated(values, factor):
    """Repeat a sample's array along its first axis; scalars are unchanged."""
    return np.concatenate([values] * factor) if values.ndim else values


def _case(record, sample, dtype, ctx, factor, among):
    """A sample whose inputs `among` (indices) are made `factor` times as long."""
    rng, arrays = np.random.default_rng(7), []
    for position, source in enumerate(sample.inputs):
        times = factor if position in among else 1
        if isinstance(source, tuple):
            shape = (source[0] * times, *source[1:]) if source else ()
            arrays.append(random_array(record, shape, dtype, rng, ctx))
            continue
        values = np.asarray(source(rng) if callable(source) else source)
        kind = dtype if values.dtype == "float64" else values.dtype
        arrays.append(mx.nd.array(_repeated(values, times), ctx=ctx, dtype=kind))
    names = [f"arg{i}" for i in range(len(arrays))]
    if not record.variadic:
        names = [*record.inputs, *names][: len(arrays)]
    attrs = dict(sample.attrs)
    return Case(arrays, attrs, names, sample.train)


def _largest(sample):
    """Number of elements of a sample's largest input."""
    rng = np.random.default_rng(7)
    return max((_elements(source, rng) for source in sample.inputs), default=1)


def _elements(source, rng):
    if isinstance(source, tuple):
        return math.prod(source)
    return np.size(source(rng) if callable(source) else source)


def _works(call, case):
    """Seconds of a second call, or None if the operator rejects the inputs."""
    try:
        result = call(case)
        outs = result if isinstance(result, list | tuple) else [result]
        if sum(out.size for out in outs) > 8 * _SIZES[0]:
            return None
        for out in outs:
            out.wait_to_read()
        began = time.perf_counter()
        call(case)
        mx.nd.waitall()
        return time.perf_counter() - began
    except Exception:  # the inputs are guesses, so any error may occur
        return None


def cases(record, call, dtype, ctx):
    """Choose the calls for timing a record: the largest that are fast enough.

    Parameters
    ----------
    record : Op
    call : callable
        ``call(case)`` runs the operator.
    dtype : str
    ctx : Context

    Returns
    -------
    list of Case
        Empty if no sample of the record can run with the dtype.
    """
    samples = list(record.samples() if callable(record.samples) else record.samples)
    meant = [s for s in samples if dtype in (s.dtypes or record.dtypes)]
    samples = meant or samples  # many operators also accept dtypes without a sample
    plain = [s for s in samples if s.inputs and not s.attrs and len(set(map(str, s.inputs))) == 1]
    if plain and isinstance(plain[0].inputs[0], tuple):
        chosen = []
        for shape in SHAPES:
            resized = type(plain[0])(*[shape] * len(plain[0].inputs), train=plain[0].train)
            case = _case(record, resized, dtype, ctx, 1, ())
            taken = _works(call, case)
            chosen += [case] if taken is not None and taken < 10 * _SLOW else []
        if chosen:
            return chosen
    for sample in sorted(samples, key=_largest, reverse=True)[:3]:
        chosen, taken, largest = None, 0, max(1, _largest(sample))
        everything = range(len(sample.inputs))
        longer = [everything, everything[:1]]
        for size in (1, *_SIZES):
            if taken * 16 > _SLOW:
                break
            factor = max(1, size // largest)
            for among in longer.copy():
                case = _case(record, sample, dtype, ctx, factor, among)
                seconds = _works(call, case)
                if seconds is not None and (seconds < _SLOW or chosen is None):
                    chosen, taken = case, seconds
                    break
                longer.remove(among)  # would fail or be slower at the next size
        if chosen is not None:
            return [chosen]
    return []
