"""The three maps of a convolution on blocked arrays, for training plans; weights are plain.

They correspond to Convolution, `_conv_data` and `_conv_weight` on plain arrays. `in_block` is the
block size of the convolution's data (see blocked.py), or 0; `out_block` is that of the output.
"""

import math

from mxcy import env
from mxcy.ops.convolution.conv import conv_shapes, data_ref, forward_ref, weight_ref
from mxcy.ops.convolution.windows import Filters, Window, resolve
from mxcy.ops.core.attrs import Bool, Int, Shape
from mxcy.ops.core.infer import Spec, require, whole_shape
from mxcy.ops.core.params import FUSED_CONV
from mxcy.ops.core.record import native, no_rule, op, sample
from mxcy.ops.fused.blocked import blocked, blocked_shape, plain
from mxcy.ops.fused.conv import conv_struct, plain_spec

__all__ = []

_KERNELS = "conv_train"


def _kernels(suffix, roles):
    """Return the Winograd and oneDNN kernels of a map.

    ``roles(a, ins, outs) -> (data, weight, output)``: the specs that play these parts of the
    convolution, as plain arrays.
    """

    def params(a, ins, outs):
        data, weight, out = roles(a, ins, outs)
        about = {"no_bias": bool(suffix) or a.no_bias, "act": "none", "tile": 0}
        about["with_sum"] = _adds(a)
        extended = _Extended(a, alpha=0.0, beta=0.0, **about)
        pad = resolve(a)[3]
        return conv_struct(extended, *data.shape[:2], data.shape[2:], out.shape[2:], pad)

    def work(a, ins, outs):
        # A vector of multiply-adds costs one elementwise step.
        _, weight, out = roles(a, ins, outs)
        positions = math.prod(out.shape[2:]) * out.shape[0]
        return positions * weight.size // 16 + max(spec.size for spec in (*ins, *outs))

    def not_for_winograd(a, ins, outs):
        data, weight, out = roles(a, ins, outs)
        if not env.get("MXNET_CUDNN_ALLOW_WINOGRAD"):
            return "MXNET_CUDNN_ALLOW_WINOGRAD=0"
        if max(weight.shape[2:]) > 3:
            return "the kernel is longer than 3"  # see conv_kernels.py
        # Transformed weights take up to 4 times the memory: with few windows, the memory traffic
        # costs more than the saved multiplications. Sums of gradients stay in the cache.
        least = 64 if suffix == "_weight" else 1024
        if data.shape[0] * math.prod(out.shape[2:]) < least:
            return "too few windows"
        return None

    def not_for_onednn(a, ins, outs):
        if suffix == "_weight" and env.get("MXNET_ENFORCE_DETERMINISM"):
            return "its sums depend on the number of threads"
        return None

    def inplace(a, ins, outs):
        return (2,) if _adds(a) else ()

    about = {"struct": FUSED_CONV, "params": params, "work": work, "asks": True}
    about["inplace"] = inplace
    winograd = native(f"{_KERNELS}_winograd{suffix}", when=not_for_winograd, **about)
    onednn = native(f"{_KERNELS}_onednn{suffix}", when=not_for_onednn, **about)
    if suffix != "_weight":
        return winograd, onednn
    return winograd, native(f"{_KERNELS}_pixels_weight", **about), onednn


def _adds(a):
    """Return whether a map is added to another array."""
    return getattr(a, "with_sum", False)


class _Extended:
    """Attributes extended by others."""

    def __init__(self, a, **others):
        self._a = a
        self.__dict__.update(others)

    def __getattr__(self, name):
        return getattr(self._a, name)


class _Blocks(Window, Filters):
    """Window, filters and block sizes of a convolution."""

    in_block: Int
    out_block: Int


def _blocks_of(spec, block):
    """Return the spec of a plain array after blocking, if `block` is set."""
    return Spec(blocked_shape(spec.shape, block) if block else spec.shape, spec.dtype)


def _read(xp, array, block):
    return plain(xp, array) if block else array


def _written(xp, array, block):
    return blocked(xp, array, block) if block else array


_SHARED = {"dtypes": ("float32",), "grad": False, "tol": 4}


def _forms():
    """Yield attributes and plain shapes (data, weight) of samples, for all CPUs' block sizes."""
    for block in (8, 16):
        attrs = {"in_block": block, "out_block": block, "kernel": (3, 3), "pad": (1, 1)}
        yield {**attrs, "num_filter": 2 * block}, (2, block, 24, 23), (2 * block, block, 3, 3)
        attrs["stride"] = (2, 2)
        yield {**attrs, "num_filter": block}, (1, 2 * block, 7, 6), (block, 2 * block, 3, 3)
        attrs = {"in_block": block, "out_block": block, "kernel": (1, 1), "num_filter": block}
        yield attrs, (2, block, 5, 3), (block, block, 1, 1)
        attrs = {"in_block": 0, "out_block": block, "kernel": (3, 3), "num_filter": block}
        yield attrs, (1, 3, 7, 9), (block, 3, 3, 3)


