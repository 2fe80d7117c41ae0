"""Int8 matrix products for translation models, under the names of the library intgemm.

Weights are prepared once. The prepared form is the plain int8 matrix; intgemm's tile sizes are
required nevertheless, for compatibility.
"""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Enum, Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, stop, values
from mxcy.ops.matrix.dense import FullyConnected
from mxcy.ops.quantization.ranges import F32, INT8, INT32, per_unit, range_specs

__all__ = []

_FLOAT = dtypes.code_of("float32")
#: rows and columns of a weight must be multiples of these
_ROWS, _COLUMNS = 8, 64
_LARGEST = values(0.5, 1, (1,), "float32")


def _numbers(xp, data, largest):
    """Quantize floats to int8 in [-127, 127]."""
    largest = F32(xp.asarray(largest, F32).reshape(-1)[0])
    scaled = data.astype(F32) * per_unit(127, largest)
    scaled = xp.where(scaled < F32(127), scaled, F32(127))
    return xp.rint(xp.maximum(scaled, F32(-127))).astype("int8")


def _tiled(shape, name):
    """Raise for weights that do not fill intgemm's tiles."""
    if shape is None:
        return
    require(len(shape) >= 2, f"{name}: expected a matrix, got shape {shape}")
    rows = 1
    for extent in shape[:-1]:
        rows = -1 if -1 in (rows, extent) else rows * extent
    require(
        shape[-1] == -1 or shape[-1] % _COLUMNS == 0,
        f"{name}: the inner dimension must be a multiple of {_COLUMNS}, got shape {shape}",
    )
    require(
        rows == -1 or rows % _ROWS == 0,
        f"{name}: the output dimension must be a multiple of {_ROWS}, got shape {shape}",
    )


@op("_contrib_intgemm_maxabsolute", aliases=("_npx_intgemm_maxabsolute",))
class MaxAbsolute:
    """Return the largest magnitude of float32 data, with shape (1,); 0 if empty."""

    dtypes = ("float32",)
    grad = stop
    samples = (sample((3, 70)), sample((0, 2)))

    def infer(a, data):
        data.fill("data", dtype=_FLOAT)
        return Spec((1,), _FLOAT)

    def ref(a, xp, data):
        largest = xp.abs(data).max() if data.size else 0
        return xp.asarray([largest], F32)


@op("_contrib_intgemm_prepare_data", aliases=("_npx_intgemm_prepare_data",), inputs="data maxabs")
class PrepareData:
    """Quantize floats to int8: ``data * 127 / maxabs``, rounded half to even, in [-127, 127]."""

    dtypes = ("float32",)
    grad = stop
    samples = (sample((3, 70), _LARGEST), sample((5,), _LARGEST))

    def infer(a, data, maxabs):
        data.fill("data", dtype=_FLOAT)
        range_specs(("maxabs", maxabs))
        return Spec(data.shape, INT8)

    def ref(a, xp, data, maxabs):
        return _numbers(xp, data, maxabs)


@op(
    "_contrib_intgemm_prepare_weight",
    aliases=("_npx_intgemm_prepare_weight",),
    inputs="weight maxabs?",
)
class PrepareWeight:
    """Convert weights to the int8 form of `intgemm_fully_connected`.

    Shapes: weight (..., inner), where `inner` is a multiple of 64 and the product of the others a
    multiple of 8; float32, or int8 with `already_quantized` and without `maxabs`.
    """

    already_quantized: Bool = False

    dtypes = ("float32",)
    grad = stop
    samples = (
        sample((8, 64), _LARGEST),
        sample(values(-127, 128, (2, 4, 128), "int8"), already_quantized=True),
    )

    def arguments(a):
        return ("weight",) if a.already_quantized else ("weight", "maxabs")

    def infer(a, weight, maxabs=None):
        weight.fill("weight", dtype=INT8 if a.already_quantized else _FLOAT)
        if maxabs is not None:
            range_specs(("maxabs", maxabs))
        _tiled(weight.shape, "weight")
        return Spec(weight.shape, INT8)

    def ref(a, xp, weight, maxabs=None):
        return weight if a.already_quantized else _numbers(xp, weight, maxabs)


