"""Pooling over one, two or three spatial dimensions, and its gradient."""

import itertools
import math

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, BoolOrNone, Enum, IntOrNone, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import MOST_STEP, Spec, infer_gradients, most, require
from mxcy.ops.core.params import POOL
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import by_onednn, native, op, sample

__all__ = ["PoolingFields", "params", "resolve"]


def resolve(a, spatial):
    """Return (kernel, stride, pad, output extents) of pooling attributes for input extents.

    With ``pooling_convention='full'`` extents are rounded up, so that the last window may exceed
    the padding; ``'same'`` divides the extents by the stride, rounding up, for 1-D max pooling.
    """
    n = len(spatial)
    require(1 <= n <= 3, f"data: expected 1 to 3 spatial dimensions, got {n}")
    if a.global_pool:
        return tuple(spatial), (1,) * n, (0,) * n, (1,) * n
    require(len(a.kernel) == n, f"kernel: expected {n} values for the data, got {a.kernel}")
    require(min(a.kernel) > 0, f"kernel: values must be positive, got {a.kernel}")
    stride, pad = a.stride or (1,) * n, a.pad or (0,) * n
    require(
        len(stride) == n and min(stride) > 0, f"stride: expected {n} positive values, got {stride}"
    )
    most(max(stride), MOST_STEP, "stride")
    require(len(pad) == n, f"pad: expected {n} values, got {pad}")
    out = []
    for x, k, s, p in zip(spatial, a.kernel, stride, pad, strict=True):
        require(0 <= p < k, f"pad: {p} must be smaller than kernel {k}")
        if x == -1:
            out.append(-1)
        elif a.pooling_convention == "same":
            require(n == 1, "pooling_convention: 'same' supports 1-D data only")
            out.append(-(-x // s))
        else:
            require(k <= x + 2 * p, f"kernel: size {k} exceeds the padded input {x + 2 * p}")
            span = x + 2 * p - k  # from the first window to the last possible one
            out.append(1 + (-(-span // s) if a.pooling_convention == "full" else span // s))
    return a.kernel, stride, pad, tuple(out)


def channels_last(a, ndim):
    """Return whether channels are last; raise unless the layout fits the data."""
    require(3 <= ndim <= 5, f"data: expected (batch, channel, spatial...), got {ndim} dimensions")
    if a.layout is None:
        return False
    require(len(a.layout) == ndim, f"layout: {a.layout} does not fit data of {ndim} dimensions")
    return a.layout.endswith("C")


def _channels_first(a, xp, array):
    return xp.moveaxis(array, -1, 1) if channels_last(a, array.ndim) else array


def _as_given(a, xp, array):
    return xp.moveaxis(array, 1, -1) if channels_last(a, array.ndim) else array


def params(a, data):
    """Return the kernels' parameters: three spatial dimensions, missing ones of size 1."""
    last = channels_last(a, data.ndim)
    spatial = data.shape[1:-1] if last else data.shape[2:]
    kernel, stride, pad, out = resolve(a, spatial)
    # Windows end with the padding, so larger kernels are equivalent.
    kernel = [min(k, max(x + 2 * p, 1)) for k, x, p in zip(kernel, spatial, pad, strict=True)]
    ones = (1,) * (3 - len(spatial))
    kind = ("max", "avg", "sum").index(a.pool_type) if a.pool_type != "lp" else a.p_value + 1
    return {
        "kind": kind,
        "count_pad": a.count_include_pad is not False,
        "outer": data.shape[0] if last else data.shape[0] * data.shape[1],
        "inner": data.shape[-1] if last else 1,
        "source": ones + tuple(spatial),
        "target": ones + tuple(out),
        "kernel": ones + tuple(kernel),
        "stride": ones + tuple(stride),
        "pad": (0,) * len(ones) + tuple(pad),
    }


def _work(a, data, pooled):
    """Return the cost of a kernel in elementwise steps."""
    spatial = data.shape[1:-1] if channels_last(a, data.ndim) else data.shape[2:]
    return data.size + pooled.size * math.prod(resolve(a, spatial)[0]) // 4


def _window(position, extents, kernel, stride, pad):
    """Return (begin, end) of a window's valid part per axis, and its size including padding."""
    bounds, count = [], 1
    for o, x, k, s, p in zip(position, extents, kernel, stride, pad, strict=True):
        begin = o * s - p
        end = min(begin + k, x + p)
        count *= max(end - begin, 0)
        bounds.append((max(begin, 0), max(min(end, x), max(begin, 0))))
    return bounds, count


def _each_window(a, extents):
    """Yield the window slices and the divisor of an average for each output position."""
    kernel, stride, pad, out = resolve(a, extents)
    for position in itertools.product(*map(range, out)):
        bounds, padded_count = _window(position, extents, kernel, stride, pad)
        inside = 1
        for begin, end in bounds:
            inside *= end - begin
        divisor = inside if a.count_include_pad is False else padded_count
        slices = (slice(None), slice(None), *(slice(b, e) for b, e in bounds))
        yield (slice(None), slice(None), *position), slices, divisor, inside


class PoolingFields:
    """Attributes of pooling, its gradient and its 8-bit form."""

    kernel: Shape = ()
    pool_type: Enum("avg", "lp", "max", "sum") = "max"
    global_pool: Bool = False
    cudnn_off: Bool = False
    pooling_convention: Enum("full", "same", "valid") = "valid"
    stride: Shape = ()
    pad: Shape = ()
    p_value: IntOrNone = None
    count_include_pad: BoolOrNone = None
    layout: Enum(None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC") = None


_SAMPLES = (
    sample((2, 3, 5, 6), kernel=(2, 3), stride=(2, 1)),
    sample((2, 3, 5, 6), kernel=(2, 2), stride=(2, 2), pad=(1, 0), pool_type="avg"),
    sample((2, 3, 5, 5), kernel=(2, 2), stride=(2, 2), pooling_convention="full"),
    sample(
        (2, 3, 5, 5),
        kernel=(3, 3),
        stride=(2, 2),
        pad=(1, 1),
        pooling_convention="full",
        pool_type="avg",
        count_include_pad=False,
    ),
    sample(
        (2, 3, 6, 6),
        kernel=(3, 3),
        stride=(3, 3),
        pad=(2, 2),
        pooling_convention="full",
        pool_type="avg",
    ),
    sample((2, 3, 4, 5), global_pool=True, pool_type="avg"),
    sample((2, 3, 4, 5), global_pool=True),
    sample((2, 3, 4, 4), kernel=(2, 2), pool_type="sum"),
    sample((2, 3, 7), kernel=(3,), stride=(2,), pad=(1,), pool_type="avg"),
    sample((2, 3, 7), kernel=(3,), stride=(2,), pooling_convention="same"),
    sample((1, 2, 4, 3, 4), kernel=(2, 2, 2), stride=(2, 1, 1)),
    sample((2, 5, 6, 3), kernel=(2, 3), stride=(2, 2), pad=(1, 1), layout="NHWC"),
    sample((2, 5, 3), kernel=(2,), pad=(1,), layout="NWC", pool_type="avg"),
    sample((1, 18, 18, 2), global_pool=True, layout="NHWC", pool_type="avg"),
    # several vectors of windows
    sample((1, 2, 5, 45), kernel=(3, 3), stride=(2, 2), pad=(1, 1)),
    sample((1, 2, 3, 37), kernel=(2, 3), pad=(0, 1), pool_type="avg"),
    sample((1, 2, 3, 45), kernel=(2, 4), stride=(1, 3), pad=(0, 1)),
)
_SHARED = (
    "pool_type",
    "global_pool",
    "pooling_convention",
    "stride",
    "pad",
    "p_value",
    "count_include_pad",
    "layout",
)


def _listed(a):
    """Return the outputs counted in files, including the workspace of MXNet's oneDNN pooling."""
    last = a.layout is not None and a.layout.endswith("C")
    return 2 if a.pool_type == "max" and 1 <= len(a.kernel) <= 3 and not last else 1


_POOL = native(
    "pool",
    struct=POOL,
    params=lambda a, ins, outs: params(a, ins[0]),
    work=lambda a, ins, outs: _work(a, ins[0], outs[0]),
    capped=True,
)
_POOL_GRAD = native(
    "pool_grad",
    struct=POOL,
    params=lambda a, ins, outs: params(a, ins[1]),
    work=lambda a, ins, outs: _work(a, ins[1], ins[0]),
)


@op(
    "Pooling",
    aliases=("_npx_pooling",),
    numpy=(
        "npx.pooling(data=None, kernel=None, stride=None, pad=None, pool_type='max', "
        "pooling_convention='valid', global_pool=False, cudnn_off=False, p_value=None, "
        "count_include_pad=None, layout=None, out=None, name=None)"
    ),
    inputs="data",
    in_symbols=InSymbols(named=True, named_input=True, listed=_listed),
    amp="either/either",
)
class Pooling(PoolingFields):
    """Apply max, average, sum or p-norm pooling over the spatial dimensions.

    Shapes: data (batch, channel, spatial...), with one to three spatial dimensions. Averages
    include the padding unless `count_include_pad` is false. ``pool_type='lp'`` is the p-th root of
    the sum of p-th powers, sign kept, for `p_value` 1, 2 or 3. With a `layout` that ends in C,
    channels are last.
    """

    dtypes = ("float32", "float64", "float16")

    kernels = (by_onednn(_POOL), _POOL)
    quantized = Quantized(
        "_contrib_quantized_pooling",
        refusal=lambda a: None if a.pool_type in ("max", "avg") else f"pool_type={a.pool_type!r}",
    )

    def batched(a, ins):
        return (0,)

    def samples():
        yield from _SAMPLES
        yield sample((2, 3, 5, 4), kernel=(3, 2), pad=(1, 1), pool_type="lp", p_value=1)
        yield sample((2, 3, 4, 4), kernel=(2, 2), pool_type="lp", p_value=2)
        yield sample((2, 3, 4), kernel=(2,), pool_type="lp", p_value=3)

    def infer(a, data):
        if a.pool_type == "lp":
            require(
                a.p_value in (1, 2, 3), f"p_value: pool_type 'lp' needs 1, 2 or 3, got {a.p_value}"
            )
        if data.shape is None:
            return Spec(None, data.dtype)
        if channels_last(a, data.ndim):
            spatial = resolve(a, data.shape[1:-1])[3]
            return Spec((data.shape[0], *spatial, data.shape[-1]), data.dtype)
        return Spec((*data.shape[:2], *resolve(a, data.shape[2:])[3]), data.dtype)

    def grad(a, F, g, data, out):
        shared = {name: getattr(a, name) for name in _SHARED}
        return F._pooling_grad(g, data, out, kernel=a.kernel, **shared)

    def ref(a, xp, data):
        data = _channels_first(a, xp, data)
        out = xp.zeros((*data.shape[:2], *resolve(a, data.shape[2:])[3]), data.dtype)
        axes = tuple(range(2, data.ndim))
        for position, window, divisor, inside in _each_window(a, data.shape[2:]):
            part = data[window]
            if inside == 0:
                out[position] = xp.finfo(data.dtype).min if a.pool_type == "max" else 0
            elif a.pool_type == "max":
                out[position] = part.max(axes)
            elif a.pool_type == "lp":
                powers = (part**a.p_value).sum(axes)
                out[position] = xp.sign(powers) * xp.abs(powers) ** (1 / a.p_value)
            else:
                out[position] = part.sum(axes) / (divisor if a.pool_type == "avg" else 1)
        return _as_given(a, xp, out)


@op("_pooling_grad", inputs="grad data result")
class _PoolingGrad(PoolingFields):
    """Gradient of Pooling with respect to its data; the first of equal maxima receives it."""

    domain = (0.5, 1.5)
    kernels = (by_onednn(_POOL_GRAD), _POOL_GRAD)

    def samples():
        for forward_sample in _SAMPLES:
            shape, layout = forward_sample.inputs[0], forward_sample.attrs.get("layout", "NC")
            spatial = shape[1:-1] if layout.endswith("C") and layout != "NC" else shape[2:]
            out = resolve(_SampleAttrs(forward_sample.attrs), spatial)[3]
            out = (shape[0], *out, shape[-1]) if spatial == shape[1:-1] else (*shape[:2], *out)
            yield sample(out, shape, out, **forward_sample.attrs)
        for p in (2, 3):
            yield sample((2, 3, 3), (2, 3, 4), (2, 3, 3), kernel=(2,), pool_type="lp", p_value=p)

    def grad(a, F, g):
        if a.pool_type not in ("avg", "sum"):
            text = f"with pool_type={a.pool_type!r} it has no gradient"
            raise MXNetError(f"Error in operator _pooling_grad: {text}")
        shared = {name: getattr(a, name) for name in _SHARED}
        return F.Pooling(g, kernel=a.kernel, **shared)

    def infer(a, grad, data, result):
        by_data = infer_gradients(Pooling._infer, a, grad, data, name="grad")
        result.fill("result", grad.shape, grad.dtype)
        return by_data

    def ref(a, xp, grad, data, result):
        grad, data, result = (_channels_first(a, xp, array) for array in (grad, data, result))
        gradient = xp.zeros_like(data)
        for position, window, divisor, inside in _each_window(a, data.shape[2:]):
            if inside == 0:
                continue
            part = data[window]
            shape = (*part.shape[:2], *[1] * (part.ndim - 2))
            g = grad[position].reshape(shape)
            if a.pool_type == "max":
                flat = part.reshape(*part.shape[:2], -1)
                first = xp.arange(flat.shape[2]) == flat.argmax(2)[..., None]
                gradient[window] += first.reshape(part.shape) * g
            elif a.pool_type == "lp":
                norm = result[position].reshape(shape)
                ratio = xp.where(norm == 0, 0, part / xp.where(norm == 0, 1, norm))
                gradient[window] += g * ratio ** (a.p_value - 1)
            else:
                gradient[window] += g / (divisor if a.pool_type == "avg" else 1)
        return _as_given(a, xp, gradient)


class _SampleAttrs:
    """Pooling attributes of a sample, with defaults."""

    kernel = stride = pad = ()
    pooling_convention, layout, global_pool = "valid", None, False

    def __init__(self, attributes):
        self.__dict__.update(attributes)
