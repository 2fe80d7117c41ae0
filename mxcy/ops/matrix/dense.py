"""FullyConnected: dense layers."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Int
from mxcy.ops.core.infer import Spec, back_batch, require, same_dtype
from mxcy.ops.core.layer import Layer
from mxcy.ops.core.params import FULLY_CONNECTED, FUSED_DENSE
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, op, sample

__all__ = []


def _not_few_rows(a, ins, outs):
    """Return why our own kernel is as fast as oneDNN's, or None.

    As measured, oneDNN is faster for few rows with large weights, and for many rows of 16-bit
    elements that the CPU multiplies natively.
    """
    rows = outs[0].size // a.num_hidden
    if ins[0].dtype in dtypes.HALVES:
        return None if rows >= 16 else "few rows do not pay for weights in another order"
    pays = 2 <= rows <= 4 and ins[1].size >= 1 << 16
    return None if pays else "not a few rows with large weights"


@op(
    "FullyConnected",
    aliases=("_npx_fully_connected", "_sparse_FullyConnected"),
    inputs="data weight bias?",
    amp="lp16",
)
class FullyConnected:
    """Apply an affine map (dense layer): ``out = data . weight^T + bias``.

    Shapes: data (batch, ...) is flattened to (batch, n), or with ``flatten=False`` stays (..., n);
    weight (num_hidden, n), bias (num_hidden,).
    """

    num_hidden: Int
    no_bias: Bool = False
    flatten: Bool = True

    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = (
        sample((3, 5), (4, 5), (4,), num_hidden=4),
        sample((2, 3, 2), (4, 6), (4,), num_hidden=4),
        sample((2, 3, 5), (4, 5), num_hidden=4, flatten=False, no_bias=True),
        sample((2, 3, 5), (4, 5), (4,), num_hidden=4, flatten=False),
        sample((17, 33), (21, 33), (21,), num_hidden=21),
        sample((1, 7), (3, 7), num_hidden=3, no_bias=True),
    )

    kernels = (
        native(
            "fc_onednn_plain",
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: {
                "rows": outs[0].size // a.num_hidden,
                "hidden": a.num_hidden,
                "depth": ins[1].shape[1],
                "bias": not a.no_bias,
                "sum": 0,
                "act": 0,
                "tile": 0,
                "alpha": 0,
                "beta": 0,
            },
            when=_not_few_rows,
            work=lambda a, ins, outs: outs[0].size * ins[1].shape[1] // 16 + ins[1].size // 4,
            asks=True,
            capped=True,
        ),
        native(
            "fully_connected",
            struct=FULLY_CONNECTED,
            params=lambda a, ins, outs: {
                "rows": outs[0].size // a.num_hidden,
                "hidden": a.num_hidden,
                "depth": ins[1].shape[1],
            },
            work=lambda a, ins, outs: outs[0].size * ins[1].shape[1] // 16 + ins[1].size // 4,
            capped=True,
        ),
    )

    quantized = Quantized(
        "_contrib_quantized_fully_connected",
        must=True,
        ranged=("data", "weight", "bias"),
        wide=True,
    )

    def infer(a, data, weight, bias=None):
        require(a.num_hidden > 0, f"num_hidden: must be positive, got {a.num_hidden}")
        dtype = same_dtype((data, weight), ("data", "weight"))
        if bias is not None:
            bias.fill("bias", data.shape and (a.num_hidden,), dtype)
        if data.shape is None:
            return Spec(None, dtype)
        require(data.ndim >= 1, "data: expected at least one dimension, got a scalar")
        inner = data.shape[1:] if a.flatten else data.shape[-1:]
        width = -1 if -1 in inner else Spec(inner).size
        weight.fill("weight", (a.num_hidden, width))
        lead = data.shape[:1] if a.flatten else data.shape[:-1]
        return Spec((*lead, a.num_hidden), dtype)

    layer = Layer(
        "_sg_onednn_fully_connected", ("num_hidden", "no_bias", "flatten"), "dense", bfloat16=True
    )

    infer_back = back_batch

    def grad(a, F, g, data, weight, needs):
        # Outside of graphs, a reshape is a copy.
        rows = g if len(g.shape) == 2 else F.Reshape(g, shape=(-1, a.num_hidden))
        flat = data if len(data.shape) == 2 else F.Reshape(data, shape=(-1, weight.shape[1]))
        by_data = by_weight = by_bias = None
        if needs[0]:
            by_data = F.dot(rows, weight)
            by_data = by_data if flat is data else F.reshape_like(by_data, data)
        if needs[1]:
            by_weight = F.dot(rows, flat, transpose_a=True)
        if len(needs) > 2 and needs[2]:
            by_bias = F.sum(rows, axis=0)
        return by_data, by_weight, by_bias

    def ref(a, xp, data, weight, bias=None):
        if a.flatten:
            data = data.reshape(data.shape[0], -1)
        out = data @ weight.T
        return out if bias is None else out + bias
