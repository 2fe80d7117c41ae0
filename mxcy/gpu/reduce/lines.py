"""Reductions and softmax over lines of elements.

A line is reduced by a block of 256 threads, or by one thread if it is short. Partial results are
combined in an order that depends on the shape alone, so results are deterministic.
"""

import math

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = ["joining_text"]

_CODES = dtypes.CODES
_FLOATS = tuple(map(_CODES.get, ("float32", "float64", "float16", "bfloat16")))
_WHOLE = tuple(map(_CODES.get, ("int8", "uint8", "int32", "int64", "bool")))
_THREADS, _SHORT, _MOST_LINES = 256, 64, (1 << 31) - 1

_JOIN = """
template <class T, class Join> __device__ inline T joined(T x, Join join) {
  __shared__ T parts[8];
  for (int step = 16; step; step /= 2) x = join(x, __shfl_xor_sync(0xffffffffu, x, step));
  __syncthreads();  // the parts of the previous call have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = parts[0];
  for (int i = 1; i < 8; ++i) x = join(x, parts[i]);
  return x;
}
"""
_LENGTHS = """
extern "C" __global__ void __launch_bounds__(256, 4)
softmax_length(const S* x, const I* lengths, S* y, Long extent, Long inner, double factor) {
  const Long line = blockIdx.x, base = line / inner * extent * inner + line % inner;
  const Long given = (Long)lengths[line], length = given < extent ? given : extent;
  const T scale = (T)factor;
  const auto larger = [](T a, T b) { return a > b ? a : b; };
  T most = (T)-kInfinity, sum = 0;
  for (Long k = threadIdx.x; k < length; k += 256)
    most = larger(scale * cast<T>(x[base + k * inner]), most);
  most = joined(most, larger);
  for (Long k = threadIdx.x; k < length; k += 256)
    sum += ::exp(scale * cast<T>(x[base + k * inner]) - most);
  sum = joined(sum, [](T a, T b) { return a + b; });
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const Long at = base + k * inner;
    y[at] = cast<S>(k < length ? ::exp(scale * cast<T>(x[at]) - most) / sum : T(0));
  }
}
"""
_SPREAD = """
extern "C" __global__ void __launch_bounds__(256, 4)
spread(const S* x, U* y, U* norm, Long extent, Long inner, double number) {
  const Long line = blockIdx.x, base = line / inner * extent * inner + line % inner;
  const auto add = [](double a, double b) { return a + b; };
  double mean = 0, squares = 0;
#if CENTRED
  for (Long k = threadIdx.x; k < extent; k += 256) mean += cast<double>(x[base + k * inner]);
  mean = joined(mean, add) / (double)extent;
#endif
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const double d = cast<double>(x[base + k * inner]) - mean;
    squares += d * d;
  }
  squares = joined(squares, add);
#if CENTRED
  (void)norm;
  squares /= (double)extent - number;
  if (threadIdx.x == 0) y[line] = cast<U>(ROOT ? ::sqrt(squares) : squares);
#else
  const double root = ::sqrt(squares + number);
  if (threadIdx.x == 0 && norm) norm[line] = cast<U>(root);
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const Long at = base + k * inner;
    y[at] = cast<U>(cast<double>(x[at]) / root);
  }
#endif
}
"""
_ARG = """
// Whether x at i beats y at j: NaN beats numbers, ties go to the first.
__device__ inline bool better(T x, Long i, T y, Long j) {
  if (x != x || y != y) return x != x && (y == y || i < j);
  return x == y ? i < j : LARGEST ? x > y : x < y;
}
extern "C" __global__ void __launch_bounds__(256, 4)
arg(const S* x, U* y, Long lines, Long extent, Long inner) {
#if BLOCK
  __shared__ T values[256];
  __shared__ Long places[256];
  const Long line = blockIdx.x, first = threadIdx.x, step = 256;
#else
  const Long first = 0, step = 1;
  for (Long line = (Long)blockIdx.x * blockDim.x + threadIdx.x; line < lines;
       line += (Long)gridDim.x * blockDim.x)
#endif
  {
    const Long base = line / inner * extent * inner + line % inner;
    Long place = first < extent ? first : 0;
    T best = read(x[base + place * inner]);
    for (Long k = first + step; k < extent; k += step) {
      const T value = read(x[base + k * inner]);
      if (better(value, k, best, place)) best = value, place = k;
    }
#if BLOCK
    values[threadIdx.x] = best, places[threadIdx.x] = place;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if ((int)threadIdx.x < half &&
          better(values[threadIdx.x + half], places[threadIdx.x + half], values[threadIdx.x],
                 places[threadIdx.x])) {
        values[threadIdx.x] = values[threadIdx.x + half];
        places[threadIdx.x] = places[threadIdx.x + half];
      }
    }
    place = places[0];
    if (threadIdx.x) return;
#endif
    y[line] = cast<U>(place);
  }
}
"""
_SOFTMAX = """
extern "C" __global__ void __launch_bounds__(256, 4)
softmax(const S* x, const S* given, U* y, Long extent, Long inner, double factor) {
  const Long line = blockIdx.x, base = line / inner * extent * inner + line % inner;
  const T scale = (T)factor;
  const auto larger = [](T a, T b) { return a > b ? a : b; };
  const auto add = [](T a, T b) { return a + b; };
  (void)larger;
#if GRADIENT
  T sum = 0;
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const Long at = base + k * inner;
    sum += cast<T>(x[at]) * (LOGARITHM ? T(1) : cast<T>(given[at]));
  }
  sum = joined(sum, add);
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const Long at = base + k * inner;
    const T g = cast<T>(x[at]), p = cast<T>(given[at]);
    y[at] = cast<U>(scale * (LOGARITHM ? g - ::exp(p) * sum : p * (g - sum)));
  }
#else
  T most = (T)-kInfinity, sum = 0;
  for (Long k = threadIdx.x; k < extent; k += 256)
    most = larger(scale * cast<T>(x[base + k * inner]), most);
  most = joined(most, larger);
  for (Long k = threadIdx.x; k < extent; k += 256)
    sum += ::exp(scale * cast<T>(x[base + k * inner]) - most);
  sum = joined(sum, add);
  for (Long k = threadIdx.x; k < extent; k += 256) {
    const Long at = base + k * inner;
    const T moved = scale * cast<T>(x[at]) - most;
    y[at] = cast<U>(LOGARITHM ? moved - ::log(sum) : ::exp(moved) / sum);
  }
#endif
}
"""


