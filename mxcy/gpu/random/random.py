"""Random numbers by Philox, from the streams of kernels/cuda/random.cc.

The first launch of a call draws, the second one advances the streams, so replays of a CUDA graph
draw new numbers.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import F64, I64, Alarm, Input, Launch, Output, Random, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = ["COUNTED", "INTEGERS", "dropout_text"]

_CODES = dtypes.CODES
_REAL = tuple(map(_CODES.get, ("float32", "float64", "float16")))
_WHOLE = tuple(map(_CODES.get, ("int8", "uint8", "int32", "int64", "bool")))

COUNTED = """
extern "C" __global__ void counted(Sets* sets) { next_call(sets); }
"""
#: distribution -> a sample of type T with parameters a and b
_SAMPLES = {
    "uniform": "a + (b - a) * below_one<T>(&d)",
    "normal": "a + b * normal<T>(&d)",
    "exponential": "-::log(above_zero<T>(&d)) / a",
    "gamma": "b * gamma_of<T>(&d, a)",
    "poisson": "poisson(&d, a)",
    "binomial": "binomial(&d, a, b)",
    "negative_binomial": "poisson(&d, gamma_of<double>(&d, a) * (1 - b) / b)",
    "generalized_negative_binomial": (
        "b == 0 ? poisson(&d, a) : poisson(&d, gamma_of<double>(&d, 1.0 / b) * b * a)"
    ),
    "laplace": "a + b * ((d.bits() & 1 ? T(1) : T(-1)) * -::log(above_zero<T>(&d)))",
    "gumbel": "a - b * ::log(::fmax(-::log(above_zero<T>(&d)), T(0x1p-60)))",
    "logistic": "a + b * logit<T>(&d)",
    "rayleigh": "b * ::sqrt(T(-2) * ::log(above_zero<T>(&d)))",
    "weibull": "::pow(-::log(above_zero<T>(&d)), 1 / b)",
    "pareto": "::expm1(-::log(above_zero<T>(&d)) / b)",
    "powerd": "::pow(above_zero<T>(&d), 1 / b)",
    "bernoulli": "below_one<T>(&d) < b ? T(1) : T(0)",
    "bernoulli_logit": "below_one<T>(&d) * (1 + ::exp(-b)) < 1 ? T(1) : T(0)",
}
_LOGIT = """
template <class T> __device__ inline T logit(Draws* d) {
  const T u = above_zero<T>(d);
  return ::log(u / (1 - u + T(0x1p-60)));
}
"""
_DRAW = """
extern "C" __global__ void __launch_bounds__(256, 2)
draw(const Sets* sets, {parameters}O* out, Long n, Long each, double first, double second) {{
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    Draws d(sets, p);
    const T a = {a}, b = {b};
    (void)a, (void)b;
    out[p] = cast<O>({sample});
  }}
}}
"""
# A thread draws as many neighbouring elements as one counter has words for.
_FOUR = """
extern "C" __global__ void __launch_bounds__(256, 2)
draw(const Sets* sets, O* out, Long n, Long, double first, double second) {{
  const T a = (T)first, b = (T)second;
  for (Long q = (Long)blockIdx.x * blockDim.x + threadIdx.x; q * {count} < n;
       q += (Long)gridDim.x * blockDim.x) {{
    Draws d(sets, q);
    T x[{count}];
    for (int k = 0; k < {count}; k += {step}) {one}
    for (int k = 0; k < {count} && q * {count} + k < n; ++k)
      out[q * {count} + k] = cast<O>({scaled});
  }}
}}
"""
_LOCATION = "a + b * z", "z", "b >= 0", "scale >= 0"
#: distribution of `mx.np.random` -> noise z; the sample, and its derivative by the last parameter;
#: the condition on parameters, in CUDA and for the error message
_OF_NOISE = {
    "uniform": ("below_one<T>(&d)", "a + (b - a) * z", "z", "true", ""),
    "normal": ("normal<T>(&d)", *_LOCATION),
    "laplace": ("(d.bits() & 1 ? T(1) : T(-1)) * -::log(above_zero<T>(&d))", *_LOCATION),
    "gumbel": ("-::log(::fmax(-::log(above_zero<T>(&d)), T(0x1p-60)))", *_LOCATION),
    "logistic": ("logit<T>(&d)", *_LOCATION),
    "exponential": ("-::log(above_zero<T>(&d))", *_LOCATION),
    "rayleigh": ("::sqrt(T(-2) * ::log(above_zero<T>(&d)))", *_LOCATION),
    "weibull": (
        "-::log(above_zero<T>(&d))",
        "::pow(z, 1 / b)",
        "z > 0 ? -::pow(z, 1 / b) * ::log(z) / (b * b) : T(0)",
        *("b > 0", "a > 0"),
    ),
    "pareto": (
        "-::log(above_zero<T>(&d))",
        *("::expm1(z / b)", "-::exp(z / b) * z / (b * b)", "b > 0", "a > 0"),
    ),
    "powerd": (
        "above_zero<T>(&d)",
        *("::pow(z, 1 / b)", "-::pow(z, 1 / b) * ::log(z) / (b * b)", "b > 0", "a > 0"),
    ),
    "gamma": ("gamma_of<T>(&d, a)", "b * z", "z", "a > 0 && b > 0", "shape > 0 and scale > 0"),
    "bernoulli": (
        "below_one<T>(&d)",
        *("z < b ? T(1) : T(0)", "0", "b >= 0 && b <= 1", "0 <= prob <= 1"),
    ),
    "bernoulli_logit": (
        "below_one<T>(&d)",
        *("z * (1 + ::exp(-b)) < 1 ? T(1) : T(0)", "0", "true", ""),
    ),
}
# Array parameters are broadcast to the samples.
_ARRAYS = """
extern "C" __global__ void __launch_bounds__(256, 2)
draw(const Sets* sets, {inputs}O* out, O* slope, Alarm alarm, Long n, double first,
     double second{extents}) {{
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    Long q = p, at0 = 0, at1 = 0;
    {places}
    (void)q, (void)at0, (void)at1;
    Draws d(sets, p);
    const T a = {a}, b = {b};
    if (!({fits})) set_alarm(alarm);
    const T z = {noise};
    (void)a;
    out[p] = cast<O>({sample});
    if (slope) slope[p] = cast<O>((T)({slope}));
  }}
}}
"""
INTEGERS = """
extern "C" __global__ void __launch_bounds__(256, 2)
draw(const Sets* sets, O* out, Long n, Long low, Long range) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    Draws d(sets, p);
    const unsigned long long high = d.bits();
    out[p] = cast<O>(low + (Long)((high << 32 | d.bits()) % (unsigned long long)range));
  }
}
"""
_DROPOUT = """
extern "C" __global__ void __launch_bounds__(256, 2)
drop(const Sets* sets, const S* x, S* y, S* mask, Long n, double p) {
  const float keep = 1 - (float)p, scale = 1 / keep;
  for (Long q = (Long)blockIdx.x * blockDim.x + threadIdx.x; q * 4 < n;
       q += (Long)gridDim.x * blockDim.x) {
    Draws d(sets, q);
    for (Long i = q * 4; i < q * 4 + 4 && i < n; ++i) {
      const float m = (below_one<float>(&d) < keep ? 1.f : 0.f) * scale;
      mask[i] = cast<S>(m);
      if (y) y[i] = cast<S>(cast<T>(x[i]) * (T)m);
    }
  }
}
extern "C" __global__ void __launch_bounds__(256, 2)
masked(const S* x, const S* mask, S* y, Long n{extents}) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    Long q = p, at = 0;
    {place}
    y[p] = cast<S>(cast<T>(x[p]) * cast<T>(mask[at]));
  }
}
"""


def _text(computed, out, body):
    """Return CUDA source with the types T, for computation, and O, of samples."""
    types = f"typedef {computed} T;\ntypedef {TYPES[out.dtype]} O;\n"
    return f"{elements()}{text_of('philox.cuh')}{_LOGIT}{types}{COUNTED}{body}"


def _launches(text, grid, arguments, name="draw", dropout=False):
    streams = Random(dropout)
    return [
        Launch(text, name, grid, [streams, *arguments]),
        Launch(text, "counted", (1,), [streams], block=1),
    ]


def _computed(name, out):
    double = "binomial" in name or name == "poisson" or out.dtype == _CODES["float64"]
    return "double" if double else "float"


def _numbers(request, fields):
    """Return the launches of samples with scalar parameters."""
    (out, *slope), name = request.outs, request.name.partition("_")[2]
    if slope or out.dtype not in (*_REAL, *_WHOLE):
        return "draws real dtypes, without gradients"
    computed = _computed(name, out)
    numbers = [request.number(field) for field in fields]
    numbers += [(0.0, None)] * (2 - len(numbers))
    if name in ("uniform", "normal"):
        count = 4 if computed == "float" else 2
        draw, step, scaled = "x[k] = below_one<T>(&d);", 1, "a + (b - a) * x[k]"
        if name == "normal":
            draw, step, scaled = "normals(&d, x + k, x + k + 1);", 2, "a + b * x[k]"
        if name == "normal" and computed == "double":
            count = 2  # one counter has four words
        body = _FOUR.format(count=count, step=step, one=draw, scaled=scaled)
        grid = spread(out.size, count)
    else:
        body = _DRAW.format(parameters="", a="(T)first", b="(T)second", sample=_SAMPLES[name])
        grid = spread(out.size)
    arguments = [Output(0), I64(out.size), I64(0), *(F64(*number) for number in numbers)]
    return _launches(_text(computed, out, body), grid, arguments)


@kernel(*(f"random_{name}" for name in list(_SAMPLES)[:8]))
def of_numbers(request):
    """random_*: samples with scalar parameters."""
    return _numbers(request, list(request.values))


@kernel(*(f"np_{name}" for name in _SAMPLES if name not in list(_SAMPLES)[4:8]))
def of_numpy(request):
    """Samples of mx.np.random."""
    if request.values["arrays"]:
        return _of_arrays(request)
    if request.name == "np_exponential":
        return _numbers_of(request, "-::log(above_zero<T>(&d)) * b")
    return _numbers(request, ["first", "second"])


def _of_arrays(request):
    """Return the launches of samples with broadcast array parameters."""
    (out, *slopes), ins, values = request.outs, request.ins, request.values
    if any(spec.dtype not in (*_REAL, *_WHOLE) for spec in (*ins, out)):
        return "requires real dtypes"
    noise, sample, slope, fits, needs = _OF_NOISE[request.name.partition("_")[2]]
    double = any(spec.dtype == _CODES["float64"] for spec in (*ins, out))
    ndim = len(out.shape)
    steps = [_broadcast_steps(spec.shape, ndim) for spec in ins]
    names = [f"extent{d}" for d in range(ndim)]
    names += [f"step{i}_{d}" for i in range(len(ins)) for d in range(ndim)]
    places = ""
    for d in reversed(range(ndim)):
        moves = "".join(f"at{i} += q % extent{d} * step{i}_{d}; " for i in range(len(ins)))
        places += f"{moves}q /= extent{d};\n    "
    inputs = iter(f"cast<T>(in{i}[at{i}])" for i in range(len(ins)))
    numbers = [next(inputs) if values["arrays"] & 1 << i else None for i in range(2)]
    body = _ARRAYS.format(
        inputs="".join(f"const {TYPES[s.dtype]}* in{i}, " for i, s in enumerate(ins)),
        extents="".join(f", Long {name}" for name in names),
        places=places,
        a=numbers[0] or "(T)first",
        b=numbers[1] or "(T)second",
        fits=fits,
        noise=noise,
        sample=sample,
        slope=slope,
    )
    alarm = Alarm(f"np.random: {needs} is required", "ValueError: ") if needs else Alarm()
    arguments = [*map(Input, range(len(ins))), Output(0), Output(1) if slopes else I64(0), alarm]
    arguments += [I64(out.size), *(F64(*request.number(name)) for name in ("first", "second"))]
    arguments += map(I64, (*out.shape, *sum(steps, [])))
    text = _text("double" if double else "float", out, text_of("alarms.cuh") + body)
    return _launches(text, spread(out.size), arguments)


def _broadcast_steps(shape, ndim):
    """Return the strides of an array broadcast to `ndim` dimensions."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(0 if extent == 1 else step)
        step *= extent
    return [0] * (ndim - len(steps)) + steps[::-1]


