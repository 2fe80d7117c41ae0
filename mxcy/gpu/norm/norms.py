"""Batch, layer, group, instance and local response normalisation."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.reduce.lines import _JOIN
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_CODES = dtypes.CODES
_FLOATS = tuple(map(_CODES.get, ("float32", "float64", "float16", "bfloat16")))
_MOST_LINES = (1 << 31) - 1
#: activation -> its value for v, and its gradient for an upstream g
_LIMITS = {
    "": ("v", "g"),
    "_relu": ("v < 0 ? T(0) : v", "v > 0 ? g : T(0)"),
    "_relu6": ("v < 0 ? T(0) : v > 6 ? T(6) : v", "v < 0 || v > 6 ? T(0) : g"),
}
_CHANNEL = """
#define EACH(at)                                                                           \\
  for (Long q = threadIdx.x, at;                                                           \\
       q < count && (at = (q / inner * channels + c) * inner + q % inner, true); q += 256)
"""
_FORWARD = """
extern "C" __global__ void __launch_bounds__(256, 4)
batch_norm(const S* x, T* gamma, const T* beta, const T* moving_mean, const T* moving_var, S* y,
           T* mean_of, T* inverse_of, Long outer, Long channels, Long inner, double eps) {
  const auto add = [](T a, T b) { return a + b; };
  const Long c = blockIdx.x, count = outer * inner;
  T mean = moving_mean[c], inverse = (T)(1 / ::sqrt((double)moving_var[c] + eps));
  (void)add;
#if BATCH
  T sum = 0, squares = 0;
  EACH(at) sum += cast<T>(x[at]);
  mean = joined(sum, add) / (T)(count > 0 ? count : 1);
  EACH(at) {
    const T d = cast<T>(x[at]) - mean;
    squares += d * d;
  }
  inverse = (T)(1 / ::sqrt((double)joined(squares, add) / (double)(count > 0 ? count : 1) + eps));
#endif
  const T scale = (FIXED ? T(1) : gamma[c]) * inverse, shift = beta[c];
  EACH(at) {
    const T v = (cast<T>(x[at]) - mean) * scale + shift;
    y[at] = cast<S>(VALUE);
  }
  __syncthreads();
  if (threadIdx.x) return;
  if (FIXED) gamma[c] = 1;
  if (mean_of) mean_of[c] = mean;
  if (inverse_of) inverse_of[c] = inverse;
}
"""
_BACKWARD = """
extern "C" __global__ void __launch_bounds__(256, 4)
batch_norm_grad(const S* gradient, const S* x, const T* gamma, const T* mean_of,
                const T* inverse_of, T* moving_mean, T* moving_var, const T* beta, S* y,
                T* by_gamma, T* by_beta,
                Long outer, Long channels, Long inner, double eps, double momentum) {
  const auto add = [](T a, T b) { return a + b; };
  const Long c = blockIdx.x, count = outer * inner;
  const T mean = BATCH ? mean_of[c] : moving_mean[c];
  const T inverse = BATCH ? inverse_of[c] : (T)(1 / ::sqrt((double)moving_var[c] + eps));
  const T wide = gamma[c] * inverse, base = LIMITED ? beta[c] : T(0);
  (void)wide, (void)base;
  T sum = 0, product = 0;
  EACH(at) {
    const T d = cast<T>(x[at]) - mean, v = d * wide + base, g = cast<T>(gradient[at]);
    const T passed = PASSED;
    (void)v;
    sum += passed, product += passed * d;
  }
  sum = joined(sum, add), product = joined(product, add);
  const T n = (T)(count > 0 ? count : 1), scale = FIXED ? inverse : wide;
  const T shift = BATCH ? sum / n : T(0), slope = BATCH ? product * inverse * inverse / n : T(0);
  EACH(at) {
    const T d = cast<T>(x[at]) - mean, v = d * wide + base, g = cast<T>(gradient[at]);
    (void)v;
    if (y) y[at] = cast<S>(scale * ((PASSED) - shift - d * slope));
  }
  __syncthreads();
  if (threadIdx.x) return;
  if (by_gamma) by_gamma[c] = FIXED ? T(0) : product * inverse;
  if (by_beta) by_beta[c] = sum;
#if BATCH
  const double variance = 1 / ((double)inverse * inverse) - eps;
  moving_mean[c] = (T)(momentum * moving_mean[c] + (1 - momentum) * mean);
  moving_var[c] = (T)(momentum * moving_var[c] + (1 - momentum) * variance);
#endif
}
"""
_NEIGHBOURS = """
#define EACH(p)                                                                  \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;              \\
       p += (Long)gridDim.x * blockDim.x)
