"""Deformable convolutions: sampling positions are shifted by learned offsets.

Definitions: Dai et al. (2017), Deformable Convolutional Networks; Zhu et al. (2018), Deformable
ConvNets v2. For each output position and kernel tap, offsets shift the tap's sampling position down
and to the right.

The first version reads zeros outside the image and repeats the last row and column up to the edge;
the second interpolates with zeros around the image, and weights the samples by a mask.
"""

import math

from mxcy.ops.convolution.windows import reach, resolve
from mxcy.ops.core.attrs import Bool, Enum, Field, Int, Shape, UInt, ULong
from mxcy.ops.core.infer import Spec, infer_gradients, require, require_plane, same_dtype
from mxcy.ops.core.params import DEFORMABLE
from mxcy.ops.core.record import native, no_rule, register, sample, values
from mxcy.ops.image.bilinear import Points
from mxcy.ops.norm.batch import require_float

__all__ = []

_Layout = Enum(None, "NCDHW", "NCHW", "NCW")


# --- sampling --------------------------------------------------------------------------


class _Taps(Points):
    """Samples of an image at all taps and output positions, (taps, places).

    Parameters
    ----------
    offset : array (2 * taps, rows, columns)
        Offsets down and to the right, alternating.
    """

    def __init__(self, a, xp, offset, extents):
        kernel, stride, dilate, pad = resolve(a)
        rows, columns = offset.shape[1:]
        moves = offset.reshape(math.prod(kernel), 2, rows, columns)
        taps = xp.indices(kernel).reshape(2, -1)
        y, x = xp.indices((rows, columns))
        y = (y * stride[0] - pad[0]) + (taps[0] * dilate[0])[:, None, None] + moves[:, 0]
        x = (x * stride[1] - pad[1]) + (taps[1] * dilate[1])[:, None, None] + moves[:, 1]
        y, x = (places.reshape(len(moves), -1).astype(offset.dtype) for places in (y, x))
        height, width = extents
        self.counts = self.by_row = self.by_column = 1
        if not a.modulated:
            self.counts = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            self.by_row, self.by_column = y < height - 1, x < width - 1
            y, x = xp.minimum(y, height - 1), xp.minimum(x, width - 1)
        super().__init__(xp, y, x, extents)

    def values(self, planes):
        return super().values(planes) * self.counts

    def slopes(self, planes):
        by_row, by_column = super().slopes(planes)
        return by_row * self.counts * self.by_row, by_column * self.counts * self.by_column

    def add_to(self, planes, grads):
        super().add_to(planes, grads * self.counts)