def _numbers_of(request, sample):
    (out,) = request.outs[:1]
    computed = _computed("", out)
    body = _DRAW.format(parameters="", a="(T)first", b="(T)second", sample=sample)
    arguments = [Output(0), I64(out.size), I64(0), F64(*request.number("first"))]
    arguments.append(F64(*request.number("second")))
    return _launches(_text(computed, out, body), spread(out.size), arguments)


@kernel(*(f"sample_{name}" for name in list(_SAMPLES)[:8]))
def of_rows(request):
    """sample_*: samples for each element of parameter arrays."""
    (out,), name = request.outs, request.name.partition("_")[2]
    rows = request.ins[0].size
    if any(spec.dtype not in (*_REAL, *_WHOLE) for spec in (*request.ins, out)):
        return "requires real dtypes"
    computed = _computed(name, out)
    body = _DRAW.format(
        parameters="".join(f"const {TYPES[s.dtype]}* in{i}, " for i, s in enumerate(request.ins)),
        a="cast<T>(in0[p / each])",
        b="cast<T>(in1[p / each])" if len(request.ins) > 1 else "0",
        sample=_SAMPLES[name],
    )
    arguments = [Input(i) for i in range(len(request.ins))]
    arguments += [Output(0), I64(out.size), I64(out.size // rows), F64(0.0), F64(0.0)]
    return _launches(_text(computed, out, body), spread(out.size), arguments)


@kernel("random_randint")
def integers(request):
    """Integers in [low, high)."""
    (out,), values = request.outs, request.values
    arguments = [Output(0), I64(out.size), I64(values["low"]), I64(values["high"] - values["low"])]
    if values["high"] - values["low"] >= 1 << 63:
        return "has a range of 2**63 or more"
    return _launches(_text("double", out, INTEGERS), spread(out.size), arguments)


def dropout_text(dtype):
    """Return the source of ``drop``, which draws and applies masks, and of ``counted``.

    Parameters
    ----------
    dtype : int
    """
    computed = "double" if dtype == _CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\n"
    drop = _DROPOUT.partition('extern "C" __global__ void __launch_bounds__(256, 2)\nmasked')[0]
    return f"{elements()}{text_of('philox.cuh')}{types}{COUNTED}{drop}"


@kernel("dropout", inplace=True)
def dropout(request):
    """Dropout: the scaled mask, and its product with the data."""
    from mxcy.gpu.shape.copying import copy_all

    (data,), (out, mask), p = request.ins, request.outs, request.values["p"]
    if data.dtype not in _REAL:
        return "requires a floating-point dtype"
    if p == 0:
        return [copy_all(data, out)]
    full_mask = mask.size == data.size
    names = [f"{side}{d}" for side in ("extent", "step") for d in range(len(data.shape))]
    places = "".join(
        f"at += q % extent{d} * step{d}; q /= extent{d}; " for d in reversed(range(len(data.shape)))
    )
    body = _DROPOUT.replace("{extents}", "".join(f", Long {name}" for name in names))
    computed = "double" if data.dtype == _CODES["float64"] else "float"
    text = _text(computed, out, f"typedef O S;\n{body.replace('{place}', places)}")
    arguments = [
        Input(0),
        Output(0) if full_mask else I64(0),
        Output(1),
        I64(mask.size),
        F64(float(p)),
    ]
    launches = _launches(text, spread(mask.size, 4), arguments, "drop", dropout=True)
    if not full_mask:
        steps, step = [], 1
        for extent in reversed(mask.shape):
            steps.append(0 if extent == 1 else step)
            step *= extent
        arguments = [Input(0), Output(1), Output(0), I64(data.size)]
        arguments += [*map(I64, data.shape), *map(I64, reversed(steps))]
        launches.append(Launch(text, "masked", spread(data.size), arguments))
    return launches
