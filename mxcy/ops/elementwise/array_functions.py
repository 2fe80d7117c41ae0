"""Operators of the first releases, for arrays only."""

from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, values

__all__ = []


@op("_onehot_encode", inputs="lhs rhs", ignores=("rhs",))
class OnehotEncode:
    """Return a matrix like `rhs` whose rows are one-hot encodings of the indices in `lhs`."""

    samples = (sample(values(0, 4, (3,), "int32"), (3, 4), grad=False),)

    def infer(a, lhs, rhs):
        require(rhs.shape is None or rhs.ndim == 2, f"rhs: expected 2 dimensions, got {rhs}")
        if rhs.shape is not None:
            lhs.fill("lhs", rhs.shape[:1])
        return Spec(rhs.shape, rhs.dtype)

    def ref(a, xp, lhs, rhs):
        return (xp.arange(rhs.shape[1]) == lhs.astype("int64")[:, None]).astype(rhs.dtype)


@op("fill_element_0index", inputs="lhs mhs rhs")
class FillElement:
    """Return the matrix `lhs` with element ``rhs[i]`` of each row i replaced by ``mhs[i]``."""

    samples = (sample((3, 4), (3,), values(0, 4, (3,), "int32"), grad=False),)

    def infer(a, lhs, mhs, rhs):
        require(lhs.shape is None or lhs.ndim == 2, f"lhs: expected 2 dimensions, got {lhs}")
        mhs.fill("mhs", dtype=lhs.dtype)
        if lhs.shape is not None:
            mhs.fill("mhs", lhs.shape[:1])
            rhs.fill("rhs", lhs.shape[:1])
        return Spec(lhs.shape, lhs.dtype)

    def ref(a, xp, lhs, mhs, rhs):
        out = lhs.copy()
        out[xp.arange(len(lhs)), rhs.astype("int64")] = mhs
        return out