def _each_group(a, xp, data, offset, mask):
    """Yield (image's channels of a deformable group, taps, mask or None, slices of all)."""
    groups = a.num_deformable_group
    channels, moves = data.shape[1] // groups, offset.shape[1] // groups
    for image in range(len(data)):
        for group in range(groups):
            at = image, slice(group * channels, (group + 1) * channels)
            moved = image, slice(group * moves, (group + 1) * moves)
            masked = image, slice(group * moves // 2, (group + 1) * moves // 2)
            taps = _Taps(a, xp, offset[moved], data.shape[2:])
            weights = None if mask is None else mask[masked].reshape(moves // 2, -1)
            yield data[at].reshape(channels, -1), taps, weights, (at, moved, masked)


def _columns(a, xp, data, offset, mask):
    """Return the samples of all taps: (batch, channels, taps, places)."""
    taps, places = math.prod(a.kernel), math.prod(offset.shape[2:])
    out = xp.empty((*data.shape[:2], taps, places), data.dtype)
    for planes, points, weights, (at, _, _) in _each_group(a, xp, data, offset, mask):
        read = points.values(planes)
        out[at] = read if weights is None else read * weights
    return out


def _by_group(xp, columns, groups):
    """Return columns as matrices (batch, groups, channels per group * taps, places)."""
    return columns.reshape(len(columns), groups, -1, columns.shape[-1])


def _split(a, arrays):
    """Return (offset, mask or None, weight, others)."""
    offset, *others = arrays
    mask = others.pop(0) if a.modulated else None
    return offset, mask, *others


def _forward(a, xp, data, *arrays):
    offset, mask, weight, *bias = _split(a, arrays)
    columns = _by_group(xp, _columns(a, xp, data, offset, mask), a.num_group)
    filters = weight.reshape(a.num_group, -1, columns.shape[2])
    out = xp.matmul(filters, columns).reshape(len(data), -1, *offset.shape[2:])
    return out + bias[0].reshape(-1, 1, 1) if bias else out


def _backward(a, xp, grads, data, *arrays):
    offset, mask, weight = _split(a, arrays)
    columns = _by_group(xp, _columns(a, xp, data, offset, mask), a.num_group)
    filters = weight.reshape(a.num_group, -1, columns.shape[2])
    g = grads.reshape(len(grads), a.num_group, -1, columns.shape[3])
    by_weight = xp.matmul(g, columns.swapaxes(2, 3)).sum(0).reshape(weight.shape)
    by_columns = xp.matmul(filters.swapaxes(1, 2), g)
    by_columns = by_columns.reshape(*data.shape[:2], -1, columns.shape[3])
    by_data, by_offset = xp.zeros_like(data), xp.empty_like(offset)
    by_mask = None if mask is None else xp.empty_like(mask)
    for planes, points, weights, (at, moved, masked) in _each_group(a, xp, data, offset, mask):
        part = by_columns[at]
        if mask is not None:
            by_mask[masked] = (part * points.values(planes)).sum(0).reshape(by_mask[masked].shape)
            part = part * weights
        points.add_to(by_data[at].reshape(planes.shape), part)
        slopes = [(part * slope).sum(0) for slope in points.slopes(planes)]
        by_offset[moved] = xp.stack(slopes, 1).reshape(by_offset[moved].shape)
    moves = (by_offset,) if mask is None else (by_offset, by_mask)
    return by_data, *moves, by_weight


# --- shapes ----------------------------------------------------------------------------------


def _spatial(a, extents):
    kernel, stride, dilate, pad = resolve(a)
    gradients = []
    for n, r, s, p in zip(extents, reach(kernel, dilate), stride, pad, strict=True):
        require(n == -1 or r <= n + 2 * p, f"kernel: size {r} exceeds the padded input {n + 2 * p}")
        gradients.append(-1 if n == -1 else (n + 2 * p - r) // s + 1)
    return gradients


def _infer(a, data, *specs):
    require(len(a.kernel) == 2, f"kernel: expected two numbers, got {a.kernel}")
    for name in ("num_filter", "num_group", "num_deformable_group"):
        require(getattr(a, name) > 0, f"{name}: expected a positive number")
    names = ("offset", "mask", "weight", "bias") if a.modulated else ("offset", "weight", "bias")
    dtype = same_dtype((data, *specs), ("data", *names[: len(specs)]))
    require_float(data, "data")
    data.fill("data", (-1, -1, -1, -1))
    require_plane(data)
    channels, taps = data.shape[1], math.prod(a.kernel)
    for count, name, groups in (
        (channels, "data", a.num_group),
        (channels, "data", a.num_deformable_group),
        (a.num_filter, "num_filter", a.num_group),
    ):
        require(
            count == -1 or count % groups == 0,
            f"{name}: {count} channels cannot form {groups} groups",
        )
    batch, spatial = data.shape[0], _spatial(a, data.shape[2:])
    depth = -1 if channels == -1 else channels // a.num_group
    shapes = {
        "offset": (batch, 2 * taps * a.num_deformable_group, *spatial),
        "mask": (batch, taps * a.num_deformable_group, *spatial),
        "weight": (a.num_filter, depth, *a.kernel),
        "bias": (a.num_filter,),
    }
    for spec, name in zip(specs, names, strict=False):
        spec.fill(name, shapes[name])
    return Spec((batch, a.num_filter, *spatial), dtype)


def _infer_grad(a, grads, *ins):
    return infer_gradients(_infer, a, grads, *ins)


# --- kernels ---------------------------------------------------------------------------------


def _kernel(name, first, columns):
    """Return a native kernel whose data is input `first`, with `columns` column matrices."""

    def params(a, ins, outs):
        data, out = ins[first], ins[0] if first else outs[0]
        kernel, stride, dilate, pad = resolve(a)
        return {
            "batch": data.shape[0],
            "groups": a.num_group,
            "moved": a.num_deformable_group,
            "channels": data.shape[1],
            "filters": a.num_filter,
            "source": data.shape[2:],
            "target": out.shape[2:],
            "kernel": kernel,
            "stride": stride,
            "dilate": dilate,
            "pad": pad,
            "modulated": a.modulated,
        }

    def size(a, ins, outs):
        data, out = ins[first], ins[0] if first else outs[0]
        return data.shape[1] * math.prod(a.kernel) * math.prod(out.shape[2:])

    def workspace(a, ins, outs):
        data = ins[first]
        return columns * size(a, ins, outs) * (data.nbytes // max(data.size, 1))

    def work(a, ins, outs):
        reads = ins[first].shape[0] * size(a, ins, outs)
        return columns * reads * (4 + a.num_filter // a.num_group // 16)

    return native(name, struct=DEFORMABLE, params=params, workspace=workspace, work=work)


# --- records ---------------------------------------------------------------------------------


class _Version:
    """Attributes of a call and the version of the operator."""

    def __init__(self, a, modulated):
        self.attrs, self.modulated = a, modulated

    def __getattr__(self, name):
        return getattr(self.attrs, name)


_DOC = """Apply a convolution {version}.

``out[n, f, p] = bias[f] + sum over c, k of weight[f, c, k] * data[n, c, q]{mask}``, where `q` is
``stride * p + dilate * k - pad`` plus the tap's offset, sampled by bilinear
interpolation{outside}. Each of `num_deformable_group` groups of channels has its own offsets.

Shapes: data (batch, channels, height, width), offset (batch, 2 * taps * num_deformable_group, rows,
columns) alternating down and right,{mask_shape} weight (num_filter, channels /
num_group, *kernel), bias (num_filter,), out (batch, num_filter, rows, columns). `workspace`
{ignored} nothing on CPU."""


def _fields(modulated):
    """Return the attributes of a version and its gradient."""
    kind = UInt if modulated else Int
    return (
        Field("kernel", Shape),
        Field("stride", Shape, ()),
        Field("dilate", Shape, ()),
        Field("pad", Shape, ()),
        Field("num_filter", kind),
        Field("num_group", kind, 1),
        Field("num_deformable_group", kind, 1),
    )


def _versioned(function, modulated):
    """Bind a function of a record to a version."""
    return lambda a, *arguments: function(_Version(a, modulated), *arguments)


def _kernels(kernel, modulated):
    for part in ("params", "workspace", "work"):
        setattr(kernel, part, _versioned(getattr(kernel, part), modulated))
    return (kernel,)


def _register(name, alias, modulated, doc, extra=()):
    """Register one version of the operator, and its gradient."""
    own = "mask " if modulated else ""
    shared = _fields(modulated)
    grad_name = f"_{alias}_grad"

    def grad(a, F, g, inputs):
        attrs = {field.name: getattr(a, field.name) for field in shared}
        count = 4 if modulated else 3
        gradients = list(getattr(F, grad_name)(g, *inputs[:count], **attrs))
        return (*gradients, None if a.no_bias else F.sum(g, axis=1, exclude=True))

    names = ("offset", "mask") if modulated else ("offset",)
    register(
        name,
        aliases=(f"_npx_{alias}",),
        doc=doc,
        amp="fp32",
        inputs=f"data offset {own}weight bias?",
        fields=(
            *shared,
            Field("workspace", ULong, 1024),
            Field("no_bias", Bool, False),
            *extra,
            Field("layout", _Layout, None),
        ),
        arguments=lambda a: ("data", *names, "weight", *(() if a.no_bias else ("bias",))),
        infer=_versioned(_infer, modulated),
        grad=grad,
        ref=_versioned(_forward, modulated),
        kernels=_kernels(_kernel("deformable", 0, 1), modulated),
        samples=tuple(_samples(modulated)),
    )
    register(
        grad_name,
        doc=f"""Gradients of {name} with respect to all inputs but the bias.

Takes the gradient of the output, and those inputs.""",
        inputs=f"grads data offset {own}weight",
        outputs=f"data_grad offset_grad {'mask_grad ' if modulated else ''}weight_grad",
        fields=shared,
        grad=no_rule,
        infer=_versioned(_infer_grad, modulated),
        ref=_versioned(_backward, modulated),
        kernels=_kernels(_kernel("deformable_grad", 1, 2), modulated),
        samples=tuple(_grad_samples(modulated)),
    )


def _cases(modulated):
    """Return (shapes of data, weight, out; inputs between data and weight; attributes)."""
    plain = {"kernel": (3, 3), "num_filter": 4, "pad": (1, 1)}
    grouped = {
        "kernel": (3, 2),
        "num_filter": 4,
        "num_group": 2,
        "num_deformable_group": 2,
        "stride": (2, 1),
        "dilate": (1, 2),
        "pad": (1, 0),
    }
    for data, weight, out, attrs in (
        ((2, 3, 4, 5), (4, 3, 3, 3), (2, 4, 4, 5), plain),
        ((1, 4, 7, 15), (4, 2, 3, 2), (1, 4, 4, 13), grouped),
    ):
        moves = math.prod(attrs["kernel"]) * attrs.get("num_deformable_group", 1)
        between = [values(-1.7, 1.7, (out[0], 2 * moves, *out[2:]))]
        if modulated:
            between.append((out[0], moves, *out[2:]))
        yield data, weight, out, between, attrs


def _samples(modulated):
    for data, weight, _, between, attrs in _cases(modulated):
        yield sample(data, *between, weight, (4,), tol=10, **attrs)
        yield sample(data, *between, weight, tol=10, no_bias=True, grad=False, **attrs)


def _grad_samples(modulated):
    for data, weight, out, between, attrs in _cases(modulated):
        yield sample(out, data, *between, weight, tol=10, **attrs)


_register(
    "_contrib_DeformableConvolution",
    "deformable_convolution",
    False,
    _DOC.format(
        version="with learned offsets",
        mask="",
        mask_shape="",
        ignored="changes",
        outside="; taps outside the image read zero",
    ),
)
_register(
    "_contrib_ModulatedDeformableConvolution",
    "modulated_deformable_convolution",
    True,
    _DOC.format(
        version="with learned offsets and modulation (a mask)",
        mask=" * mask[n, k, p]",
        mask_shape=" mask (batch, taps * num_deformable_group, rows,\ncolumns),",
        outside="; pixels outside the image are zero",
        ignored="and `im2col_step` change",
    ),
    extra=(Field("im2col_step", UInt, 64),),
)
