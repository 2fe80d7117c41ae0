"""Version 1 of convolution and pooling, used by old models."""

import math

from mxcy.ops.convolution.conv import CONV_SAMPLES, Convolution
from mxcy.ops.convolution.windows import padded, windows
from mxcy.ops.core.attrs import Bool, Enum, Field, Shape
from mxcy.ops.core.infer import Spec, infer_gradients, require
from mxcy.ops.core.record import no_rule, register, sample
from mxcy.ops.pooling.pool import resolve

__all__ = []

_LAYOUT = Field("layout", Enum(None, "NCDHW", "NCHW", "NDHWC", "NHWC"), None)

register(
    "Convolution_v1",
    doc="""Apply a convolution as older models do; see Convolution.""",
    inputs="data weight bias?",
    fields=[_LAYOUT if field.name == "layout" else field for field in Convolution.schema.fields],
    infer=lambda a, *specs: Convolution.infer(a, specs),
    infer_back=Convolution.infer_back,
    grad=lambda a, F, g, inputs, needs: Convolution.grad(a, F, g, inputs, (), needs, ()),
    ref=Convolution.ref,
    kernels=Convolution.kernels,
    samples=(
        sample((2, 3, 5, 6), (4, 3, 3, 3), (4,), kernel=(3, 3), num_filter=4),
        sample((2, 2, 5, 5), (4, 1, 3, 3), kernel=(3, 3), num_filter=4, num_group=2, no_bias=True),
        CONV_SAMPLES[-1],
    ),
    amp="fp32",
)


class _Windows:
    """Pooling windows over images: padding counts as zeros, positions beyond it are absent.

    Windows of the ``full`` convention may reach beyond the padding.
    """

    def __init__(self, a, xp, data):
        self.a, self.xp = a, xp
        self.kernel, self.stride, self.pad, self.extents = resolve(a, data.shape[2:])
        padded_data = padded(xp, data, self.pad)
        beyond = [
            max((n - 1) * s + k - x, 0)
            for n, s, k, x in zip(
                self.extents, self.stride, self.kernel, padded_data.shape[2:], strict=True
            )
        ]
        nothing = -xp.inf if a.pool_type == "max" else 0
        margins = [(0, 0), (0, 0), *((0, n) for n in beyond)]
        self.data = xp.pad(padded_data, margins, constant_values=nothing)
        self.divisor = math.prod(self.kernel) if a.pool_type == "avg" else 1

    def __iter__(self):
        for _, window in windows(self.kernel, self.stride, (1, 1), self.extents):
            yield (..., *window)

    def pooled(self):
        parts = [self.data[window] for window in self]
        if self.a.pool_type == "max":
            return self.xp.stack(parts).max(0)
        return self.xp.stack(parts).sum(0) / self.divisor

    def spread(self, grad, result, shape):
        """Return the gradient of the data; all equal maxima receive it."""
        gradient = self.xp.zeros_like(self.data)
        for window in self:
            hit = self.data[window] == result if self.a.pool_type == "max" else 1
            gradient[window] += hit * grad / self.divisor
        return gradient[(..., *(slice(p, p + n) for p, n in zip(self.pad, shape[2:], strict=True)))]


def _infer(a, data):
    data.fill("data", (-1, -1, -1, -1))
    require(a.global_pool or a.kernel, "kernel: required unless global_pool")
    return Spec((*data.shape[:2], *resolve(a, data.shape[2:])[3]), data.dtype)


_FIELDS = (
    Field("kernel", Shape, ()),
    Field("pool_type", Enum("avg", "max", "sum"), "max"),
    Field("global_pool", Bool, False),
    Field("pooling_convention", Enum("full", "valid"), "valid"),
    Field("stride", Shape, ()),
    Field("pad", Shape, ()),
)
_CASES = (
    ((2, 3, 5, 6), (2, 3, 2, 4), {"kernel": (2, 3), "stride": (2, 1)}),
    (
        (1, 2, 5, 5),
        (1, 2, 4, 4),
        {"kernel": (3, 3), "stride": (2, 2), "pad": (2, 2), "pooling_convention": "full"},
    ),
    (
        (1, 2, 5, 6),
        (1, 2, 3, 3),
        {"kernel": (2, 2), "stride": (2, 2), "pool_type": "avg", "pooling_convention": "full"},
    ),
    ((2, 2, 3, 4), (2, 2, 1, 1), {"global_pool": True, "pool_type": "sum"}),
)

register(
    "Pooling_v1",
    doc="""Pool images (batch, channels, height, width) as older models do.

Unlike in Pooling, the padding counts as zeros: for maxima too, and each average divides by the
whole kernel.""",
    fields=_FIELDS,
    infer=_infer,
    grad=lambda a, F, g, data, out: F._pooling_v1_grad(
        g, data, out, **{field.name: getattr(a, field.name) for field in _FIELDS}
    ),
    ref=lambda a, xp, data: _Windows(a, xp, data).pooled(),
    samples=[sample(shape, **attrs) for shape, _, attrs in _CASES],
)


def _infer_back(a, grads, data, result):
    by_data = infer_gradients(_infer, a, grads, data)
    result.fill("result", grads.shape, grads.dtype)
    return by_data


register(
    "_pooling_v1_grad",
    doc="""Gradient of Pooling_v1 from the output's gradient, the data and the output.""",
    inputs="grads data result",
    fields=_FIELDS,
    grad=no_rule,
    infer=_infer_back,
    ref=lambda a, xp, grads, data, result: _Windows(a, xp, data).spread(grads, result, data.shape),
    samples=[sample(out, shape, out, **attrs) for shape, out, attrs in _CASES],
)
