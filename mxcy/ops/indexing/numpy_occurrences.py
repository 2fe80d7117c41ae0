"""`mx.np` operators with data-dependent shapes: nonzero, unique, bincount.

Their output shapes depend on the values, so these operators wait for them.
"""

import numpy as np

from mxcy._base.dtypes import CODES, name_of
from mxcy.ops.core.attrs import Bool, Int, IntOrNone
from mxcy.ops.core.infer import Spec, normal_axis, require, require_value
from mxcy.ops.core.record import op, sample, values

__all__ = []

_INT64 = CODES["int64"]


@op("_npx_nonzero", inputs="x", numpy="npx.nonzero(a, out=None, name=None)")
class NonZero:
    """Return the indices of the nonzero elements, one row per element; waits for the values.

    A 0-d array is treated as 1-D.
    """

    dtypes = ("float32", "int8", "bool")
    complexes = True
    samples = (sample((3, 4)), sample((0, 2)), sample(np.array([0, 1.5, 0], "float32")), sample(()))

    def infer(a, x):
        return Spec(None if x.shape is None else (-1, x.ndim or 1), _INT64)

    def eager(a, F, array, x):
        return array(np.argwhere(np.atleast_1d(x.asnumpy())))

    def ref(a, xp, x):
        return xp.argwhere(xp.atleast_1d(x))


@op("_npi_unique", inputs="data")
class Unique:
    """Return the sorted unique elements, or unique slices along `axis`; waits for the values.

    Optional further results: indices of first occurrences, indices that reconstruct the input, and
    counts.
    """

    return_index: Bool = False
    return_inverse: Bool = False
    return_counts: Bool = False
    axis: IntOrNone = None
    equal_nan: Bool = True

    dtypes = ("float32", "int8", "bool")
    complexes = True
    samples = (
        sample(values(0, 3, (9,), "int32")),
        sample(np.array([np.nan, 1, np.nan], "float32"), equal_nan=False, return_counts=True),
        sample(values(0, 3, (3, 4), "int64"), return_index=True, return_counts=True),
        sample(values(0, 2, (5, 2), "int8"), axis=0, return_inverse=True),
        sample((0,)),
    )

    def outputs(a):
        number = 1 + a.return_index + a.return_inverse + a.return_counts
        return tuple(f"output{i}" for i in range(number))

    def infer(a, data):
        shape = (-1,)
        if a.axis is not None and data.shape is not None:
            axis = normal_axis(a.axis, data.ndim)
            shape = (*data.shape[:axis], -1, *data.shape[axis + 1 :])
        first = Spec(None if data.shape is None else shape, data.dtype)
        return [first, *[Spec((-1,), _INT64) for _ in Unique.outputs(a)[1:]]]

    def eager(a, F, array, data):
        if a.axis is not None:
            normal_axis(a.axis, data.ndim, "unique: axis")
        elements = data.asnumpy()
        parts = None if a.return_index or a.axis is not None else _by_counting(a, elements)
        if parts is None:
            parts = Unique.ref(a, np, elements)
        return [array(x) for x in parts] if isinstance(parts, tuple) else array(parts)

    def ref(a, xp, data):
        # The inverse has the input's shape in NumPy 2, but is flat in MXNet.
        wanted = a.return_index, a.return_inverse, a.return_counts
        parts = xp.unique(data, *wanted, a.axis, equal_nan=a.equal_nan)
        if not isinstance(parts, tuple):
            return parts
        return parts[0], *(part.reshape(-1).astype("int64") for part in parts[1:])


def _by_counting(a, elements):
    """Compute `Unique` for integers in a small range by counting, else None."""
    size = elements.size
    if elements.dtype.kind not in "iu" or size < 1000:
        return None
    least, most = int(elements.min()), int(elements.max())
    if most - least > size or most > np.iinfo("int64").max:
        return None
    numbers = elements.reshape(-1).astype("int64") - least
    counts = np.bincount(numbers)
    occur = counts > 0
    places = np.flatnonzero(occur)
    parts = [(places + least).astype(elements.dtype)]
    if a.return_inverse:
        parts.append((np.cumsum(occur) - 1)[numbers])
    if a.return_counts:
        parts.append(counts[places])
    return tuple(parts) if len(parts) > 1 else parts[0]


@op("_npi_bincount", inputs="data weights?")
class BinCount:
    """Count each non-negative integer, or sum its weights; waits for the values.

    Raises
    ------
    ValueError
        If an element is negative.
    """

    minlength: Int = 0
    has_weights: Bool = False

    dtypes = ("int32", "uint8")
    samples = (
        sample(values(0, 5, (7,), "int32")),
        sample(values(0, 3, (4,), "int64"), (4,), has_weights=True),
        sample(np.zeros(0, "int32"), minlength=3),
    )

    def arguments(a):
        return ("data", "weights") if a.has_weights else ("data",)

    def infer(a, data, weights=None):
        require_value(a.minlength >= 0, f"minlength: must not be negative, got {a.minlength}")
        require(data.shape is None or data.ndim == 1, f"data: must be 1-D, got shape {data.shape}")
        return Spec((-1,), _INT64 if weights is None else weights.dtype)

    def eager(a, F, array, data, weights=None):
        BinCount.infer(a, [Spec(x.shape, 0) for x in (data, weights) if x is not None])
        numbers = data.asnumpy()
        negative = numbers.size and numbers.min() < 0
        require_value(not negative, "bincount: values must not be negative")
        if weights is None:
            indices = numbers.astype("int64", copy=False)
            return array(np.bincount(indices, minlength=a.minlength))
        length = max(a.minlength, int(numbers.max()) + 1 if numbers.size else 0)
        zeros = array(np.zeros(length, weights.dtype))
        if not numbers.size or not length:
            return zeros
        # Weights of lower precision are summed in double as in NumPy, recorded or not.
        word, places = name_of(weights.dtype_code), array(numbers.astype("int64"))
        if word != "float32":
            return F._backward_along(weights, places, axis=0, shape=(length,))
        doubles = F.Cast(weights, dtype="float64")
        return F.Cast(F._backward_along(doubles, places, axis=0, shape=(length,)), dtype=word)

    def ref(a, xp, data, weights=None):
        return xp.bincount(data.astype("int64"), weights, a.minlength)
