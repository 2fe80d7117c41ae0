"""Layers that are neither convolution, pooling nor normalisation."""

from mxcy import dtypes
from mxcy.ops.attrs import Bool, BoolOrNone, DType, Enum, Float, Int, Shape
from mxcy.ops.in_symbols import InSymbols
from mxcy.ops.indexing import index_bytes, sum_dtype, take_grad_bytes, take_params
from mxcy.ops.infer import Spec, back_batch, back_data, normal_axes, require, same_dtype
from mxcy.ops.narrow import narrow_first
from mxcy.ops.params import DROPOUT, FULLY_CONNECTED, FUSED_DENSE, TAKE
from mxcy.ops.random import generator
from mxcy.ops.record import by_onednn, native, op, register, sample, values

__all__ = []


def _not_few_rows(a, ins, outs):
    """Why the own kernel is as fast, as measured: oneDNN gains on a few rows and large weights, and
    on many rows of numbers of 16 bits that the CPU multiplies.
    """
    rows = outs[0].size // a.num_hidden
    if ins[0].dtype in dtypes.HALVES:
        return None if rows >= 16 else "few rows do not pay for weights in another order"
    few = 2 <= rows <= 4 and ins[1].size >= 1 << 16
    return None if few else "not a few rows with large weights"


@op(
    "FullyConnected",
    aliases=("_npx_fully_connected", "_sparse_FullyConnected"),
    inputs="data weight bias?",
)
class FullyConnected:
    """Affine map of the last axis: ``out = data . weight^T + bias``.

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

    def infer(a, data, weight, bias=None):
        require(a.num_hidden > 0, f"num_hidden: must be positive, got {a.num_hidden}")
        dtype = same_dtype((data, weight), ("data", "weight"))
        if bias is not None:
            bias.fill("bias", (a.num_hidden,), dtype)
        if data.shape is None:
            weight.fill("weight", (a.num_hidden, -1))
            return Spec(None, dtype)
        require(data.ndim >= 1, "data: expected at least one dimension, got a scalar")
        inner = data.shape[1:] if a.flatten else data.shape[-1:]
        width = -1 if -1 in inner else Spec(inner).size
        weight.fill("weight", (a.num_hidden, width))
        lead = data.shape[:1] if a.flatten else data.shape[:-1]
        return Spec((*lead, a.num_hidden), dtype)

    infer_back = back_batch

    def grad(a, F, g, data, weight, needs):
        rows = F.Reshape(g, shape=(-1, a.num_hidden))
        by_data = by_weight = by_bias = None
        if needs[0]:
            by_data = F.reshape_like(F.dot(rows, weight), data)
        if needs[1]:
            flat = F.Reshape(data, shape=(-1, weight.shape[1]))
            by_weight = F.dot(rows, flat, transpose_a=True)
        if len(needs) > 2 and needs[2]:
            by_bias = F.sum(rows, axis=0)
        return by_data, by_weight, by_bias

    def ref(a, xp, data, weight, bias=None):
        if a.flatten:
            data = data.reshape(data.shape[0], -1)
        out = data @ weight.T
        return out if bias is None else out + bias


def _softrelu(xp, x):
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


_ACTIVATIONS = {
    "relu": lambda xp, x: xp.maximum(x, 0),
    "sigmoid": lambda xp, x: 1 / (1 + xp.exp(-x)),
    "softrelu": _softrelu,
    "softsign": lambda xp, x: x / (1 + xp.abs(x)),
    "tanh": lambda xp, x: xp.tanh(x),
}
_KERNELS = {name: "softplus" if name == "softrelu" else name for name in _ACTIVATIONS}


_ACTIVATION = native(lambda a, ins, outs: _KERNELS[a.act_type], inplace=True, pointwise=True)
_ACTIVATION_GRAD = native(
    lambda a, ins, outs: f"{_KERNELS[a.act_type]}_grad", inplace=True, pointwise=True
)


@op("Activation", aliases=("_npx_activation",), inputs="data")
class Activation:
    """Apply an activation function to every element.

    relu max(x, 0); sigmoid 1 / (1 + exp(-x)); softrelu log(1 + exp(x)); softsign x / (1 + abs(x));
    tanh.
    """

    act_type: Enum("relu", "sigmoid", "softrelu", "softsign", "tanh")

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (-3.0, 3.0)
    kernels = (_ACTIVATION, by_onednn(_ACTIVATION))

    def samples():
        for act_type in _ACTIVATIONS:
            yield sample((3, 4, 5), act_type=act_type)

    def infer(a, data):
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def epilogue(a):
        return None if a.act_type == "softsign" else (a.act_type, 0.0, 0.0)

    def grad(a, F, g, data, out):
        saved = data if a.act_type == "softsign" else out
        return F._activation_grad(g, saved, act_type=a.act_type)

    def ref(a, xp, data):
        return _ACTIVATIONS[a.act_type](xp, data)


# The derivative by what is saved: softsign's input, the others' output.
_SLOPES = {
    "relu": lambda xp, y: (y > 0).astype(y.dtype),
    "sigmoid": lambda xp, y: y * (1 - y),
    "softrelu": lambda xp, y: -xp.expm1(-y),
    "softsign": lambda xp, x: 1 / (1 + xp.abs(x)) ** 2,
    "tanh": lambda xp, y: 1 - y * y,
}
_CURVATURES = {
    "relu": lambda F, y: F.zeros_like(y),
    "sigmoid": lambda F, y: 1 - 2 * y,
    "softrelu": lambda F, y: F.exp(-y),
    "softsign": lambda F, x: -2 * F.sign(x) / (1 + F.abs(x)) ** 3.0,
    "tanh": lambda F, y: -2 * y,
}


@op("_activation_grad", inputs="grad saved")
class _ActivationGrad:
    """The gradient of Activation: the head gradient times the slope at what was saved."""

    act_type: Enum("relu", "sigmoid", "softrelu", "softsign", "tanh")

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (0.1, 0.9)
    kernels = (_ACTIVATION_GRAD, by_onednn(_ACTIVATION_GRAD))

    def samples():
        for act_type in _ACTIVATIONS:
            yield sample((3, 4, 5), (3, 4, 5), act_type=act_type)

    def infer(a, grad, saved):
        dtype = same_dtype((grad, saved), ("grad", "saved"))
        return Spec(saved.shape if saved.shape is not None else grad.shape, dtype)

    def grad(a, F, g, grad, saved):
        by_grad = F._activation_grad(g, saved, act_type=a.act_type)
        return by_grad, g * grad * _CURVATURES[a.act_type](F, saved)

    def ref(a, xp, grad, saved):
        return grad * _SLOPES[a.act_type](xp, saved)


def _drops(a):
    """Whether Dropout drops anything."""
    return (a.train or a.mode == "always") and a.p > 0


def _mask_shape(a, shape):
    """The shape of Dropout's mask: extents along `axes` are shared and therefore 1."""
    if not _drops(a):
        return (0,)
    axes = normal_axes(a.axes, len(shape), "axes") if a.axes else ()
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


