"""PReLU, and the gradients of leaky rectifiers."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_MOST_CHANNELS = (1 << 31) - 1
_TEXT = """
#define EACH(i) for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < n; \\
                     i += (Long)gridDim.x * blockDim.x)
extern "C" __global__ void __launch_bounds__(256, 4)
prelu(const S* x, const S* slopes, S* y, Long n, Long channels, Long inner) {
  EACH(i) {
    const T v = cast<T>(x[i]);
    y[i] = cast<S>(v > 0 ? v : v * cast<T>(slopes[i / inner % channels]));
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
prelu_grad(const S* g, const S* x, const S* slopes, S* y, Long n, Long channels, Long inner) {
  EACH(i) {
    const T slope = cast<T>(slopes[i / inner % channels]), d = cast<T>(g[i]);
    if (y) y[i] = cast<S>(cast<T>(x[i]) > 0 ? d : d * slope);
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
slopes_grad(const S* g, const S* x, S* y, Long outer, Long channels, Long inner) {
  if (!y) return;
  double sum = 0;
  for (Long q = threadIdx.x; q < outer * inner; q += 256) {
    const Long at = (q / inner * channels + blockIdx.x) * inner + q % inner;
    const T v = cast<T>(x[at]);
    if (!(v > 0)) sum += (double)(cast<T>(g[at]) * v);
  }
  sum = joined(sum, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) y[blockIdx.x] = cast<S>(sum);
}
extern "C" __global__ void __launch_bounds__(256, 4)
leaky_grad(const S* g, const S* x, S* y, Long n, double p, double) {
  EACH(i) y[i] = cast<S>(cast<T>(x[i]) > 0 ? cast<T>(g[i]) : cast<T>(g[i]) * (T)p);
}
extern "C" __global__ void __launch_bounds__(256, 4)
elu_grad(const S* g, const S* x, S* y, Long n, double p, double q) {
  EACH(i) {
    const T v = cast<T>(x[i]);
    y[i] = cast<S>(cast<T>(g[i]) * (T)q * (v > 0 ? T(1) : (T)p * ::exp(v)));
  }
}
"""


def _text(request):
    """Return the CUDA source, or the reason why there is none."""
    dtype = request.ins[0].dtype
    if dtype not in _FLOATS or any(s.dtype != dtype for s in (*request.ins, *request.outs)):
        return None
    computed = "double" if dtype == dtypes.CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\n"
    return f"{elements()}{types}{joining_text()}{_TEXT}"


@kernel("prelu", "prelu_grad")
def of_channels(request):
    """PReLU with a slope per channel, and its gradients."""
    text, values = _text(request), request.values
    if text is None or values["channels"] > _MOST_CHANNELS:
        return "requires one floating-point dtype"
    n = request.ins[0].size
    sizes = [I64(values["channels"]), I64(values["inner"])]
    if request.name == "prelu":
        return [Launch(text, "prelu", spread(n), [Input(0), Input(1), Output(0), I64(n), *sizes])]
    data = [*map(Input, range(3)), Output(0), I64(n), *sizes]
    slopes = [Input(0), Input(1), Output(1), I64(values["outer"]), *sizes]
    return [
        Launch(text, "prelu_grad", spread(n), data),
        Launch(text, "slopes_grad", (values["channels"],), slopes),
    ]


@kernel("leaky_grad", "elu_grad", inplace=True)
def of_one_slope(request):
    """Gradients of rectifiers with a constant slope."""
    text, n = _text(request), request.outs[0].size
    arguments = [Input(0), Input(1), Output(0), I64(n)]
    arguments += [F64(*request.number(name)) for name in ("p", "q")]
    if text is None:
        return "requires one floating-point dtype"
    return [Launch(text, request.name, spread(n), arguments)]
