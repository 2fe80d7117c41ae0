"""Reductions over lists of arrays: all_finite and multi_sum_sq."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import I64, Addresses, Launch, Output, Sizes, Workspace
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_MOST, _PARTS = 200, 64  # arrays per launch; blocks per array
_TEXT = """
struct Pointers { const void* of[COUNT]; };
struct Counts { Long of[COUNT]; };
extern "C" __global__ void start(float* out) { *out = 1; }
extern "C" __global__ void __launch_bounds__(256, 4)
all_finite(Pointers arrays, Counts sizes, float* out) {
  const S* x = (const S*)arrays.of[blockIdx.y];
  bool is_finite = true;
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < sizes.of[blockIdx.y];
       p += (Long)gridDim.x * blockDim.x) {
    const T v = cast<T>(x[p]);
    is_finite = is_finite && v - v == 0;
  }
  if (!is_finite) *out = 0;  // all writers write the same value
}
// Partial sums per block, then their sums in a fixed order.
extern "C" __global__ void __launch_bounds__(256, 4)
squares(Pointers arrays, Counts sizes, double* parts) {
  const S* x = (const S*)arrays.of[blockIdx.y];
  double sum = 0;
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < sizes.of[blockIdx.y];
       p += (Long)gridDim.x * blockDim.x) {
    const double v = cast<double>(x[p]);
    sum += v * v;
  }
  sum = joined(sum, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(64, 4)
join_parts(const double* parts, float* out, Long count, Long each) {
  const Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double sum = 0;
  for (Long k = 0; k < each; ++k) sum += parts[i * each + k];
  out[i] = (float)sum;
}
"""


def _text(request):
    """Return the CUDA source for a call, or None."""
    dtype, count = request.ins[0].dtype, len(request.ins)
    if dtype not in _FLOATS or any(s.dtype != dtype for s in request.ins) or count > _MOST:
        return None
    computed = "double" if dtype == dtypes.CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\n#define COUNT {count}\n"
    return f"{elements()}{types}{joining_text()}{_TEXT}"


@kernel("all_finite")
def all_finite(request):
    """1 if all elements of all arrays are finite, else 0."""
    text, count = _text(request), len(request.ins)
    if text is None:
        return f"takes up to {_MOST} arrays of one floating-point dtype"
    begin = [Launch(text, "start", (1,), [Output(0)], block=1)] if request.values["init"] else []
    arguments = [Addresses(0, 1, count), Sizes(0, 1, count), Output(0)]
    return [*begin, Launch(text, "all_finite", (_PARTS, count), arguments)]


@kernel("multi_sum_sq")
def sums_of_squares(request):
    """The sum of the squares of each array."""
    text, count = _text(request), len(request.ins)
    if text is None:
        return f"takes up to {_MOST} arrays of one floating-point dtype"
    request.workspace = 8 * _PARTS * count
    parts = [Addresses(0, 1, count), Sizes(0, 1, count), Workspace()]
    sums = [Workspace(), Output(0), I64(count), I64(_PARTS)]
    return [
        Launch(text, "squares", (_PARTS, count), parts),
        Launch(text, "join_parts", (-(-count // 64),), sums, block=64),
    ]
