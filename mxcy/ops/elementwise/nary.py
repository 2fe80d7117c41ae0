"""Operators of any number of arrays, computed elementwise or by columns."""

from functools import reduce

from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import Spec, back_inputs, same_dtype
from mxcy.ops.core.record import by_onednn, native, op, sample
from mxcy.ops.core.stypes import densely, rule
from mxcy.ops.shape.concat import check_count
from mxcy.ops.sparse import compose

__all__ = []


def _names(ins):
    return [f"args{i}" for i in range(len(ins))]


def _infer_sum(a, ins):
    """Infer the common spec of all arrays."""
    check_count(a, ins, "args")
    names = _names(ins)
    dtype = same_dtype(ins, names)
    common = Spec()
    for spec, name in zip(ins, names, strict=True):
        common.fill(name, spec.shape)
    for spec in ins:
        spec.shape = common.shape
    return Spec(common.shape, dtype)


def _sum(xp, arrays):
    return reduce(xp.add, arrays) if len(arrays) > 1 else xp.array(arrays[0])


@op(
    "add_n",
    aliases=("ElementWiseSum", "_sparse_add_n", "_sparse_ElementWiseSum", "_npx_add_n"),
    inputs="",
    variadic="args",
    num_args="num_args",
    amp="widest",
)
class AddN:
    """Sum arrays of the same shape and dtype elementwise."""

    num_args: Int

    infer = _infer_sum
    infer_back = back_inputs

    def grad(a, F, g, specs):
        return (g,) * len(specs)

    def ref(a, xp, arrays):
        return _sum(xp, arrays)

    kernels = (native("add_n", inplace=True, pointwise="add"), by_onednn(native("add_n")))
    complexes = True
    stypes = (
        densely("default csr default"),
        rule("row_sparse... -> row_sparse", lambda a, F, *arrays: compose.summed_rows(F, arrays)),
    )
    samples = (
        sample((2, 3), (2, 3), dtypes=("float32", "float64", "float16", "bfloat16", "int32")),
        sample((2, 3), (2, 3), (2, 3), (2, 3), (2, 3)),
        sample((40, 50), (40, 50), (40, 50)),
        sample((2, 3)),
    )


@op("_kvstore_sum", inputs="", variadic="args", num_args="num_args")
class KVStoreSum:
    """Sum arrays of several devices, as add_n; `threads` 1 limits it to one thread."""

    num_args: Int
    threads: Int = 1

    infer = _infer_sum

    def grad(a, F, g, specs):
        return (g,) * len(specs)

    def ref(a, xp, arrays):
        return _sum(xp, arrays)

    kernels = (
        native(
            "add_n", inplace=True, work=lambda a, ins, outs: outs[0].size if a.threads > 1 else 0
        ),
    )
    samples = (
        sample((2, 3), (2, 3), threads=1, dtypes=("float32", "float64", "float16", "int32")),
        sample((2, 3), (2, 3), (2, 3), threads=4),
    )


@op("khatri_rao", inputs="", variadic="args", num_args="num_args", amp="fp32")
class KhatriRao:
    """Compute the Khatri-Rao (column-wise Kronecker) product of matrices.

    Shapes: args (n_i, columns), out (n_0 * n_1 * ..., columns).
    """

    num_args: Int

    def infer(a, ins):
        check_count(a, ins, "args")
        dtype = same_dtype(ins, _names(ins))
        rows, columns = 1, Spec((-1,))
        for spec, name in zip(ins, _names(ins), strict=True):
            spec.fill(name, (-1, -1))
            columns.fill(name, spec.shape[1:])
            rows = -1 if -1 in (rows, spec.shape[0]) else rows * spec.shape[0]
        return Spec((rows, *columns.shape), dtype)

    def ref(a, xp, arrays):
        def product(left, right):
            return (left[:, None, :] * right[None, :, :]).reshape(-1, left.shape[1])

        return reduce(product, arrays) if len(arrays) > 1 else xp.array(arrays[0])

    samples = (sample((2, 3), (4, 3)), sample((2, 2), (3, 2), (2, 2)), sample((2, 3)))