def joining_text():
    """Return the source of ``joined``, a block-wide reduction."""
    return _JOIN


def _lines_of(values):
    """Return the number of lines, None if it exceeds the blocks of a grid."""
    lines = values["outer"] * values["inner"]
    return lines if lines <= _MOST_LINES else None


@kernel("softmax", "log_softmax", "softmax_grad", "log_softmax_grad", inplace=True)
def softmax(request):
    """softmax, log_softmax, and their gradients."""
    values, (out,), data = request.values, request.outs[:1], request.ins[0]
    if data.dtype not in _FLOATS or out.dtype not in _FLOATS:
        return "requires a floating-point dtype"
    gradient = request.name.endswith("_grad")
    if gradient and request.ins[1].dtype != data.dtype:
        return "requires arrays of one dtype"
    lines = values["outer"] * values["inner"]
    if lines > _MOST_LINES:
        return "has more rows than a grid has blocks"
    computed = "double" if data.dtype == _CODES["float64"] else "float"
    text = (
        f"{elements()}typedef {computed} T;\ntypedef {TYPES[data.dtype]} S;\n"
        f"typedef {TYPES[out.dtype]} U;\n#define GRADIENT {int(gradient)}\n"
        f"#define LOGARITHM {int(request.name.startswith('log'))}\n{_JOIN}{_SOFTMAX}"
    )
    arguments = [Input(0), Input(1 if gradient else 0), Output(0)]
    arguments += [I64(values["extent"]), I64(values["inner"]), F64(*request.number("scale"))]
    return [Launch(text, "softmax", (lines,), arguments)]


#: name -> (neutral element, term of an element, combination of a and b, final result)
_REDUCTIONS = {
    "sum": ("0", "x", "a + b", "w"),
    "mean": ("0", "x", "a + b", "w / (W)reduced"),
    "prod": ("1", "x", "a * b", "w"),
    "nansum": ("0", "x != x ? W(0) : x", "a + b", "w"),
    "nanprod": ("1", "x != x ? W(1) : x", "a * b", "w"),
    "sum_abs": ("0", "x < 0 ? -x : x", "a + b", "w"),
    "norm2": ("0", "x * x", "a + b", "::sqrt(w)"),
    "sum_square": ("0", "x * x", "a + b", "w"),
    "max": ("LEAST", "x", "a != a ? a : b != b ? b : a > b ? a : b", "w"),
    "min": ("MOST", "x", "a != a ? a : b != b ? b : a < b ? a : b", "w"),
}
_LIMITS = {
    True: ("(W)-kInfinity", "(W)kInfinity"),
    False: ("(-0x7fffffffffffffffll - 1)", "0x7fffffffffffffffll"),
}


def _offsets(ndim, first_reduced):
    """Return statements that add the offsets of kept and reduced dimensions to `at`."""
    sides = {False: [], True: []}
    stride = "1"
    for d in reversed(range(ndim)):
        is_reduced = (d % 2 == 0) == bool(first_reduced)
        sides[is_reduced].append(f"at += q % shape{d} * ({stride}); q /= shape{d};")
        stride = f"shape{d} * {stride}"
    return " ".join(sides[False]), " ".join(sides[True])