@op(
    "Dropout",
    aliases=("_npx_dropout",),
    inputs="data",
    outputs="output mask",
    visible=1,
    in_symbols=InSymbols(named=True),
    uses_mode=True,
    uses_rng=True,
)
class Dropout:
    """Zero each element with probability p and scale the others by 1 / (1 - p), in training mode.

    Elements along `axes` share one draw. Outside training mode (unless ``mode='always'``) the data
    passes unchanged. The hidden second output is the mask, already scaled; empty when nothing is
    dropped.
    """

    p: Float = 0.5
    mode: Enum("always", "training") = "training"
    axes: Shape = ()
    cudnn_off: BoolOrNone = False

    samples = (
        sample((4, 5), p=0.4, train=True),
        sample((4, 5), p=0.4),
        sample((3, 4, 5), p=0.3, axes=(1,), mode="always"),
    )

    def forwards(a):
        return not _drops(a)

    def infer(a, data):
        require(0 <= a.p < 1, f"p: must be in [0, 1), got {a.p}")
        if data.shape is None:
            return Spec(None, data.dtype), Spec(None, data.dtype)
        return Spec(data.shape, data.dtype), Spec(_mask_shape(a, data.shape), data.dtype)

    infer_back = back_data

    def grad(a, F, g, mask):
        return F.broadcast_mul(g[0], mask) if _drops(a) else g[0]

    def ref(a, xp, data):
        shape = _mask_shape(a, data.shape)
        if not _drops(a):
            return data, xp.zeros(shape, data.dtype)
        mask = ((generator(xp).random(shape) < 1 - a.p) / (1 - a.p)).astype(data.dtype)
        return data * mask, mask

    kernels = (
        native(
            "dropout",
            struct=DROPOUT,
            params=lambda a, ins, outs: {"p": a.p if _drops(a) else 0},
            inplace=True,
            work=lambda a, ins, outs: 4 * ins[0].size,
        ),
    )


