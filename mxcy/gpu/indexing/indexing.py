"""Indexing: take, pick, their gradients, one_hot.

Gradients of repeated indices are added. One block sums one row of the result over all indices in
their order, so sums are deterministic. In raise mode an index that is out of bounds sets an alarm:
the next wait raises the error.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import F64, I64, Alarm, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel
from mxcy.ops.indexing.indexing import MODES

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_MOST_BLOCKS = (1 << 31) - 1
_PLACE = """
__device__ inline Long place(I index, Long extent, Alarm alarm) {
  Long at = cast<Long>(index);
  if (at < 0 || at >= extent) set_alarm(alarm, extent);
#if WRAPS
  at %= extent;
  return at < 0 ? at + extent : at;
#else
  return at < 0 ? 0 : at >= extent ? extent - 1 : at;
#endif
}
"""
_TAKE = """
extern "C" __global__ void __launch_bounds__(256, 4)
take(const S* x, const I* index, S* y, Long n, Long extent, Long inner, Long count,
     Alarm alarm) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Long q = p / inner, outer = q / count;
    y[p] = x[(outer * extent + place(index[q % count], extent, alarm)) * inner + p % inner];
  }
}
"""
_TAKE_GRAD = """
extern "C" __global__ void __launch_bounds__(256, 3)
take_grad(const S* g, const I* index, S* y, Long extent, Long inner, Long count,
          Alarm alarm) {
  __shared__ Long found[256];
  const Long row = blockIdx.x % extent, outer = blockIdx.x / extent;
  for (Long i0 = 0; i0 < inner; i0 += 256) {
    const Long i = i0 + threadIdx.x;
    T sum = 0;
    for (Long first = 0; first < count; first += 256) {
      const Long k = first + threadIdx.x;
      __syncthreads();  // the indices of the previous pass have been read
      found[threadIdx.x] = k < count ? place(index[k], extent, alarm) : -1;
      __syncthreads();
      for (int j = 0; j < 256; ++j)
        if (found[j] == row && i < inner)
          sum += cast<T>(g[(outer * count + first + j) * inner + i]);
    }
    if (i < inner) y[((Long)outer * extent + row) * inner + i] = cast<S>(sum);
  }
}
"""
_ONE_HOT = """
extern "C" __global__ void __launch_bounds__(256, 4)
one_hot(const I* index, S* y, Long n, Long depth, double on, double off) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x)
    y[p] = cast<Long>(index[p / depth]) == p % depth ? cast<S>(on) : cast<S>(off);
}
"""
_ALONG = """
extern "C" __global__ void __launch_bounds__(256, 4)
along(const S* x, const I* index, S* y, Long n, Long extent, Long inner, Long taken,
      Alarm alarm) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Long outer = p / (taken * inner);
    y[p] = x[(outer * extent + place(index[p], extent, alarm)) * inner + p % inner];
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
along_grad(const S* gradient, const I* index, S* y, Long n, Long extent, Long inner) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Long line = p / (extent * inner) * inner + p % inner;
    y[p] = place(index[line], extent, Alarm{}) == p / inner % extent ? gradient[line] : cast<S>(0);
  }
}
"""


def _head(spec, index, mode=0, computed="float"):
    return (
        f"{elements()}{text_of('alarms.cuh')}typedef {TYPES[spec.dtype]} S;\n"
        f"typedef {TYPES[index.dtype]} I;\ntypedef {computed} T;\n"
        f"#define WRAPS {int(mode == MODES['wrap'])}\n{_PLACE}"
    )


def _alarm(values):
    """Return the alarm of raise mode; one that is never set in others."""
    if values["mode"] != MODES["raise"]:
        return Alarm()
    return Alarm("indices: out of bounds for a dimension of size {}")


def _refusal(request, index):
    """Return the reason of a refusal, or None."""
    if not request.values["extent"]:
        return "raises errors for indices out of bounds"
    if not {spec.dtype for spec in (*request.ins, *request.outs)} <= set(TYPES):
        return "does not support complex dtypes"
    return None if index.size else "has no elements to take"


@kernel("take")
def take(request):
    """take: elements at indices along an axis."""
    values, (out,) = request.values, request.outs
    data, index = request.ins[values["data"]], request.ins[values["index"]]
    if refusal := _refusal(request, index):
        return refusal
    arguments = [Input(values["data"]), Input(values["index"]), Output(0), I64(out.size)]
    arguments += [*map(I64, (values["extent"], values["inner"], index.size)), _alarm(values)]
    text = _head(data, index, values["mode"]) + _TAKE
    return [Launch(text, "take", spread(out.size), arguments)]


@kernel("take_grad")
def take_grad(request):
    """Gradient of take: sums over equal indices."""
    values, (out,) = request.values, request.outs
    grad, index = request.ins
    if refusal := _refusal(request, index):
        return refusal
    rows = values["outer"] * values["extent"]
    if out.dtype not in _FLOATS or grad.dtype != out.dtype or rows > _MOST_BLOCKS:
        return "requires one floating-point dtype and no more rows than a grid has blocks"
    computed = "double" if out.dtype == dtypes.CODES["float64"] else "float"
    text = _head(out, index, values["mode"], computed) + _TAKE_GRAD
    arguments = [Input(0), Input(1), Output(0)]
    arguments += [*map(I64, (values["extent"], values["inner"], index.size)), _alarm(values)]
    return [Launch(text, "take_grad", (rows,), arguments)]


@kernel("one_hot")
def one_hot(request):
    """one_hot."""
    values, (index,), (out,) = request.values, request.ins, request.outs
    if not {index.dtype, out.dtype} <= set(TYPES):
        return "does not support complex dtypes"
    arguments = [Input(0), Output(0), I64(out.size), I64(values["depth"])]
    arguments += [F64(*request.number("on")), F64(*request.number("off"))]
    return [Launch(_head(out, index) + _ONE_HOT, "one_hot", spread(out.size), arguments)]


@kernel("along", "along_grad")
def along(request):
    """pick: one element of each line at its index; and the gradient."""
    values, (out,) = request.values, request.outs
    data, index = request.ins
    if not {data.dtype, index.dtype} <= set(TYPES) or data.dtype != out.dtype:
        return "does not support complex dtypes"
    if not values["extent"]:
        return "raises errors for indices out of bounds"
    text = _head(data, index, values["mode"]) + _ALONG
    arguments = [Input(0), Input(1), Output(0), I64(out.size)]
    arguments += [I64(values["extent"]), I64(values["inner"])]
    if request.name == "along":
        arguments += [I64(values["taken"]), _alarm(values)]
    elif values["taken"] != 1:
        return "may add several gradients at one place"
    return [Launch(text, request.name, spread(out.size), arguments)]
