"""Cumulative sums and products along an axis.

Short lines, and neighbouring ones if there are many, are summed by one thread each; others by
blocks, a tile at a time. A few long lines are divided into chunks: one launch sums the chunks, and
the next one adds to each chunk what is before it. The order depends on shapes alone.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import I64, Input, Launch, Output, Workspace, spread
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_CODES = dtypes.CODES
_FLOATS = tuple(map(_CODES.get, ("float32", "float16", "bfloat16")))
_WHOLE = tuple(map(_CODES.get, ("int8", "uint8", "int32", "int64")))
_SHORT, _NEIGHBOURS, _MANY = 64, 32, 1 << 14
_TILE = 1024  # elements of a block at a time
_MOST_CHUNKS, _ENOUGH = 256, 512  # per line; blocks that fill a device
_MOST_BLOCKS = (1 << 31) - 1
_TEXT = """
struct Join {
  __device__ T operator()(T a, T b) const { return PRODUCT ? a * b : a + b; }
};
constexpr T kNeutral = PRODUCT ? 1 : 0;
__device__ inline Long base_of(Long line, Long extent, Long inner) {
  return line / inner * extent * inner + line % inner;
}
extern "C" __global__ void __launch_bounds__(256, 4)
scan_lines(const S* x, S* y, Long lines, Long extent, Long inner) {
  const Join join;
  for (Long line = (Long)blockIdx.x * blockDim.x + threadIdx.x; line < lines;
       line += (Long)gridDim.x * blockDim.x) {
    Long at = base_of(line, extent, inner);
    T total = kNeutral;
    for (Long k = 0; k < extent; ++k, at += inner) {
      total = join(total, cast<T>(x[at]));
      y[at] = cast<S>(total);
    }
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
sum_chunks(const S* x, T* sums, Long extent, Long inner, Long chunks, Long length) {
  const Join join;
  const Long base = base_of(blockIdx.x / chunks, extent, inner);
  const Long begin = blockIdx.x % chunks * length;
  const Long end = begin + length < extent ? begin + length : extent;
  T sum = kNeutral;
  for (Long k = begin + threadIdx.x; k < end; k += 256)
    sum = join(sum, cast<T>(x[base + k * inner]));
  sum = joined(sum, join);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(256, 4)
scan_chunks(const S* x, const T* sums, S* y, Long extent, Long inner, Long chunks, Long length) {
  __shared__ T totals[8];
  const Join join;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Long chunk = blockIdx.x % chunks, base = base_of(blockIdx.x / chunks, extent, inner);
  const Long begin = chunk * length;
  const Long end = begin + length < extent ? begin + length : extent;
  T carry = kNeutral;
  if (chunk)
    carry = joined(threadIdx.x < chunk ? sums[blockIdx.x - chunk + threadIdx.x] : kNeutral, join);
  for (Long tile = begin; tile < end; tile += 1024) {
    const Long first = tile + 4 * threadIdx.x;
    T part[4];
    for (int k = 0; k < 4; ++k) {
      part[k] = first + k < end ? cast<T>(x[base + (first + k) * inner]) : kNeutral;
      if (k) part[k] = join(part[k - 1], part[k]);
    }
    T total = part[3];  // of this thread's elements and those before in the warp
    for (int step = 1; step < 32; step *= 2) {
      const T before = __shfl_up_sync(0xffffffffu, total, step);
      if (lane >= step) total = join(before, total);
    }
    const T earlier = __shfl_up_sync(0xffffffffu, total, 1);
    __syncthreads();  // the totals of the previous tile have been read
    if (lane == 31) totals[warp] = total;
    __syncthreads();
    T before = carry;
    for (int i = 0; i < 8; ++i) {
      if (i < warp) before = join(before, totals[i]);
      carry = join(carry, totals[i]);
    }
    if (lane) before = join(before, earlier);
    for (int k = 0; k < 4; ++k)
      if (first + k < end) y[base + (first + k) * inner] = cast<S>(join(before, part[k]));
  }
}
"""


@kernel("cumsum", "cumprod")
def scan(request):
    """Cumulative sums and products of lines."""
    values, (data,), (out,) = request.values, request.ins, request.outs
    if data.dtype != out.dtype:
        return "requires one dtype"
    if data.dtype in _WHOLE:
        computed, size = "Long", 8
    elif data.dtype in _FLOATS:
        computed, size = "float", 4
    elif data.dtype == _CODES["float64"]:
        computed, size = "double", 8
    else:
        return "does not support this dtype"
    extent, inner = values["extent"], values["inner"]
    lines = values["outer"] * inner
    text = (
        f"{elements()}typedef {computed} T;\ntypedef {TYPES[data.dtype]} S;\n"
        f"#define PRODUCT {int(request.name == 'cumprod')}\n{joining_text()}{_TEXT}"
    )
    if extent < _SHORT or (inner >= _NEIGHBOURS and lines >= _MANY) or lines > _MOST_BLOCKS:
        arguments = [Input(0), Output(0), *map(I64, (lines, extent, inner))]
        return [Launch(text, "scan_lines", spread(lines), arguments)]
    chunks = min(_MOST_CHUNKS, max(1, _ENOUGH // lines), -(-extent // (2 * _TILE)))
    length = -(-extent // (chunks * _TILE)) * _TILE
    chunks = -(-extent // length)
    sizes = [*map(I64, (extent, inner, chunks, length))]
    grid, sums = (lines * chunks,), [Workspace()] if chunks > 1 else [I64(0)]
    launches = []
    if chunks > 1:
        request.workspace = size * lines * chunks
        launches = [Launch(text, "sum_chunks", grid, [Input(0), *sums, *sizes])]
    arguments = [Input(0), *sums, Output(0), *sizes]
    return [*launches, Launch(text, "scan_chunks", grid, arguments)]
