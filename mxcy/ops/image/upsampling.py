"""Image upsampling by integer factors."""

from mxcy.ops.convolution.conv import data_ref
from mxcy.ops.core.attrs import Enum, Field, Int, ULong
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require, require_plane, same_dtype
from mxcy.ops.core.params import UPSAMPLING
from mxcy.ops.core.record import find, native, op, register, sample
from mxcy.ops.norm.batch import require_float

__all__ = []


class _Bilinear:
    """Attributes of the convolution whose transpose upsamples each channel."""

    def __init__(self, a):
        extent = 2 * a.scale - a.scale % 2
        self.kernel, self.stride, self.dilate = (extent,) * 2, (a.scale,) * 2, (1, 1)
        self.pad = (a.scale // 2,) * 2
        self.num_filter = self.num_group = a.num_filter

    def attrs(self):
        return dict(vars(self))


def _enlarge(xp, image, factor):
    return image.repeat(factor, axis=2).repeat(factor, axis=3)


def _infer_shrink(a, data):
    require_float(data)
    data.fill("data", (-1, -1, -1, -1))
    require_plane(data)
    require(a.scale > 0, f"scale: must be positive, got {a.scale}")
    extents = data.shape[2:]
    for extent in extents:
        require(extent % a.scale == 0 or extent == -1, f"data: {extents} is not whole squares")
    return Spec((*data.shape[:2], *(n if n == -1 else n // a.scale for n in extents)), data.dtype)


def _shrink(a, xp, data):
    batch, channels, height, width = data.shape
    shape = (batch, channels, height // a.scale, a.scale, width // a.scale, a.scale)
    return data.reshape(shape).sum((3, 5))


register(
    "_shrink",
    doc="""Sum blocks of scale x scale pixels: the transpose of nearest-neighbour upsampling.

Shapes: data (batch, channels, height, width), out (batch, channels, height / scale, width / scale).
""",
    fields=(Field("scale", Int),),
    infer=_infer_shrink,
    grad=lambda a, F, g: F.UpSampling(g, scale=a.scale, sample_type="nearest", num_args=1),
    ref=_shrink,
    kernels=(native("shrink"),),
    samples=(
        sample((2, 2, 4, 6), scale=2),
        sample((1, 2, 3, 6), scale=3),
        sample((1, 1, 8, 4), scale=4),
    ),
)


def _factors(a, specs):
    """Return each image's scale factor: `scale` for the first, the others to the same extents."""
    return [a.scale * specs[0].shape[2] // spec.shape[2] for spec in specs]


def _infer_nearest(a, ins):
    dtype = same_dtype(ins, [f"data{i}" for i in range(len(ins))])
    if any(spec.shape is None for spec in ins):
        return Spec(None, dtype)
    for i, spec in enumerate(ins):
        require(spec.ndim == 4, f"data{i}: expected 4 dimensions, got {spec.shape}")
        require_plane(spec, f"data{i}")
        spec.fill(f"data{i}", (ins[0].shape[0], -1, -1, -1))
    batch, channels, *extents = ins[0].shape
    extents = [-1 if n == -1 else n * a.scale for n in extents]
    for i, spec in enumerate(ins[1:], 1):
        factors = set()
        for target, extent in zip(extents, spec.shape[2:], strict=True):
            if -1 not in (target, extent):
                fits = target % extent == 0
                require(fits, f"data{i}: size {extent} does not divide the output's, {target}")
                factors.add(target // extent)
        require(
            len(factors) < 2, f"data{i}: {spec.shape} is not a smaller image of shape {extents}"
        )
        if a.multi_input_mode == "sum":
            same = spec.shape[1] == channels or -1 in (spec.shape[1], channels)
            require(same, f"data{i}: expected {channels} channels to sum, got {spec.shape[1]}")
    if a.multi_input_mode == "concat":
        counts = [spec.shape[1] for spec in ins]
        channels = -1 if -1 in counts else sum(counts)
    return Spec((batch, channels, *extents), dtype)


def _infer_bilinear(a, ins):
    require(len(ins) == 2, f"data: bilinear enlarging takes an image and a weight, got {len(ins)}")
    data, weight = ins
    dtype = same_dtype(ins, ("data", "weight"))
    require(a.num_filter > 0, f"num_filter: must be positive, got {a.num_filter}")
    weight.fill("weight", (a.num_filter, 1, *_Bilinear(a).kernel))
    if data.shape is None:
        return Spec(None, dtype)
    require(data.ndim == 4, f"data: expected 4 dimensions, got {data.shape}")
    data.fill("data", (-1, a.num_filter, -1, -1))
    extents = [-1 if n == -1 else n * a.scale for n in data.shape[2:]]
    return Spec((*data.shape[:2], *extents), dtype)


def _bilinear_kernel(kernel):
    """Return a kernel of the transposed convolution, for bilinear upsampling."""

    def when(a, ins, outs):
        if a.sample_type != "bilinear":
            return "it only upsamples bilinearly"
        return kernel.when(_Bilinear(a), ins, outs) if kernel.when else None

    return native(
        kernel.name,
        struct=kernel.struct,
        params=lambda a, ins, outs: kernel.params(_Bilinear(a), ins, outs),
        when=when,
        work=lambda a, ins, outs: kernel.work(_Bilinear(a), ins, outs),
        asks=kernel.asks,
    )


def _input_names(a, n):
    """Return the input names in symbols."""
    return ("data", "weight") if a.sample_type == "bilinear" else [f"arg{i}" for i in range(n)]


@op(
    "UpSampling",
    inputs="",
    variadic="data",
    num_args="num_args",
    in_symbols=InSymbols(
        {"weight": '["bilinear", {}]', "arg1": '["bilinear", {}]'}, names=_input_names
    ),
)
class UpSampling:
    """Upsample images `scale` times.

    With `sample_type` 'nearest' each pixel is repeated to a square. Further images are upsampled to
    the first one's new extents, and concatenated with it along channels or summed
    (`multi_input_mode`). With 'bilinear' there is one image of `num_filter` channels and the weight
    (num_filter, 1, k, k) of a per-channel transposed convolution, k = 2 * scale - scale % 2, which
    interpolates if initialised with ``mx.init.Bilinear``. Images are (batch, channel, height,
    width). `workspace` is ignored on CPU.
    """

    scale: Int
    num_filter: Int = 0
    sample_type: Enum("bilinear", "nearest")
    multi_input_mode: Enum("concat", "sum") = "concat"
    num_args: Int
    workspace: ULong = 512

    samples = (
        sample((1, 2, 2, 3), scale=2, sample_type="nearest"),
        sample((1, 2, 4, 4), (1, 3, 2, 2), scale=2, sample_type="nearest"),
        sample((2, 3, 2, 4), (2, 3, 4, 8), scale=2, sample_type="nearest", multi_input_mode="sum"),
        sample((1, 2, 1, 2), (1, 1, 4, 8), (1, 2, 2, 4), scale=4, sample_type="nearest"),
        sample((2, 3, 3, 2), (3, 1, 4, 4), scale=2, sample_type="bilinear", num_filter=3, tol=4),
        sample((1, 2, 3, 3), (2, 1, 5, 5), scale=3, sample_type="bilinear", num_filter=2, tol=4),
        sample((1, 8, 3, 3), (8, 1, 4, 4), scale=2, sample_type="bilinear", num_filter=8, tol=4),
    )
    kernels = (
        native(
            "enlarge",
            struct=UPSAMPLING,
            params=lambda a, ins, outs: {"sum": a.multi_input_mode == "sum"},
            when=lambda a, ins, outs: (
                "it is nearest-neighbour upsampling" if a.sample_type == "bilinear" else None
            ),
        ),
        # all but Winograd's, which needs many channels per group
        *map(_bilinear_kernel, find("_conv_data").kernels[1:]),
    )

    def infer(a, ins):
        require(a.scale > 0, f"scale: must be positive, got {a.scale}")
        require(len(ins) == a.num_args, f"num_args: {a.num_args} differs from {len(ins)} inputs")
        require_float(ins[0])
        return (_infer_bilinear if a.sample_type == "bilinear" else _infer_nearest)(a, ins)

    def grad(a, F, g, inputs, specs):
        if a.sample_type == "bilinear":
            attrs = _Bilinear(a).attrs()
            data, weight = inputs
            by_data = F.Convolution(g, weight, no_bias=True, **attrs)
            return by_data, F._conv_weight(g, data, **attrs)
        gradients, begin = [], 0
        for factor, spec in zip(_factors(a, specs), specs, strict=True):
            part, end = g, begin + spec.shape[1]
            if a.multi_input_mode == "concat" and len(specs) > 1:
                part = F.slice_axis(g, axis=1, begin=begin, end=end)
            gradients.append(F._shrink(part, scale=factor))
            begin = end
        return gradients

    def ref(a, xp, arrays):
        if a.sample_type == "bilinear":
            data, weight = arrays
            return data_ref(_Bilinear(a), xp, data, weight, [n * a.scale for n in data.shape[2:]])
        factors = _factors(a, arrays)
        images = [_enlarge(xp, x, f) for x, f in zip(arrays, factors, strict=True)]
        return sum(images) if a.multi_input_mode == "sum" else xp.concatenate(images, 1)
