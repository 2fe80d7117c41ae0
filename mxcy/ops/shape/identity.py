"""Identity operators: copy, BlockGrad, make_loss."""

from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data
from mxcy.ops.core.record import register, sample, stop
from mxcy.ops.core.stypes import densely
from mxcy.ops.shape.reshape import MOVE
from mxcy.ops.sparse.rules import KEPT, first_cast, first_kept


def _identity(name, doc, aliases=(), grad=None, outputs="output", honest=True, amp=None):
    return register(
        name,
        aliases=aliases,
        outputs=outputs,
        in_symbols=InSymbols(named=True),
        infer=lambda a, data: Spec(data.shape, data.dtype),
        infer_back=back_data,
        grad=grad,
        ref=lambda a, xp, data: xp.array(data),
        kernels=MOVE,
        forwards=lambda a: True,
        identity=True,
        complexes=True,
        samples=(
            sample((3, 4), grad=honest),
            sample((2, 0)),
            sample((2, 3), dtypes=("float16", "bfloat16", "int8", "bool")),
        ),
        doc=doc,
        stypes=KEPT,
        amp=amp,
    )


_identity("_copy", "Return a copy of an array.", ("identity",), grad=lambda a, F, g: g)


_identity(
    "BlockGrad",
    "Return the input unchanged, but stop gradients.",
    ("stop_gradient", "_sparse_stop_gradient", "_npx_stop_gradient"),
    grad=stop,
    honest=False,
)


_identity(
    "make_loss",
    "Return the input unchanged as a loss: its gradient is 1, ignoring the head gradient.",
    ("_sparse_make_loss",),
    grad=lambda a, F, g: F.ones_like(g),
    outputs="loss",
    honest=False,
    amp="fp32",
)


def _like_rhs(a, lhs, rhs):
    lhs.fill("lhs", rhs.shape, rhs.dtype)
    rhs.fill("rhs", lhs.shape, lhs.dtype)
    return Spec(lhs.shape, lhs.dtype)


register(
    "_identity_with_attr_like_rhs",
    inputs="lhs rhs",
    infer=_like_rhs,
    grad=lambda a, F, g: g,
    ref=lambda a, xp, lhs, rhs: xp.array(lhs),
    kernels=MOVE,
    identity=True,
    ignores=("rhs",),
    stypes=(
        first_kept("csr csr -> csr"),
        first_kept("row_sparse row_sparse -> row_sparse"),
        first_cast("default csr -> csr"),
        first_cast("row_sparse csr -> csr"),
        first_cast("default row_sparse -> row_sparse"),
        first_cast("csr row_sparse -> row_sparse"),
        densely("csr default", "row_sparse default"),
    ),
    complexes=True,
    samples=(sample((3, 4), (3, 4)),),
    doc="Return `lhs` unchanged, with shape and dtype inferred from `rhs`.",
)