@op("_contrib_intgemm_take_weight", aliases=("_npx_intgemm_take_weight",), inputs="weight indices")
class TakeWeight:
    """Take rows of a prepared weight; their number must be a multiple of 8.

    Shapes: weight (rows, inner), indices (n,) int32, out (n, inner). Indices beyond the weight are
    clipped.
    """

    dtypes = ("float32",)
    grad = stop
    samples = (
        sample(values(-127, 128, (16, 64), "int8"), values(0, 16, (8,), "int32")),
        sample(values(-127, 128, (8, 128), "int8"), values(-2, 10, (24,), "int32")),
    )

    def infer(a, weight, indices):
        weight.fill("weight", (-1, -1), INT8)
        indices.fill("indices", (-1,), INT32)
        _tiled(weight.shape, "weight")
        (count,) = indices.shape
        require(count % _ROWS == 0 or count == -1, f"indices: expected a multiple of {_ROWS}")
        return Spec((count, weight.shape[1]), INT8)

    def ref(a, xp, weight, indices):
        return weight[xp.clip(indices, 0, weight.shape[0] - 1)]


@op(
    "_contrib_intgemm_fully_connected",
    aliases=("_npx_intgemm_fully_connected",),
    inputs="data weight scaling? bias?",
)
class IntgemmFullyConnected:
    """Apply a dense layer with prepared int8 weight: ``scaling * (data . weight^T) + bias``.

    With ``out_type='int32'`` there is no `scaling`, and `bias` is int32. Float data is quantized to
    int8 by its largest magnitude, and the result scaled back.

    Shapes: data as for `FullyConnected`, weight (num_hidden, inner), scaling (1,), bias
    (num_hidden,).
    """

    num_hidden: Int
    no_bias: Bool = False
    flatten: Bool = True
    out_type: Enum("float32", "int32") = "float32"

    dtypes = ("float32",)
    grad = stop

    def arguments(a):
        scaling = () if a.out_type == "int32" else ("scaling",)
        return ("data", "weight", *scaling, *(() if a.no_bias else ("bias",)))

    def samples():
        data, weight = values(-127, 128, (3, 2, 64), "int8"), values(-127, 128, (8, 64), "int8")
        yield sample(data, weight, _LARGEST, (8,), num_hidden=8, flatten=False)
        yield sample(data, weight, num_hidden=8, flatten=False, out_type="int32", no_bias=True)
        bias = values(-99, 99, (8,), "int32")
        wide = values(-127, 128, (8, 128), "int8")
        yield sample(data, wide, bias, num_hidden=8, out_type="int32")
        yield sample((3, 64), weight, _LARGEST, num_hidden=8, no_bias=True)

    def infer(a, data, weight, *optional):
        by_name = dict(zip(IntgemmFullyConnected.arguments(a)[2:], optional, strict=True))
        kind = dtypes.code_of(a.out_type)
        require(
            data.dtype in (None, INT8) or (data.dtype == _FLOAT and kind == _FLOAT),
            "data: expected int8, or float32 with out_type='float32'",
        )
        weight.fill("weight", dtype=INT8)
        shadow = Spec(weight.shape)
        inferred = FullyConnected._infer(a, Spec(data.shape), shadow)
        weight.fill("weight", shadow.shape)
        _tiled(weight.shape, "weight")
        if "scaling" in by_name:
            range_specs(("scaling", by_name["scaling"]))
        if "bias" in by_name:
            by_name["bias"].fill("bias", (a.num_hidden,), kind)
        return Spec(inferred.shape, kind)

    def ref(a, xp, data, weight, *optional):
        by_name = dict(zip(IntgemmFullyConnected.arguments(a)[2:], optional, strict=True))
        factor = F32(1)
        if data.dtype.kind == "f":
            largest = xp.abs(data).max().astype(F32) if data.size else F32(0)
            data, factor = _numbers(xp, data, largest), largest / F32(127)
        sums = FullyConnected.ref(a, xp, data.astype("int64"), weight.astype("int64"), None)
        sums = sums.astype("int32")
        if a.out_type == "int32":
            return sums + by_name["bias"] if "bias" in by_name else sums
        out = sums.astype(F32) * (by_name["scaling"].astype(F32).reshape(-1)[0] * factor)
        return out + by_name["bias"].astype(F32) if "bias" in by_name else out
