"""Embedding: lookup of rows of a weight, and its gradient."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DType, Field, Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import TAKE
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.core.stypes import refuse, rule
from mxcy.ops.indexing.indexing import index_bytes, sum_dtype, take_grad_bytes, take_params
from mxcy.ops.reduce.float16_sum import narrow_first
from mxcy.ops.sparse.rules import embedded

__all__ = ["infer_embedding_grad"]


@op(
    "Embedding",
    aliases=("_npx_embedding", "_sparse_Embedding"),
    inputs="data weight",
    numpy=(
        "npx.embedding(data, weight, input_dim=None, output_dim=None, dtype='float32', "
        "sparse_grad=False, out=None, name=None)"
    ),
)
class Embedding:
    """Look up the row of a weight matrix for each index.

    Shapes: data (...), any element type; weight (input_dim, output_dim); out (..., output_dim).
    Indices out of bounds are clipped.
    """

    input_dim: Int
    output_dim: Int
    dtype: DType("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8") = (
        "float32"
    )
    sparse_grad: Bool = False

    quantized = Quantized("_contrib_quantized_embedding", ranged=("weight",))
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
            mixed=True,
        ),
    )

    def infer(a, data, weight):
        weight.fill("weight", data.shape and (a.input_dim, a.output_dim))
        if weight.dtype is None:
            weight.dtype = dtypes.code_of(a.dtype)
        shape = None if data.shape is None else (*data.shape, a.output_dim)
        return Spec(shape, weight.dtype)

    stypes = (
        rule("default row_sparse -> default", embedded),
        refuse("default csr", "weight: expected a dense or a row_sparse array, got a csr array"),
        refuse("csr default", "data: expected a dense array, got a csr array"),
        refuse("row_sparse default", "data: expected a dense array, got a row_sparse array"),
    )

    def sparse_gradient(a):
        return a.sparse_grad

    def grad(a, F, g, data):
        by_rows = F._embedding_sparse_grad if a.sparse_grad else F._embedding_grad
        return None, by_rows(g, data, input_dim=a.input_dim)

    def ref(a, xp, data, weight):
        return weight[xp.clip(data, 0, a.input_dim - 1).astype("int64")]


def _rows_grad(a, F, g, data):
    return None, F._embedding_sparse_grad(g, data, input_dim=a.input_dim)


register(
    "_contrib_SparseEmbedding",
    inputs="data weight",
    fields=(*Embedding.schema.fields[:3], Field("deterministic", Bool, False)),
    infer=Embedding._infer,
    grad=_rows_grad,
    ref=Embedding.ref,
    kernels=Embedding.kernels,
    stypes=Embedding.stypes,
    sparse_gradient=lambda a: True,
    samples=Embedding.samples,
    doc="""Look up rows of a weight matrix, with a row_sparse gradient.

    An older form of `Embedding`. Results are always deterministic: `deterministic` is ignored.
    """,
)


def infer_embedding_grad(a, grad, data):
    """Infer the Spec of the weight's gradient."""
    require(a.input_dim >= 0, f"input_dim: must not be negative, got {a.input_dim}")
    if data.shape is not None:
        grad.fill("grad", (*data.shape, -1))
    if grad.shape is None:
        return Spec(None, grad.dtype)
    require(grad.ndim > 0, "grad: expected at least one dimension, got a scalar")
    data.fill("data", grad.shape[:-1])
    return Spec((a.input_dim, grad.shape[-1]), grad.dtype)


@op("_embedding_grad", inputs="grad data")
class _EmbeddingGrad:
    """Gradient of Embedding with respect to its weight: rows of `grad` summed by index."""

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
            mixed=True,
        )
    )

    infer = infer_embedding_grad

    def grad(a, F, g, grad, data):
        return F.Embedding(data, g, input_dim=a.input_dim, output_dim=grad.shape[-1])

    def ref(a, xp, grad, data):
        out = xp.zeros((a.input_dim, grad.shape[-1]), sum_dtype(grad.dtype))
        rows = xp.clip(data, 0, a.input_dim - 1).astype("int64").reshape(-1)
        xp.add.at(out, rows, grad.reshape(-1, grad.shape[-1]))
        return out
