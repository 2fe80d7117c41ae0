"""Pooling: one thread per element."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, position_type
from mxcy.gpu.launch import I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_CODES = dtypes.CODES
_FLOATS = tuple(map(_CODES.get, ("float32", "float64", "float16", "bfloat16")))
_LEAST = {"Half": "-65504.0f", "Bf16": "-0x1.FEp127f", "float": "-0x1.fffffep127f"}
_FIELDS = ("source", "target", "kernel", "stride", "pad")
_MAX, _NORM2 = 0, 3
_EXTENT = """
struct Extent {
  At begin, end, whole;
  __device__ Extent(At at, At kernel, At stride, At pad, At source) {
    begin = at * stride - pad;
    end = begin + kernel < source + pad ? begin + kernel : source + pad;
    whole = end > begin ? end - begin : 0;
    if (begin < 0) begin = 0;
    if (end > source) end = source;
    if (end < begin) end = begin;
  }
};
#define WINDOW(d, at) const Extent w##d(at, kernel##d, stride##d, pad##d, source##d);
#define DIVISOR (T)(count_pad ? w0.whole * w1.whole * w2.whole \\
                              : (w0.end - w0.begin) * (w1.end - w1.begin) * (w2.end - w2.begin))
#define IN_WINDOW                              \\
  for (At i = w0.begin; i < w0.end; ++i)     \\
    for (At j = w1.begin; j < w1.end; ++j)   \\
      for (At k = w2.begin; k < w2.end; ++k)
"""
_FORWARD = """
extern "C" __global__ void __launch_bounds__(256, 4)
pool(const S* x, S* y, Long n_, Long inner_, Long count_pad_, SIZES) {
  LOCALS
  for (At p = (At)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (At)gridDim.x * blockDim.x) {
    const At c = p % inner, t = p / inner, plane = t / (target0 * target1 * target2);
    WINDOW(0, t / (target1 * target2) % target0) WINDOW(1, t / target2 % target1)
    WINDOW(2, t % target2)
    T sum = KIND == 0 ? LEAST : T(0);
    IN_WINDOW {
      const T v = cast<T>(x[(((plane * source0 + i) * source1 + j) * source2 + k) * inner + c]);
      if (KIND == 0) sum = v > sum ? v : sum;
      else sum += KIND == 3 ? v * v : KIND == 4 ? v * v * v : v;
    }
    if (KIND == 1) sum = DIVISOR == 0 ? T(0) : sum / DIVISOR;
    if (KIND == 3) sum = ::sqrt(sum);
    if (KIND == 4) sum = ::cbrt(sum);
    y[p] = cast<S>(sum);
  }
}
"""
_BACKWARD = """
extern "C" __global__ void __launch_bounds__(256, 4)
pool_grad(const S* gradient, const S* x, S* y, Long n_, Long inner_, Long count_pad_, SIZES) {
  LOCALS
  for (At p = (At)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (At)gridDim.x * blockDim.x) {
    const At c = p % inner, s = p / inner, plane = s / (source0 * source1 * source2);
    const At at0 = s / (source1 * source2) % source0, at1 = s / source2 % source1;
    const At at2 = s % source2;
    T sum = 0;
#define REACHED(d) ((at##d + pad##d) / stride##d)
#define LAST(d) (REACHED(d) < target##d ? REACHED(d) : target##d - 1)
#define FIRST(d) (at##d + pad##d < kernel##d ? 0 : (at##d + pad##d - kernel##d) / stride##d + 1)
    for (At t0 = FIRST(0); t0 <= LAST(0); ++t0)
      for (At t1 = FIRST(1); t1 <= LAST(1); ++t1)
        for (At t2 = FIRST(2); t2 <= LAST(2); ++t2) {
          const At t = (((plane * target0 + t0) * target1 + t1) * target2 + t2) * inner + c;
          WINDOW(0, t0) WINDOW(1, t1) WINDOW(2, t2)
          if (at0 >= w0.end || at1 >= w1.end || at2 >= w2.end) continue;
#if KIND == 0
          T most = LEAST;
          At where = -1;
          IN_WINDOW {
            const At place = ((plane * source0 + i) * source1 + j) * source2 + k;
            const T v = cast<T>(x[place * inner + c]);
            if (v > most) most = v, where = place;
          }
          if (where == s) sum += cast<T>(gradient[t]);
#else
          (void)x;
          sum += cast<T>(gradient[t]) / (KIND == 1 ? DIVISOR : T(1));
#endif
        }
    y[p] = cast<S>(sum);
  }
}
"""


@kernel("pool", "pool_grad")
def pool(request):
    """Pooling; its gradient gathers, for each element, from the windows that contain it."""
    values, is_gradient = request.values, request.name == "pool_grad"
    spec, (out,) = request.ins[0], request.outs
    if spec.dtype not in _FLOATS or any(s.dtype != spec.dtype for s in (*request.ins, out)):
        return "requires one floating-point dtype"
    if is_gradient and values["kind"] >= _NORM2:
        return "has no gradient for this norm"
    computed = "double" if spec.dtype == _CODES["float64"] else "float"
    least = _LEAST.get(TYPES[spec.dtype], "-0x1.fffffffffffffp1023")
    names = [f"{field}{d}" for field in _FIELDS for d in range(3)]
    sizes = ", ".join(f"Long {name}_" for name in names)
    names += ["n", "inner", "count_pad"]
    locals_ = " ".join(f"const At {name} = (At){name}_; (void){name};" for name in names)
    at = position_type((*request.ins, out))
    text = (
        f"{elements()}typedef {at} At;\ntypedef {computed} T;\ntypedef {TYPES[spec.dtype]} S;\n"
        f"#define KIND {values['kind']}\n#define LEAST (T)({least})\n{_EXTENT}"
    ) + (_BACKWARD if is_gradient else _FORWARD).replace("SIZES", sizes).replace("LOCALS", locals_)
    arguments = [Input(0), *([Input(1)] if is_gradient else []), Output(0), I64(out.size)]
    arguments += [I64(values["inner"]), I64(int(values["count_pad"]))]
    arguments += [I64(values[field][d]) for field in _FIELDS for d in range(3)]
    return [Launch(text, request.name, spread(out.size), arguments)]