@op("Embedding", aliases=("_npx_embedding", "_sparse_Embedding"), inputs="data weight")
class Embedding:
    """Replace each integer by its row of the weight.

    Shapes: data (...), any element type; weight (input_dim, output_dim); out (..., output_dim).
    Indices beyond the weight are clipped to its first or last row.
    """

    input_dim: Int
    output_dim: Int
    dtype: DType("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8") = (
        "float32"
    )
    sparse_grad: Bool = False

    samples = (
        sample(
            values(0, 6, (2, 3), "int32"), (6, 4), input_dim=6, output_dim=4, dtypes=("float32",)
        ),
        sample(
            values(0, 6, (5,), "int64"),
            (6, 3),
            input_dim=6,
            output_dim=3,
            dtype="float64",
            dtypes=("float64",),
        ),
    )

    kernels = (
        native(
            "take",
            struct=TAKE,
            params=lambda a, ins, outs: take_params(ins[1].shape, 0, "clip", data=1, index=0),
            workspace=index_bytes(0),
            select=lambda ins, outs: ins[1].dtype,
        ),
    )

    def infer(a, data, weight):
        weight.fill("weight", (a.input_dim, a.output_dim))
        if weight.dtype is None:
            weight.dtype = dtypes.code_of(a.dtype)
        shape = None if data.shape is None else (*data.shape, a.output_dim)
        return Spec(shape, weight.dtype)

    def grad(a, F, g, data):
        return None, F._embedding_grad(g, data, input_dim=a.input_dim)

    def ref(a, xp, data, weight):
        return weight[xp.clip(data, 0, a.input_dim - 1).astype("int64")]


register(
    "_contrib_SparseEmbedding",
    inputs="data weight",
    fields=Embedding.schema.fields,
    infer=Embedding._infer,
    grad=Embedding._grad,
    ref=Embedding.ref,
    kernels=Embedding.kernels,
    samples=Embedding.samples,
    doc="Replace each integer by its row of the weight: the older name of `Embedding`.",
)


@op("_embedding_grad", inputs="grad data")
class _EmbeddingGrad:
    """The gradient of Embedding with respect to its weight: rows of `grad` summed by index."""

    input_dim: Int

    samples = (
        sample(
            (2, 3, 4),
            values(0, 6, (2, 3), "int32"),
            input_dim=6,
            dtypes=("float32", "float64", "float16", "bfloat16"),
        ),
        sample((5, 3), values(0, 6, (5,), "int64"), input_dim=6),
    )

    kernels = narrow_first(
        native(
            "take_grad",
            struct=TAKE,
            params=lambda a, ins, outs: take_params(outs[0].shape, 0, "clip"),
            workspace=take_grad_bytes,
        )
    )

    def infer(a, grad, data):
        shape = None if grad.shape is None else (a.input_dim, grad.shape[-1])
        return Spec(shape, grad.dtype)

    def grad(a, F, g, grad, data):
        return F.Embedding(data, g, input_dim=a.input_dim, output_dim=grad.shape[-1])

    def ref(a, xp, grad, data):
        out = xp.zeros((a.input_dim, grad.shape[-1]), sum_dtype(grad.dtype))
        rows = xp.clip(data, 0, a.input_dim - 1).astype("int64").reshape(-1)
        xp.add.at(out, rows, grad.reshape(-1, grad.shape[-1]))
        return out
