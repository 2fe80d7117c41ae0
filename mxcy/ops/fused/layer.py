"""Common parts of fused layers, which graph passes create.

``out = act(layer(data, weight) + bias + other)``: a layer with its epilogue; layers that exist in
MXNet's oneDNN subgraphs have the same names. The attribute `algo` names the kernel to run; its
weights are then opaque bytes made by the matching `_pack_*` operator, so that such a call has no
reference: graphs are compared before weights are packed. Without `algo` the weights are plain.
Inference only: there are no gradients.
"""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.activation.definitions import sigmoid, softrelu
from mxcy.ops.core.attrs import Bool, Enum, Float, Int, Long, Str, UInt
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import native
from mxcy.ops.elementwise.unary import by_element

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "Algorithm",
    "Blocks",
    "Epilogue",
    "NUMBERS",
    "activate",
    "chosen",
    "extras",
    "fill_blob",
    "infer_packed",
    "names",
    "overwrites",
    "pack_ref",
    "packer",
    "parameters_of",
    "require_plain",
    "unfused",
]

_U8, _FLOAT = dtypes.code_of("uint8"), dtypes.code_of("float32")
_BFLOAT = dtypes.code_of("bfloat16")
_erf = by_element(math.erf)


def _gelu_tanh(xp, x):
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


#: Activations: name -> f(xp, x, alpha, beta). Kernels get the index into this dict.
ACTIVATIONS = {
    "none": lambda xp, x, alpha, beta: x,
    "relu": lambda xp, x, alpha, beta: xp.maximum(x, 0),
    "sigmoid": lambda xp, x, alpha, beta: sigmoid(xp, x),
    "tanh": lambda xp, x, alpha, beta: xp.tanh(x),
    "softrelu": lambda xp, x, alpha, beta: softrelu(xp, x),
    "leaky": lambda xp, x, alpha, beta: xp.where(x > 0, x, alpha * x),
    "elu": lambda xp, x, alpha, beta: xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0))),
    "gelu_erf": lambda xp, x, alpha, beta: x * 0.5 * (1 + _erf(xp, x * math.sqrt(0.5))),
    "gelu_tanh": lambda xp, x, alpha, beta: _gelu_tanh(xp, x),
    "clip": lambda xp, x, alpha, beta: xp.minimum(xp.maximum(x, alpha), beta),
    "abs": lambda xp, x, alpha, beta: xp.abs(x),
    "square": lambda xp, x, alpha, beta: x * x,
    "sqrt": lambda xp, x, alpha, beta: xp.sqrt(x),
    "exp": lambda xp, x, alpha, beta: xp.exp(x),
    "linear": lambda xp, x, alpha, beta: alpha * x + beta,
    "swish": lambda xp, x, alpha, beta: x * sigmoid(xp, x),
    "hard_swish": lambda xp, x, alpha, beta: x * xp.minimum(xp.maximum(alpha * x + beta, 0), 1),
}
#: activation name -> index
NUMBERS = {name: number for number, name in enumerate(ACTIVATIONS)}
Activation = Enum(*ACTIVATIONS)


class Epilogue:
    """Attributes of a layer's epilogue: activation, and sum with another array before it."""

    act: Activation = "none"
    alpha: Float = 0.0
    beta: Float = 0.0
    with_sum: Bool = False


class Blocks:
    """Attributes with the block sizes of a layer's arrays, and the number of channels."""

    in_block: Int = 0
    out_block: Int = 0
    channels: UInt = 0


class Algorithm:
    """Attributes that name the kernel of a layer, with the size of its packed weights."""

    algo: Str = ""
    tile: Int = 0
    packed: Long = 0


def activate(a, xp, x):
    """Apply the activation of attributes `a`, in the dtype of `x`."""
    return ACTIVATIONS[a.act](xp, x, a.alpha, a.beta).astype(x.dtype, copy=False)


def names(a):
    """Return the input names of a call."""
    return (
        "data",
        "weight",
        *(() if a.no_bias else ("bias",)),
        *(("other",) if a.with_sum else ()),
    )


def extras(a, optional):
    """Return (bias, other) from the optional inputs; None if absent."""
    by_name = dict(zip(names(a)[2:], optional, strict=True))
    return by_name.get("bias"), by_name.get("other")


def require_plain(a):
    """Raise for packed weights, which the reference cannot read."""
    if a.algo:
        raise MXNetError(
            f"weights packed for {a.algo} can only be read by that kernel; the reference needs "
            "algo=''"
        )


def fill_blob(a, weight):
    """Infer the shape and dtype of packed weights."""
    require(a.packed > 0, f"packed: expected the size of weights of {a.algo}, got {a.packed}")
    weight.fill("weight", (a.packed,), _U8)


def parameters_of(data):
    """Return the data's Spec with the parameters' dtype: float32 for bfloat16."""
    return Spec(data.shape, _FLOAT if data.dtype == _BFLOAT else data.dtype)


def overwrites(a, ins, outs):
    """Return whether the sum may be computed in the memory of `other`."""
    return (len(ins) - 1,) if a.with_sum else ()


def _refuses_algo(families):
    """Return a condition that refuses algorithms of other families."""

    def when(a, ins, outs):
        if not a.algo:
            return "the weights are plain"
        return None if a.algo.startswith(families) else f"{a.algo} is not one of {families}"

    return when


def chosen(*families, **parts):
    """Return the kernel named by attribute `algo`, whose name begins with one of `families`."""
    return native(
        lambda a, ins, outs: a.algo,
        when=_refuses_algo(families),
        inplace=overwrites,
        asks=True,
        capped=True,
        mixed=True,
        packs=True,
        **parts,
    )


def unfused(kernel):
    """Return the plain operator's kernel, for calls without fused operations."""

    def when(a, ins, outs):
        if a.algo:
            return "packed weights"
        if a.act != "none" or a.with_sum:
            return "a sum or an activation follows"
        if getattr(a, "before", "none") != "none":
            return "the data is scaled first"
        if getattr(a, "in_block", 0) or getattr(a, "out_block", 0):
            return "blocked data"
        return kernel.when(a, ins, outs) if kernel.when else None

    return native(
        kernel.name, kernel.struct, kernel.params, when, work=kernel.work, asks=kernel.asks
    )


def pack_ref(a, xp, weight):
    """Return the weight's bytes: packing without an algorithm."""
    require_plain(a)
    return xp.ascontiguousarray(weight.astype(np.float32)).reshape(-1).view(np.uint8)


def infer_packed(a, weight):
    """Infer the output of a packing operator."""
    weight.fill("weight", dtype=dtypes.code_of("float32"))
    require(
        a.algo or not weight.known or a.packed == 4 * weight.size,
        f"packed: plain weights of shape {weight.shape} do not have {a.packed} bytes",
    )
    return Spec((a.packed,), _U8)


def packer(*families, **parts):
    """Return the packing kernel for attribute `algo`; see `chosen`."""
    return native(
        lambda a, ins, outs: f"{a.algo}_pack",
        when=_refuses_algo(families),
        mixed=True,
        packs=True,
        **parts,
    )
