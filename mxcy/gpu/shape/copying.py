"""Strided copies, concatenation and splitting."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, fill
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, Request, kernel

__all__ = []

_FILL, _BASE = 1, 2  # initial contents of the output, as in leaf/shape/copy_loops.cc
_BITS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}


def _bits(spec):
    """Return an unsigned type of the size of an element."""
    return _BITS.get(dtypes.dtype_of(spec.dtype).itemsize if spec.dtype != 12 else 2)


def _index(ndim):
    """Return statements that compute both offsets of element p."""
    lines = ["Long q = p, to = dst_offset, from = src_offset;"]
    for d in reversed(range(ndim)):
        lines.append(f"{{ const Long i = {f'q % shape{d}' if d else 'q'};")
        lines.append(f"  to += i * dst{d}; from += i * src{d}; q /= shape{d}; }}")
    return "\n    ".join(lines)


def _strided(type_, ndim, constant=False):
    """Return the source of a strided copy, or of a strided fill with a constant."""
    names = [f"Long {side}{d}" for side in ("shape", "src", "dst") for d in range(ndim)]
    source = "double number" if constant else f"const {type_}* source"
    value = f"cast<{type_}>(number)" if constant else "source[from]"
    head = ", ".join(
        [f"{type_}* target", source, "Long n", "Long src_offset", "Long dst_offset", *names]
    )
    return f"""{elements()}
extern "C" __global__ void __launch_bounds__(256, 4) strided_copy({head}) {{
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    {_index(ndim)}
    target[to] = {value};
  }}
}}
"""


def _joined(shape, src, dst):
    """Merge loops over contiguous dimensions."""
    loops = []
    for extent, step, to in zip(shape, src, dst, strict=True):
        if extent == 1:
            continue
        if loops and loops[-1][1:] == (step * extent, to * extent):
            loops[-1] = loops[-1][0] * extent, step, to
        else:
            loops.append((extent, step, to))
    return [list(side) for side in zip(*(loops or [(1, 0, 0)]), strict=True)]


def _copy(source, target, shape, src, dst, offsets=(0, 0), number=None):
    """Return the launch of a strided copy; `source` and `target` are (argument, Spec)."""
    shape, src, dst = _joined(shape, src, dst)
    count = 1
    for extent in shape:
        count *= extent
    type_ = _bits(target[1]) if number is None else TYPES[target[1].dtype]
    text = _strided(type_, len(shape), number is not None)
    first = source[0] if number is None else F64(*number)
    arguments = [target[0], first, *map(I64, (count, *offsets, *shape, *src, *dst))]
    return Launch(text, "strided_copy", spread(count), arguments)


def _whole(source, target, count, offsets=(0, 0)):
    return _copy(source, target, [count], [1], [1], offsets)


def copy_all(data, out, number=0):
    """Return the launch that copies an input to the first output."""
    return _whole((Input(number), data), (Output(0), out), out.size)


def clear_all(out):
    """Return the launch that zeroes the first output."""
    target = (Output(0), out)
    return _copy(None, target, [out.size], [0], [1], number=(0.0, None))


@kernel("copy_strided", inplace=True)
def copy(request):
    """Copy an array."""
    (out,), data = request.outs, request.ins[0]
    if _bits(out) is None or data.size != out.size:
        return "copies whole arrays of elements of up to 8 bytes"
    return [copy_all(data, out)]


@kernel("copy_loops")
def copy_loops(request):
    """Copy between two strided layouts, after setting the output's initial contents."""
    values, (out,) = request.values, request.outs
    ndim, source, launches = values["ndim"], values["source"], []
    if _bits(out) is None or ndim > 12:
        return "copies elements of up to 8 bytes in up to 12 dimensions"
    if values["before"] == _FILL:
        launches += fill(
            Request("fill", out.dtype, values, request.dynamic, request.attrs, [], [out])
        )
    elif values["before"] == _BASE:
        launches.append(_whole((Input(0), request.ins[0]), (Output(0), out), out.size))
    sides = [list(values[side])[:ndim] for side in ("shape", "src", "dst")]
    if 0 in sides[0]:
        return launches
    offsets = values["src_offset"], values["dst_offset"]
    number = request.number("scalar") if source < 0 else None
    origin = None if source < 0 else (Input(source), request.ins[source])
    launches.append(_copy(origin, (Output(0), out), *sides, offsets, number))
    return launches


@kernel("concat")
def concat(request):
    """Concatenate arrays: rows of each in turn."""
    return _blocks(request, request.ins, request.outs[0], Input, Output, apart=False)


@kernel("split")
def split(request):
    """Split the rows of an array into several arrays."""
    return _blocks(request, request.outs, request.ins[0], Output, Input, apart=True)


def _blocks(request, parts, joined, part, all_, apart):
    if len(parts) > 4:  # one launch each
        return "it joins up to 4 arrays"
    if _bits(joined) is None or any(part_spec.dtype != joined.dtype for part_spec in parts):
        return "copies elements of up to 8 bytes"
    rows, launches, offset = request.values["rows"], [], 0
    if not rows or not joined.size:
        return launches
    width = joined.size // rows
    for i, spec in enumerate(parts):
        own = spec.size // rows
        if own:
            near, far = ([own, 1], [width, 1])
            sides = (
                ((all_(0), joined), (part(i), spec))
                if apart
                else ((part(i), spec), (all_(0), joined))
            )
            steps = (far, near) if apart else (near, far)
            offsets = (offset, 0) if apart else (0, offset)
            launches.append(_copy(*sides, [rows, own], *steps, offsets))
        offset += own
    return launches