def _data_and_out(attrs, data, weight):
    """Return the blocked shapes of a convolution's data and output."""
    stride, pad = attrs.get("stride", (1, 1)), attrs.get("pad", (0, 0))
    axes = zip(data[2:], weight[2:], stride, pad, strict=True)
    out = (data[0], weight[0], *((x + 2 * p - k) // s + 1 for x, k, s, p in axes))
    if attrs["in_block"]:
        data = blocked_shape(data, attrs["in_block"])
    return data, blocked_shape(out, attrs["out_block"])


@op("_blocked_conv", inputs="data weight bias?")
class _BlockedConv(_Blocks):
    """`Convolution` with a blocked output."""

    no_bias: Bool = False

    grad = no_rule
    dtypes = ("float32", "bfloat16")
    kernels = _kernels(
        "",
        lambda a, ins, outs: (
            plain_spec(ins[0], a.in_block),
            ins[1],
            plain_spec(outs[0], a.out_block),
        ),
    )

    def samples():
        for attrs, data, weight in _forms():
            source, _ = _data_and_out(attrs, data, weight)
            yield sample(source, weight, (weight[0],), **attrs, **_SHARED)
            yield sample(source, weight, no_bias=True, **attrs, **_SHARED)

    def infer(a, data, weight, bias=None):
        shape, dtype = conv_shapes(a, plain_spec(data, a.in_block), weight)
        if bias is not None:
            bias.fill("bias", (a.num_filter,), dtype)
        return Spec(blocked_shape(shape, a.out_block, "output"), dtype)

    def ref(a, xp, data, weight, bias=None):
        out = forward_ref(a, xp, _read(xp, data, a.in_block), weight)
        out = out if bias is None else out + bias.reshape(-1, *[1] * len(a.kernel))
        return blocked(xp, out, a.out_block)


@op(
    "_blocked_conv_data",
    arguments=lambda a: ("grad", "weight", "other") if a.with_sum else ("grad", "weight"),
    inputs="grad weight other?",
)
class _BlockedConvData(_Blocks):
    """`_conv_data` of a blocked gradient, for blocked data of spatial extents `spatial`.

    If `with_sum`, it is added to another array.
    """

    spatial: Shape
    with_sum: Bool = False

    grad = no_rule
    dtypes = ("float32", "bfloat16")
    kernels = _kernels(
        "_data",
        lambda a, ins, outs: (
            plain_spec(outs[0], a.in_block),
            ins[1],
            plain_spec(ins[0], a.out_block),
        ),
    )

    def samples():
        for attrs, data, weight in _forms():
            if attrs["in_block"]:
                out = _data_and_out(attrs, data, weight)[1]
                yield sample(out, weight, **attrs, spatial=data[2:], **_SHARED)
                if "stride" not in attrs:
                    other = blocked_shape(data, attrs["in_block"])
                    about = {**attrs, "spatial": data[2:], "with_sum": True}
                    yield sample(out, weight, other, **about, **_SHARED)

    def infer(a, grad, weight, other=None):
        out = plain_spec(grad, a.out_block)
        if out.shape is None or weight.shape is None:
            return Spec(None, grad.dtype)
        ndim = len(a.kernel) + 2
        require(len(weight.shape) == ndim, f"weight: expected {ndim} axes, got {weight.shape}")
        channels = weight.shape[1] * a.num_group if weight.shape[1] != -1 else -1
        data = Spec((out.shape[0], channels, *whole_shape(a.spatial, "spatial")), grad.dtype)
        shape, _ = conv_shapes(a, data, weight)
        require(shape == out.shape, f"grad: expected {shape} in blocks, got {out.shape}")
        result = _blocks_of(data, a.in_block)
        if other is not None:
            other.fill("other", result.shape, result.dtype)
        return result

    def ref(a, xp, grad, weight, other=None):
        own = _written(xp, data_ref(a, xp, plain(xp, grad), weight, a.spatial), a.in_block)
        return own if other is None else own + other


@op("_blocked_conv_weight", inputs="data grad")
class _BlockedConvWeight(_Blocks):
    """`_conv_weight` of data and a blocked gradient."""

    grad = no_rule
    dtypes = ("float32", "bfloat16")
    kernels = _kernels(
        "_weight",
        lambda a, ins, outs: (
            plain_spec(ins[0], a.in_block),
            outs[0],
            plain_spec(ins[1], a.out_block),
        ),
    )

    def samples():
        for attrs, data, weight in _forms():
            source, out = _data_and_out(attrs, data, weight)
            yield sample(source, out, **attrs, **_SHARED)

    def infer(a, data, grad):
        source = plain_spec(data, a.in_block)
        weight = Spec(dtype=data.dtype)
        shape, dtype = conv_shapes(a, source, weight)
        grad.fill("grad", blocked_shape(shape, a.out_block, "grad"), dtype)
        return weight

    def ref(a, xp, data, grad):
        return weight_ref(a, xp, _read(xp, data, a.in_block), plain(xp, grad))
