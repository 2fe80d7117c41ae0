"""Layer normalisation of bfloat16 arrays with float32 parameters."""

from mxcy.ops.core.attrs import Float, Int
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import op, sample, values
from mxcy.ops.fused.layer import parameters_of
from mxcy.ops.norm.sample import LayerNorm, layer_kernel

__all__ = []

_GAMMA, _BETA = values(0.5, 2, (4,), "float32"), values(-1, 1, (4,), "float32")


@op("_mixed_layer_norm", inputs="data gamma beta")
class MixedLayerNorm:
    """Apply `LayerNorm` to bfloat16 data with float32 gamma and beta; the result is bfloat16.

    It is computed in float32, as by `LayerNorm` between two casts.
    """

    axis: Int = -1
    eps: Float = 9.99999975e-06

    dtypes = ("bfloat16",)
    samples = (
        sample((2, 3, 4), _GAMMA, _BETA, grad=False, tol=4),
        sample((2, 4, 3), _GAMMA, _BETA, axis=1, eps=1e-3, grad=False, tol=4),
    )
    kernels = (layer_kernel("row_norm_mixed", 0, mixed=True),)

    def infer(a, data, gamma, beta):
        wide = parameters_of(data)
        out = LayerNorm._infer(a, wide, gamma, beta)[0]
        data.fill("data", wide.shape, data.dtype)
        return Spec(out.shape, data.dtype)

    def ref(a, xp, data, gamma, beta):
        return LayerNorm.ref(a, xp, data, gamma, beta)[0]
