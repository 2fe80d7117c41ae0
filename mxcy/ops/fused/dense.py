"""Dense layer fused with what follows it, and packing of its weights."""

import math

from mxcy.ops.core.attrs import Bool, Field, Int
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import FUSED_DENSE
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.fused.layer import (
    ACTIVATIONS,
    NUMBERS,
    Algorithm,
    Epilogue,
    activate,
    chosen,
    extras,
    fill_blob,
    infer_packed,
    names,
    overwrites,
    pack_ref,
    packer,
    parameters_of,
    require_plain,
    unfused,
)
from mxcy.ops.matrix.dense import FullyConnected

__all__ = []


def _dense_struct(a, rows, depth):
    return {
        "rows": rows,
        "hidden": a.num_hidden,
        "depth": depth,
        "bias": not a.no_bias,
        "sum": a.with_sum,
        "act": NUMBERS[a.act],
        "tile": a.tile,
        "alpha": a.alpha,
        "beta": a.beta,
    }


def _depth(a, data):
    """Return the row length of the data; -1 if unknown."""
    if data.shape is None:
        return -1
    inner = data.shape[1:] if a.flatten else data.shape[-1:]
    return -1 if -1 in inner else math.prod(inner)


@op(
    "_sg_onednn_fully_connected",
    aliases=("_sg_mkldnn_fully_connected",),
    inputs="data weight bias? other?",
    amp="fp32",
)
class FusedFullyConnected(Epilogue, Algorithm):
    """Apply a dense layer fused with bias, sum with another array, and activation.

    Shapes are those of `FullyConnected`; `other`, if `with_sum`, is like the output, and with
    `algo` the weight is the `packed` bytes that `_pack_fc_weight` made. For `act`, `alpha` and
    `beta` see `_sg_onednn_conv`. With bfloat16 data, weight and bias are float32; with `wide` the
    result is float32 as well.
    """

    num_hidden: Int
    no_bias: Bool = False
    flatten: Bool = True
    wide: Bool = False

    arguments = names

    def samples():
        yield sample((2, 3, 2), (4, 6), (4,), num_hidden=4)
        yield sample((2, 6), (4, 6), (2, 4), num_hidden=4, no_bias=True, with_sum=True)
        yield sample(
            (2, 3, 5),
            (4, 5),
            (4,),
            (2, 3, 4),
            num_hidden=4,
            flatten=False,
            with_sum=True,
            act="relu",
        )
        yield sample((2, 512), (128, 512), num_hidden=128, no_bias=True, tol=4)
        for act in ACTIVATIONS:
            bias = values(3, 5, (4,)) if act == "sqrt" else (4,)
            numbers = {"alpha": -0.25, "beta": 0.5} if act == "clip" else {"alpha": 0.25}
            yield sample((3, 2), (4, 2), bias, num_hidden=4, act=act, **numbers)

    def infer(a, data, weight, *optional):
        bias, other = extras(a, optional)
        shadow = parameters_of(Spec(dtype=data.dtype)) if a.algo else weight
        float32_data = parameters_of(data)
        inferred = FullyConnected._infer(a, float32_data, shadow)
        data.fill("data", float32_data.shape, data.dtype or float32_data.dtype)
        if a.algo:
            fill_blob(a, weight)
        if bias is not None:
            bias.fill("bias", (a.num_hidden,), inferred.dtype)
        if other is not None:
            other.fill("other", inferred.shape, data.dtype)
        return Spec(inferred.shape, inferred.dtype if a.wide else data.dtype)

    def ref(a, xp, data, weight, *optional):
        require_plain(a)
        bias, other = extras(a, optional)
        out = FullyConnected.ref(a, xp, data, weight, bias)
        return activate(a, xp, out if other is None else out + other)

    kernels = (
        chosen(
            "fc_",
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(
                a, outs[0].size // a.num_hidden, _depth(a, ins[0])
            ),
            work=lambda a, ins, outs: (
                (outs[0].size // 16 + a.num_hidden // 4) * _depth(a, ins[0]) + ins[0].size
            ),
        ),
        *map(unfused, FullyConnected.kernels),
        native(
            "fc_onednn_plain",
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(
                a, outs[0].size // a.num_hidden, ins[1].shape[1]
            ),
            when=lambda a, ins, outs: "packed weights" if a.algo else None,
            work=lambda a, ins, outs: outs[0].size * ins[1].shape[1] // 16 + ins[1].size // 4,
            inplace=overwrites,
            asks=True,
        ),
    )


def _infer_pack_dense(a, weight):
    weight.fill("weight", (a.num_hidden, -1))
    return infer_packed(a, weight)


register(
    "_pack_fc_weight",
    doc="""Pack weights of `_sg_onednn_fully_connected` in the layout of kernel `algo`, as bytes.

The other attributes describe the layer that uses them; its data has `batch` rows.""",
    inputs="weight",
    fields=(*FusedFullyConnected.schema.fields, Field("batch", Int, 1)),
    infer=_infer_pack_dense,
    ref=pack_ref,
    kernels=(
        packer(
            "fc_",
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(a, a.batch, ins[0].shape[1]),
        ),
    ),
    dtypes=("float32",),
    samples=(sample((4, 6), num_hidden=4, packed=96),),
)
