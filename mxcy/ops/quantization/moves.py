"""Quantized operators that keep the range: reshaping, ReLU, pooling, embedding."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DType, Enum, Int, ShapeOrNone
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import POOL
from mxcy.ops.core.record import native, op, register, sample, stop, values
from mxcy.ops.indexing.embedding import Embedding
from mxcy.ops.pooling.pool import Pooling, PoolingFields
from mxcy.ops.pooling.pool import params as pool_params
from mxcy.ops.quantization.ranges import F32, INT8, eight_bits, kept_range, pair, range_specs
from mxcy.ops.shape.permute import Transpose
from mxcy.ops.shape.reshape import Flatten, Reshape

__all__ = ["RANGE", "mover"]

#: samples of a range
RANGE = (
    lambda rng: rng.uniform(-2, -1, 1).astype(F32),
    lambda rng: rng.uniform(0.5, 1, 1).astype(F32),
)
_INPUTS, _OUTPUTS = "data min_data max_data", "output min_output max_output"


def _numbers(*shape, dtype="int8"):
    return values(*((-128, 128) if dtype == "int8" else (0, 256)), shape, dtype)


def _kept(xp, low, high):
    """Return the data's range as that of the result."""
    return tuple(xp.asarray(x, F32).reshape(1) for x in (low, high))


def mover(name, plain, doc, samples, **parts):
    """Register the 8-bit counterpart of an operator that only moves elements.

    Parameters
    ----------
    name : str
    plain : Op
        A record of one input.
    doc : str
    samples : sequence of (shape, dict)
        Data shapes and attributes.
    **parts
        Further parts of the record.
    """

    def infer(a, data, min_data, max_data):
        range_specs(("min_data", min_data), ("max_data", max_data))
        return plain._infer(a, data), *pair()

    def ref(a, xp, data, min_data, max_data):
        return plain.ref(a, xp, data), *_kept(xp, min_data, max_data)

    tried = [
        sample(_numbers(*shape, dtype=kind), *RANGE, **attrs)
        for (shape, attrs), kind in zip(samples, ("int8", "uint8") * len(samples), strict=False)
    ]
    return register(
        name,
        inputs=_INPUTS,
        outputs=_OUTPUTS,
        fields=plain.schema.fields,
        infer=infer,
        ref=ref,
        grad=stop,
        samples=tried,
        dtypes=("float32",),
        out_range=kept_range,
        moves_like=plain,
        doc=doc,
        **parts,
    )


mover(
    "_contrib_quantized_flatten",
    Flatten,
    "Flatten all dimensions of quantized data but the first; the range is unchanged.",
    (((2, 3, 4), {}), ((5,), {})),
    aliases=("_npx_quantized_flatten",),
)
mover(
    "_contrib_quantized_reshape",
    Reshape,
    "Reshape quantized data, as Reshape does; the range is unchanged.",
    (((2, 3, 4), {"shape": (0, -1)}), ((2, 3, 4), {"shape": (-3, 4)})),
    aliases=("quantized_reshape",),
)
mover(
    "_contrib_quantized_transpose",
    Transpose,
    "Transpose quantized data, as transpose does; the range is unchanged.",
    (((2, 3, 4), {"axes": (1, 2, 0)}), ((2, 3), {})),
    aliases=("quantized_transpose",),
)


@op(
    "_contrib_quantized_act",
    out_range=kept_range,
    aliases=("_npx_quantized_act",),
    inputs=_INPUTS,
    outputs=_OUTPUTS,
)
class QuantizedAct:
    """Apply ReLU to quantized data; the range is unchanged.

    `act_type` must be ``'relu'``. Shapes: data any (int8 or uint8), its minimum and maximum (1,).
    Returns the data, its minimum and its maximum.
    """

    act_type: Enum(
        "relu", "sigmoid", "softrelu", "softsign", "tanh", beyond=("log_sigmoid", "mish")
    )

    dtypes = ("float32",)
    grad = stop
    samples = (
        sample(_numbers(3, 70), *RANGE, act_type="relu"),
        sample(_numbers(3, 5, dtype="uint8"), *RANGE, act_type="relu"),
    )

    kernels = (native("quantized_relu", mixed=True, inplace=lambda a, ins, outs: (0,)),)

    def infer(a, data, min_data, max_data):
        require(a.act_type == "relu", f"act_type: only 'relu' is supported, got {a.act_type!r}")
        eight_bits("data", data)
        range_specs(("min_data", min_data), ("max_data", max_data))
        return Spec(data.shape, data.dtype), *pair()

    def ref(a, xp, data, min_data, max_data):
        return xp.maximum(data, data.dtype.type(0)), *_kept(xp, min_data, max_data)


