"""Indexing by coordinates: gather_nd, scatter_nd and their relatives.

Coordinates select rows of the larger array. If several select the same row, scattering first finds
the last of them (or all, which are added in their order), so results are deterministic. A
coordinate that is out of bounds sets an
alarm: the next wait raises the error.
"""

from math import prod

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import I64, Alarm, Input, Launch, Output, Workspace, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_MOST_BLOCKS, _MOST_PLACES = 1 << 16, (1 << 31) - 1
_OUTSIDE = Alarm("index {} is out of bounds for axis {} with size {}", "IndexError: ")
_HEAD = """
#define EACH(p, n)                                                                     \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;                    \\
       p += (Long)gridDim.x * blockDim.x)
struct Extents { Long at[DIMENSIONS]; };
// The row that coordinates `q` of `count` select; -1 if they are out of bounds.
__device__ inline Long row_at(const I* index, Long q, Long count, const Extents& extents,
                              Alarm alarm) {
  Long row = 0;
#pragma unroll
  for (int d = 0; d < DIMENSIONS; ++d) {
    const Long given = cast<Long>(index[d * count + q]), extent = extents.at[d];
    const Long place = given < 0 ? given + extent : given;
    if (place < 0 || place >= extent) {
      set_alarm(alarm, given, d, extent);
      return -1;
    }
    row = row * extent + place;
  }
  return row;
}
"""
_GATHER = """
extern "C" __global__ void __launch_bounds__(256, 4)
gather(const S* x, const I* index, S* y, Alarm alarm, Long n, Long count, Long inner{extents}) {{
  const Extents extents = {{{{{names}}}}};
  EACH(p, n) {{
    const Long row = row_at(index, p / inner, count, extents, alarm);
    y[p] = row < 0 ? cast<S>(0) : x[row * inner + p % inner];
  }}
}}
"""
_SCATTER = """
extern "C" __global__ void __launch_bounds__(256, 4)
clear(int* first, int* last, Long rows) {{
  EACH(row, rows) first[row] = 0x7fffffff, last[row] = -1;
}}
// First and last block that selects each row.
extern "C" __global__ void __launch_bounds__(256, 4)
find(const I* index, int* first, int* last, Alarm alarm, Long count{extents}) {{
  const Extents extents = {{{{{names}}}}};
  EACH(q, count) {{
    const Long row = row_at(index, q, count, extents, alarm);
    if (row < 0) continue;
    atomicMin(first + row, (int)q);
    atomicMax(last + row, (int)q);
  }}
}}
extern "C" __global__ void __launch_bounds__(256, 4)
put(const S* x, const S* base, const int* last, S* y, Long n, Long inner) {{
  EACH(p, n) {{
    const Long q = last[p / inner];
    y[p] = q >= 0 ? x[q * inner + p % inner] : base ? base[p] : cast<S>(0);
  }}
}}
extern "C" __global__ void __launch_bounds__(256, 4)
add(const S* x, const I* index, const int* first, const int* last, S* y, Alarm alarm, Long rows,
    Long count, Long inner{extents}) {{
  __shared__ Long found[256];
  const Extents extents = {{{{{names}}}}};
  for (Long row = blockIdx.x; row < rows; row += gridDim.x) {{
    const Long end = last[row] + (Long)1;
    for (Long i0 = 0; i0 < inner; i0 += 256) {{
      const Long i = i0 + threadIdx.x;
      T sum = 0;
      for (Long q0 = end ? first[row] : 0; q0 < end; q0 += 256) {{
        const Long q = q0 + threadIdx.x;
        __syncthreads();  // the rows of the previous pass have been read
        found[threadIdx.x] = q < end ? row_at(index, q, count, extents, alarm) : -1;
        __syncthreads();
        for (int j = 0; j < 256; ++j)
          if (found[j] == row && i < inner) sum += cast<T>(x[(q0 + j) * inner + i]);
      }}
      if (i < inner) y[row * inner + i] = cast<S>(sum);
    }}
  }}
}}
"""


def _text(request, body):
    """Return the source, and the trailing integer arguments of kernels that read coordinates."""
    values = request.values
    data, index = request.ins[values["data"]], request.ins[values["index"]]
    shape = values["shape"][: values["ndim"]]
    names = [f"extent{d}" for d in range(len(shape))]
    computed = "double" if data.dtype == dtypes.CODES["float64"] else "float"
    text = (
        f"{elements()}{text_of('alarms.cuh')}typedef {TYPES[data.dtype]} S;\n"
        f"typedef {TYPES[index.dtype]} I;\n"
        f"typedef {computed if data.dtype in _FLOATS else 'Long'} T;\n"
        f"#define DIMENSIONS {len(shape)}\n{_HEAD}"
    )
    extents = "".join(f", Long {name}" for name in names)
    return text + body.format(extents=extents, names=", ".join(names)), [*map(I64, shape)]


def _refusal(request):
    values = request.values
    data, index = request.ins[values["data"]], request.ins[values["index"]]
    if not {data.dtype, index.dtype} <= set(TYPES) or data.dtype != request.outs[0].dtype:
        return "it moves real numbers"
    if not index.size or not 0 < values["ndim"] <= 16:
        return "has no coordinates, or too many"
    return None


@kernel("gather_nd")
def gather(request):
    """gather_nd: rows at coordinates."""
    if refusal := _refusal(request):
        return refusal
    values, (out,) = request.values, request.outs
    count = request.ins[values["index"]].size // values["ndim"]
    text, extents = _text(request, _GATHER)
    arguments = [Input(values["data"]), Input(values["index"]), Output(0)]
    arguments += [_OUTSIDE, *map(I64, (out.size, count, values["inner"]))]
    return [Launch(text, "gather", spread(out.size), arguments + extents)]


@kernel("scatter_nd", "scatter_add_nd")
@kernel("scatter_set_nd", inplace=True)
def scatter(request):
    """scatter_nd: rows written at coordinates of zeros or of an array, or summed on zeros."""
    if refusal := _refusal(request):
        return refusal
    values, (out,) = request.values, request.outs
    count = request.ins[values["index"]].size // values["ndim"]
    rows, inner = prod(values["shape"][: values["ndim"]]), values["inner"]
    if max(count, rows) > _MOST_PLACES:
        return "has more blocks or rows than 32 bits count"
    text, extents = _text(request, _SCATTER)
    first, last = Workspace(), Workspace(rows * 4)
    request.workspace = rows * 8
    data, index, alarm = Input(values["data"]), Input(values["index"]), _OUTSIDE
    launches = [
        Launch(text, "clear", spread(rows), [first, last, I64(rows)]),
        Launch(text, "find", spread(count), [index, first, last, alarm, I64(count), *extents]),
    ]
    if request.name == "scatter_add_nd":
        arguments = [data, index, first, last, Output(0), alarm]
        arguments += [*map(I64, (rows, count, inner)), *extents]
        launches.append(Launch(text, "add", (min(rows, _MOST_BLOCKS),), arguments))
        return launches
    base = Input(0) if request.name == "scatter_set_nd" else I64(0)
    arguments = [data, base, last, Output(0), I64(out.size), I64(inner)]
    launches.append(Launch(text, "put", spread(out.size), arguments))
    return launches
