"""Count sketch: random projection of vectors by signs and buckets."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, values

__all__ = []


def _signs(shape):
    return lambda rng: (rng.integers(0, 2, shape) * 2 - 1).astype("float32")


@op("_contrib_count_sketch", inputs="data h s", amp="fp32")
class CountSketch:
    """Compute the count sketch: add ``s[j] * data[..., j]`` to ``out[..., h[j]]``.

    The last axis of the result has extent `out_dim`; `h` and `s` have shape (1, d) for data (...,
    d). `processing_batch_size` is ignored.
    """

    out_dim: Int
    processing_batch_size: Int = 32

    samples = (
        sample((3, 6), values(0, 4, (1, 6), "int32"), _signs((1, 6)), out_dim=4),
        sample((2, 1, 3, 5), values(0, 3, (1, 5), "int32"), _signs((1, 5)), out_dim=3),
    )

    def infer(a, data, h, s):
        require(a.out_dim > 0, f"out_dim: expected a positive number, got {a.out_dim}")
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.ndim > 0, "data: expected at least one dimension, got a scalar")
        for spec, name in ((h, "h"), (s, "s")):
            if spec.shape is None or len(spec.shape) != 1:
                spec.fill(name, (1, data.shape[-1]))
            else:
                spec.fill(name, data.shape[-1:])
        return Spec((*data.shape[:-1], a.out_dim), data.dtype)

    def grad(a, F, g, h, s, specs):
        data = specs[0]
        signs = F.Cast(s, dtype=dtypes.name_of(data.dtype))
        signs = F.Reshape(signs, shape=(*(1,) * (len(data.shape) - 1), -1))
        return F.take(g, F.Reshape(h, shape=(-1,)), axis=-1) * signs, None, None

    def ref(a, xp, data, h, s):
        rows = (data * s.reshape(-1)).reshape(-1, data.shape[-1])
        out = xp.zeros((rows.shape[0], a.out_dim), data.dtype)
        xp.add.at(out.T, h.reshape(-1).astype("int64"), rows.T)
        return out.reshape(*data.shape[:-1], a.out_dim)