def _many_in_window(a, ins, outs):
    taps = math.prod(pool_params(a, ins[0])["kernel"])
    return "sums need more than 32 bits" if taps >= 1 << 23 else None


@op(
    "_contrib_quantized_pooling",
    out_range=kept_range,
    aliases=("_npx_quantized_pooling",),
    inputs=_INPUTS,
    outputs=_OUTPUTS,
)
class QuantizedPooling(PoolingFields):
    """Apply max or average pooling to quantized data; the range is unchanged.

    Attributes and shapes are those of `Pooling`; `pool_type` is ``'max'`` or ``'avg'``; averages
    are rounded half to even. `output_size` is not supported.
    """

    output_size: ShapeOrNone = None

    dtypes = ("float32",)
    grad = stop

    def samples():
        shape = (2, 3, 5, 6)
        for number, kind in enumerate(("max", "avg")):
            data = _numbers(*shape, dtype=("int8", "uint8")[number])
            yield sample(data, *RANGE, kernel=(2, 3), stride=(2, 1), pool_type=kind)
            yield sample(data, *RANGE, kernel=(3, 3), pad=(1, 1), pool_type=kind)
            yield sample(data, *RANGE, global_pool=True, pool_type=kind)
            yield sample(
                _numbers(*shape),
                *RANGE,
                kernel=(2, 2),
                stride=(2, 2),
                pad=(1, 1),
                pooling_convention="full",
                count_include_pad=False,
                pool_type=kind,
            )
            yield sample(_numbers(2, 5, 6, 3), *RANGE, kernel=(2, 3), layout="NHWC", pool_type=kind)
        for kind in ("int8", "uint8"):  # sums of 16 bits, and of 32
            shared = {"pool_type": "avg", "layout": "NHWC"}
            data = _numbers(1, 12, 12, 70, dtype=kind)
            yield sample(data, *RANGE, kernel=(3, 3), pad=(1, 1), **shared)
            yield sample(data, *RANGE, global_pool=True, **shared)

    kernels = (
        native(
            "quantized_pool",
            struct=POOL,
            params=lambda a, ins, outs: pool_params(a, ins[0]),
            work=lambda a, ins, outs: (
                outs[0].size * math.prod(pool_params(a, ins[0])["kernel"]) // 16 + outs[0].size // 4
            ),
            when=_many_in_window,
            mixed=True,
        ),
    )

    def infer(a, data, min_data, max_data):
        require(
            a.pool_type in ("max", "avg"),
            f"pool_type: only 'max' and 'avg' are supported, got {a.pool_type!r}",
        )
        require(a.output_size is None, "output_size: not supported")
        eight_bits("data", data)
        range_specs(("min_data", min_data), ("max_data", max_data))
        return Pooling._infer(a, data), *pair()

    def ref(a, xp, data, min_data, max_data):
        bounds = np.iinfo(data.dtype)
        pooled = xp.rint(Pooling.ref(a, xp, data.astype("float64")))
        pooled = xp.clip(pooled, bounds.min, bounds.max).astype(data.dtype)
        return pooled, *_kept(xp, min_data, max_data)


@op(
    "_contrib_quantized_embedding",
    aliases=("_npx_quantized_embedding",),
    inputs="data weight min_weight max_weight",
    outputs=_OUTPUTS,
)
class QuantizedEmbedding:
    """Look up rows of an int8 weight; the result has the weight's range.

    Shapes: data (...), any element type; weight (input_dim, output_dim), its minimum and maximum
    (1,); out (..., output_dim). Indices out of bounds are clipped.
    """

    input_dim: Int
    output_dim: Int
    dtype: DType("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8") = (
        "float32"
    )
    sparse_grad: Bool = False

    dtypes = ("float32",)
    grad = stop
    samples = (
        sample(values(-1, 7, (2, 3), "int32"), _numbers(6, 70), *RANGE, input_dim=6, output_dim=70),
        sample(values(0, 6, (5,), "float32"), _numbers(6, 3), *RANGE, input_dim=6, output_dim=3),
    )

    def infer(a, data, weight, min_weight, max_weight):
        weight.fill("weight", dtype=INT8)
        range_specs(("min_weight", min_weight), ("max_weight", max_weight))
        if data.dtype is None:
            data.dtype = dtypes.code_of("float32")
        return Embedding._infer(a, data, weight), *pair()

    def ref(a, xp, data, weight, min_weight, max_weight):
        return Embedding.ref(a, xp, data, weight), *_kept(xp, min_weight, max_weight)