// Sum of term(place) over the neighbouring channels of place p.
template <class Term>
__device__ inline T beside(Long p, Long channels, Long inner, Long half, const Term& term) {
  const Long c = p / inner % channels, first = c > half ? half : c;
  const Long last = channels - 1 - c < half ? channels - 1 - c : half;
  T sum = 0;
  for (Long k = -first; k <= last; ++k) sum += term(p + k * inner);
  return sum;
}
extern "C" __global__ void __launch_bounds__(256, 4)
lrn(const S* x, S* y, S* norms, Long n, Long channels, Long inner, Long size, double alpha,
    double beta, double knorm) {
  EACH(p) {
    const T sum = beside(p, channels, inner, (size - 1) / 2, [&](Long at) {
      const T v = cast<T>(x[at]);
      return v * v;
    });
    const T norm = (T)knorm + (T)(alpha / (double)size) * sum;
    if (norms) norms[p] = cast<S>(norm);
    y[p] = cast<S>(cast<T>(x[p]) * ::pow(norm, -(T)beta));
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
lrn_grad(const S* gradient, const S* x, const S* norms, S* y, Long n, Long channels, Long inner,
         Long size, double alpha, double beta, double) {
  EACH(p) {
    // Contribution of this square to the neighbouring outputs.
    const T sum = beside(p, channels, inner, (size - 1) / 2, [&](Long at) {
      const T norm = cast<T>(norms[at]);
      return cast<T>(gradient[at]) * cast<T>(x[at]) * ::pow(norm, -(T)beta) / norm;
    });
    const T direct = cast<T>(gradient[p]) * ::pow(cast<T>(norms[p]), -(T)beta);
    y[p] = cast<S>(direct - (T)(2 * alpha * beta / (double)size) * cast<T>(x[p]) * sum);
  }
}
"""
_ROW = """
extern "C" __global__ void __launch_bounds__(256, 4)
row_norm(const S* x, const S* gamma, const S* beta, S* y, S* mean_of, S* std_of, Long length,
         Long block, Long count, double eps) {
  const auto add = [](T a, T b) { return a + b; };
  const Long first = (Long)blockIdx.x * length;
  T sum = 0, squares = 0;
  for (Long i = threadIdx.x; i < length; i += 256) sum += cast<T>(x[first + i]);
  const T n = (T)(length > 0 ? length : 1), mean = joined(sum, add) / n;
  for (Long i = threadIdx.x; i < length; i += 256) {
    const T d = cast<T>(x[first + i]) - mean;
    squares += d * d;
  }
  const T std = (T)::sqrt((double)(joined(squares, add) / n) + eps), inverse = 1 / std;
  for (Long i = threadIdx.x; i < length; i += 256) {
    const Long at = first + i, number = at / block % count;
    y[at] = cast<S>((cast<T>(x[at]) - mean) * inverse * cast<T>(gamma[number]) +
                    cast<T>(beta[number]));
  }
  if (threadIdx.x == 0 && mean_of) mean_of[blockIdx.x] = cast<S>(mean);
  if (threadIdx.x == 0 && std_of) std_of[blockIdx.x] = cast<S>(std);
}
extern "C" __global__ void __launch_bounds__(256, 4)
row_norm_data(const S* gradient, const S* x, const S* gamma, const S* mean_of, const S* std_of,
              S* y, Long length, Long block, Long count) {
  const auto add = [](T a, T b) { return a + b; };
  const Long first = (Long)blockIdx.x * length;
  const T mean = cast<T>(mean_of[blockIdx.x]), inverse = 1 / cast<T>(std_of[blockIdx.x]);
  T sum = 0, product = 0;
  for (Long i = threadIdx.x; i < length; i += 256) {
    const Long at = first + i;
    const T g = cast<T>(gradient[at]) * cast<T>(gamma[at / block % count]);
    sum += g, product += g * (cast<T>(x[at]) - mean);
  }
  const T n = (T)(length > 0 ? length : 1);
  const T shift = joined(sum, add) / n, slope = joined(product, add) * inverse * inverse / n;
  for (Long i = threadIdx.x; i < length; i += 256) {
    const Long at = first + i;
    const T g = cast<T>(gradient[at]) * cast<T>(gamma[at / block % count]);
    y[at] = cast<S>((g - shift - (cast<T>(x[at]) - mean) * slope) * inverse);
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
row_norm_parameters(const S* gradient, const S* x, const S* mean_of, const S* std_of, S* by_gamma,
                    S* by_beta, Long outer, Long length, Long block, Long count) {
  const auto add = [](T a, T b) { return a + b; };
  T sum = 0, product = 0;
  for (Long q = threadIdx.x; q < outer * block; q += 256) {
    const Long at = (q / block * count + blockIdx.x) * block + q % block, row = at / length;
    const T g = cast<T>(gradient[at]);
    sum += g, product += g * (cast<T>(x[at]) - cast<T>(mean_of[row])) / cast<T>(std_of[row]);
  }
  sum = joined(sum, add), product = joined(product, add);
  if (threadIdx.x) return;
  if (by_gamma) by_gamma[blockIdx.x] = cast<S>(product);
  if (by_beta) by_beta[blockIdx.x] = cast<S>(sum);
}
"""


def _head(dtype):
    computed = "double" if dtype == _CODES["float64"] else "float"
    return f"{elements()}typedef {computed} T;\ntypedef {TYPES[dtype]} S;\n{_JOIN}"


@kernel(*(f"batch_norm{limit}{side}" for limit in _LIMITS for side in ("", "_grad")))
def batch_norm(request):
    """Batch normalisation, perhaps with an activation, and its gradients: one block per channel."""
    values, is_gradient = request.values, request.name.endswith("_grad")
    limit = request.name.removeprefix("batch_norm").removesuffix("_grad")
    data = request.ins[1 if is_gradient else 0]
    vectors = _CODES["float64"] if data.dtype == _CODES["float64"] else _CODES["float32"]
    if data.dtype not in _FLOATS or request.ins[2].dtype != vectors:
        return "requires a floating-point dtype"
    if not 0 < values["channels"] <= _MOST_LINES:
        return "has more channels than a grid has blocks"
    value, passed = _LIMITS[limit]
    settings = (
        f"#define BATCH {int(values['batch_stats'])}\n#define FIXED {int(values['fix_gamma'])}\n"
        f"#define LIMITED {int(limit != '')}\n#define VALUE ({value})\n#define PASSED ({passed})\n"
    )
    text = _head(data.dtype) + settings + _CHANNEL + (_BACKWARD if is_gradient else _FORWARD)
    count = 8 if is_gradient else 5
    # Without an activation the gradient does not read beta; any address will do.
    arguments = [Input(i if i < len(request.ins) else 2) for i in range(count)]
    arguments += [Output(i) for i in range(3)]
    arguments += [I64(values[name]) for name in ("outer", "channels", "inner")]
    arguments.append(F64(*request.number("eps")))
    if is_gradient:
        arguments.append(F64(*request.number("momentum")))
    name = "batch_norm_grad" if is_gradient else "batch_norm"
    return [Launch(text, name, (values["channels"],), arguments)]


@kernel("row_norm", "row_norm_grad")
def row_norm(request):
    """Row normalisation and its gradients: one block per row, then one per gamma."""
    values, (rows, length) = request.values, (request.values["rows"], request.values["length"])
    spec = request.ins[0]
    if spec.dtype not in _FLOATS or any(s.dtype != spec.dtype for s in request.ins):
        return "requires one floating-point dtype"
    if not (0 < rows <= _MOST_LINES and 0 < values["count"] <= _MOST_LINES and length):
        return "has more rows than a grid has blocks"
    sizes = [I64(values[name]) for name in ("length", "block", "count")]
    text = _head(spec.dtype) + _ROW
    if request.name == "row_norm":
        arguments = [*map(Input, range(3)), *map(Output, range(3)), *sizes]
        arguments.append(F64(*request.number("eps")))
        return [Launch(text, "row_norm", (rows,), arguments)]
    outer = rows * length // (values["count"] * values["block"])
    vectors = [Input(0), Input(1), Input(3), Input(4), Output(1), Output(2), I64(outer), *sizes]
    return [
        Launch(text, "row_norm_data", (rows,), [*map(Input, range(5)), Output(0), *sizes]),
        Launch(text, "row_norm_parameters", (values["count"],), vectors),
    ]


@kernel("lrn", "lrn_grad")
def neighbours(request):
    """Local response normalisation and its gradient."""
    values, data, n = request.values, request.ins[0], request.outs[0].size
    if data.dtype not in _FLOATS or any(s.dtype != data.dtype for s in request.ins):
        return "requires one floating-point dtype"
    arrays = [Input(0), Output(0), Output(1)]
    if request.name == "lrn_grad":
        arrays = [*map(Input, range(3)), Output(0)]
    arguments = [*arrays, I64(n), *(I64(values[f]) for f in ("channels", "inner", "nsize"))]
    arguments += [F64(*request.number(name)) for name in ("alpha", "beta", "knorm")]
    text = _head(data.dtype) + _NEIGHBOURS
    return [Launch(text, request.name, spread(n), arguments)]