def _reduction(request, accumulator, threads):
    ndim = request.values["ndim"]
    neutral, element, join, result = _REDUCTIONS[request.name]
    least, most = _LIMITS[accumulator == "double"]
    neutral = {"LEAST": least, "MOST": most}.get(neutral, neutral)
    kept, reduced = _offsets(ndim, request.values["first_reduced"])
    shapes = "".join(f", Long shape{d}" for d in range(ndim))
    many = threads > 1
    return f"""{elements()}typedef {accumulator} W;
{_JOIN if many else ""}
__device__ inline W element(W x) {{ return {element}; }}
__device__ inline W finish(W w, Long reduced) {{ return {result}; }}
extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const {TYPES[request.ins[0].dtype]}* x, {TYPES[request.outs[0].dtype]}* y, Long lines,
       Long length{shapes}) {{
  const auto join = [](W a, W b) {{ return {join}; }};
  for (Long line = {"blockIdx.x" if many else "(Long)blockIdx.x * blockDim.x + threadIdx.x"};
       line < lines; line += {"gridDim.x" if many else "(Long)gridDim.x * blockDim.x"}) {{
    Long base;
    {{ Long at = 0, q = line; {kept} base = at; (void)q; }}
    W w = {neutral};
    for (Long k = {"threadIdx.x" if many else "0"}; k < length; k += {threads}) {{
      Long at = base, q = k;
      {reduced}
      w = join(w, element(cast<W>(x[at])));
    }}
    {"w = joined(w, join);" if many else ""}
    {"if (threadIdx.x == 0)" if many else ""} y[line] =
        cast<{TYPES[request.outs[0].dtype]}>(finish(w, length));
  }}
}}
"""


@kernel(*_REDUCTIONS)
def reduce(request):
    """Reduction over some dimensions."""
    data, out, ndim = request.ins[0], request.outs[0], request.values["ndim"]
    if data.dtype in _FLOATS and out.dtype in _FLOATS:
        accumulator = "double"
    elif data.dtype in _WHOLE and out.dtype in _WHOLE and request.name in ("sum", "max", "min"):
        accumulator = "Long"
    else:
        return "does not support this dtype"
    if ndim > 8 or not ndim:
        return "reduces up to 8 dimensions after merging"
    shape = list(request.values["shape"])[:ndim]
    lines = out.size
    length = math.prod(shape) // lines if lines else 0
    threads = _THREADS if length >= _SHORT else 1
    grid = (max(1, min(lines, 65535)),) if threads > 1 else spread(lines)
    arguments = [Input(0), Output(0), I64(lines), I64(length), *map(I64, shape)]
    return [Launch(_reduction(request, accumulator, threads), "reduce", grid, arguments)]


@kernel("softmax_length")
def softmax_of_lengths(request):
    """softmax over a length of each line; the other elements are 0."""
    values, (data, lengths), (out,) = request.values, request.ins, request.outs
    lines = _lines_of(values)
    if data.dtype not in _FLOATS or out.dtype != data.dtype or lines is None:
        return "requires a floating-point dtype"
    computed = "double" if data.dtype == _CODES["float64"] else "float"
    text = (
        f"{elements()}typedef {computed} T;\ntypedef {TYPES[data.dtype]} S;\n"
        f"typedef {TYPES[lengths.dtype]} I;\n{_JOIN}{_LENGTHS}"
    )
    arguments = [Input(0), Input(1), Output(0), I64(values["extent"]), I64(values["inner"])]
    arguments.append(F64(*request.number("scale")))
    return [Launch(text, "softmax_length", (lines,), arguments)]


@kernel("var", "std", "l2_normalize")
def spread_of(request):
    """var and std of lines, and L2 normalisation."""
    values, data, out = request.values, request.ins[0], request.outs[0]
    lines, is_normal = _lines_of(values), request.name == "l2_normalize"
    if data.dtype not in (*_FLOATS, *_WHOLE) or out.dtype not in _FLOATS or lines is None:
        return "requires a real dtype"
    settings = f"#define CENTRED {int(not is_normal)}\n#define ROOT {int(request.name == 'std')}\n"
    types = f"typedef {TYPES[data.dtype]} S;\ntypedef {TYPES[out.dtype]} U;\n"
    arguments = [Input(0), Output(0), Output(1) if is_normal else I64(0)]
    arguments += [I64(values["extent"]), I64(values["inner"])]
    arguments.append(F64(*request.number("eps" if is_normal else "ddof")))
    text = f"{elements()}{settings}{types}{_JOIN}{_SPREAD}"
    return [Launch(text, "spread", (lines,), arguments)]


@kernel("argmax", "argmin")
def arg(request):
    """argmax and argmin of each line."""
    values, (data,), (out,) = request.values, request.ins, request.outs
    lines = _lines_of(values)
    if data.dtype not in TYPES or out.dtype not in TYPES or lines is None:
        return "requires a real dtype"
    name = TYPES[data.dtype]
    compared = {"Half": "float", "Bf16": "float", "Bool": "unsigned char"}.get(name, name)
    is_long = values["extent"] >= _SHORT
    text = (
        f"{elements()}typedef {compared} T;\ntypedef {name} S;\ntypedef {TYPES[out.dtype]} U;\n"
        f"#define LARGEST {int(request.name == 'argmax')}\n#define BLOCK {int(is_long)}\n{_ARG}"
    )
    arguments = [Input(0), Output(0), I64(lines), I64(values["extent"]), I64(values["inner"])]
    return [Launch(text, "arg", (lines,) if is_long else spread(lines), arguments)]
