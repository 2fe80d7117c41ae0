"""Reshape to a shape given as an array."""

from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample

__all__ = []


@op("_contrib_dynamic_reshape", inputs="data shape")
class DynamicReshape:
    """Reshape `data` to the extents in array `shape`, with the codes of Reshape.

    The output shape depends on values, so the operator waits for them.
    """

    def infer(a, data, shape):
        require(shape.shape is None or shape.ndim == 1, f"shape: expected a vector, got {shape}")
        rank = -1 if shape.shape is None else shape.shape[0]
        return Spec(None if rank == -1 else (-1,) * rank, data.dtype)

    def eager(a, F, array, data, shape):
        return F.Reshape(data, shape=tuple(int(extent) for extent in shape.asnumpy()))

    def ref(a, xp, data, shape):
        return data.reshape(tuple(int(extent) for extent in shape))

    samples = (sample((4, 3), lambda rng: rng.permutation([2, 6])),)
