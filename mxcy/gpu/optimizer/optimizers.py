"""Optimizer steps; those of many weights are one launch.

Steps of 16-bit weights are computed in float32. In mixed precision the master weight and the states
are float32 and follow each other in the inputs.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import (
    F64,
    I64,
    Addresses,
    Input,
    Launch,
    Numbers,
    Output,
    Results,
    Sizes,
    spread,
)
from mxcy.gpu.table import TYPES, kernel

__all__ = ["other_types", "step_types"]

_FLOAT32, _FLOAT64 = dtypes.CODES["float32"], dtypes.CODES["float64"]
_FLOATS = _FLOAT32, _FLOAT64, dtypes.CODES["float16"], dtypes.CODES["bfloat16"]
_MOST_WEIGHTS = 40  # per launch: kernel arguments are limited
_MOST_AT_ONCE, _MOST_LAUNCHES = 50, 4  # per launch, if rates are in an array

#: name -> (number of states, statements that update w and the states a0... by g); they round as
#: the CPU's do, see leaf/optimizer/steps.h
_STEPS = {
    "sgd": (0, "w = (1 - lr * wd) * w - lr * clipped(rescale_grad * g, clip_gradient);"),
    "sgd_mom": (
        1,
        "a0 = momentum * a0 - lr * wd * w - lr * clipped(rescale_grad * g, clip_gradient);"
        " w = w + a0;",
    ),
    "nag_mom": (
        1,
        "const T old = momentum * a0; g = clipped(rescale_grad * g, clip_gradient);"
        " w = w - old + (momentum + 1) * (old - lr * (g + wd * w));"
        " a0 = old - lr * (g + wd * w);",
    ),
    "adam": (
        2,
        "g = clipped(g * rescale_grad + wd * w, clip_gradient);"
        " a0 = beta1 * a0 + (1 - beta1) * g;"
        " a1 = beta2 * a1 + (1 - beta2) * g * g;"
        " w = w - lr * a0 / (::sqrt(a1) + epsilon);",
    ),
    "rmsprop": (
        1,
        "g = clipped(g * rescale_grad + wd * w, clip_gradient);"
        " a0 = (1 - gamma1) * (g * g) + gamma1 * a0;"
        " w = clipped(w - lr * (g / ::sqrt(a0 + epsilon)), clip_weights);",
    ),
    "rmspropalex": (
        3,
        "g = clipped(g * rescale_grad + wd * w, clip_gradient);"
        " a0 = (1 - gamma1) * (g * g) + gamma1 * a0;"
        " a1 = (1 - gamma1) * g + gamma1 * a1;"
        " a2 = gamma2 * a2 - lr * (g / ::sqrt(a0 - a1 * a1 + epsilon));"
        " w = clipped(w + a2, clip_weights);",
    ),
    "signsgd": (0, "w = (1 - lr * wd) * w - lr * sign(g);"),
    "signum": (
        1,
        "const T rest = 1 - momentum;"
        " a0 = momentum * a0 - rest * wd * w - rest * clipped(rescale_grad * g, clip_gradient);"
        " w = (1 - lr * wd_lh) * w + lr * sign(a0);",
    ),
    "ftrl": (
        2,
        "g = clipped(rescale_grad * g, clip_gradient);"
        " const T total = a1 + g * g, root = ::sqrt(total);"
        " a0 = a0 + g - (root - ::sqrt(a1)) * w / lr; a1 = total;"
        " w = ::fabs(a0) > lamda1 ? (sign(a0) * lamda1 - a0) / ((beta + root) / lr + wd) : T(0);",
    ),
    "ftml": (
        3,
        "const T first = (T)(1 - ::pow(beta1_, t_)), second = (T)(1 - ::pow(beta2_, t_));"
        " g = clipped(g * rescale_grad + wd * w, clip_grad);"
        " a1 = beta2 * a1 + (1 - beta2) * (g * g);"
        " const T scale = first / lr * (::sqrt(a1 / second) + epsilon);"
        " a2 = beta1 * a2 + (1 - beta1) * g - (scale - beta1 * a0) * w;"
        " a0 = scale; w = -a2 / scale;",
    ),
    "_sparse_adagrad": (
        1,
        "g = clipped(rescale_grad * g, clip_gradient); a0 += g * g;"
        " w = w - lr * (g / ::sqrt(a0 + epsilon) + wd * w);",
    ),
    "_adamw": (
        2,
        "if (rescale_grad - rescale_grad == 0 && rescale_grad != 0) {"
        " g = clipped(g * rescale_grad, clip_gradient);"
        " a0 = beta1 * a0 + (1 - beta1) * g;"
        " a1 = beta2 * a1 + (1 - beta2) * (g * g);"
        " w = w - eta * (lr * a0 / (::sqrt(a1) + epsilon) + wd * w); }",
    ),
    "_adabelief": (
        2,
        "if (rescale_grad - rescale_grad == 0 && rescale_grad != 0) {"
        " g = clipped(g * rescale_grad + wd * w, clip_gradient);"
        " a0 = beta1 * a0 + (1 - beta1) * g;"
        " const T surprise = g - a0;"
        " a1 = beta2 * a1 + (1 - beta2) * (surprise * surprise) + epsilon;"
        " w = w - eta * (lr * a0 / (::sqrt(a1) + epsilon)); }",
    ),
}
#: steps with the gradient's scale as an input; a zero or non-finite one skips the step
_SCALED = "_adamw", "_adabelief"
_MIXED = {"mp_sgd": "sgd", "mp_sgd_mom": "sgd_mom", "mp_nag_mom": "nag_mom"} | {
    f"_mp{name}": name for name in _SCALED
}
_TOOLS = """
__device__ inline T clipped(T x, T bound) {
  return bound < 0 ? x : x > bound ? bound : x < -bound ? -bound : x;
}
__device__ inline T sign(T x) { return (T)(x > 0) - (T)(x < 0); }
"""


def step_types(dtype, mixed):
    """Return typedefs: S of weights, M of states, T for computation."""
    computed = "double" if dtype == _FLOAT64 else "float"
    states = "float" if mixed else TYPES[dtype]
    types = f"typedef {TYPES[dtype]} S;\ntypedef {states} M;\ntypedef {computed} T;\n"
    return f"{elements()}{types}{_TOOLS}"


def _body(states, statements, mixed):
    """Return the statements of a step for element `p`."""
    names = [f"s{i}" for i in range(states)]
    loads = " ".join(f"T a{i} = cast<T>({name}[p]);" for i, name in enumerate(names))
    stores = " ".join(f"{name}[p] = cast<M>(a{i});" for i, name in enumerate(names))
    weight = "cast<T>(master[p])" if mixed else "cast<T>(weight[p])"
    kept = "master[p] = cast<M>(w);" if mixed else ""
    return f"""T w = {weight}, g = cast<T>(gradient[p]);
    {loads}
    {statements}
    {stores}
    {kept}
    if (out) out[p] = cast<S>(w);"""


def other_types(ins, count, states, mixed):
    """Return why the dtypes of interleaved inputs are unsupported, or None."""
    per = 2 + states + mixed
    dtype = ins[0].dtype
    if dtype not in _FLOATS or (mixed and dtype == _FLOAT64):
        return "requires a floating-point dtype"
    own = _FLOAT32 if mixed else dtype
    for i, spec in enumerate(ins[: count * per]):
        if spec.dtype != (dtype if i % per < 2 else own):
            return "does not support these dtypes"
    return None


def _numbers(fields):
    """Return parameters for numbers, and statements that convert them."""
    parameters = "".join(f", double {field}_" for field in fields)
    return parameters, " ".join(f"const T {f} = (T){f}_; (void){f};" for f in fields)


@kernel(*(f"{name}_update" for name in (*_STEPS, *_MIXED)), inplace=True)
def step(request):
    """A step of one weight."""
    name = request.name.removesuffix("_update")
    mixed = name in _MIXED
    name = _MIXED.get(name, name)
    (states, statements), ins = _STEPS[name], request.ins
    reason = other_types(ins, 1, states, mixed)
    if reason is not None:
        return reason
    pointers = "".join(f", M* s{i}" for i in range(states)) + (", M* master" if mixed else "")
    parameters, locals_ = _numbers(request.values)
    scale = "" if name not in _SCALED else "const T rescale_grad = (T)*scale;"
    dtype = ins[0].dtype
    text = f"""{step_types(dtype, mixed)}
extern "C" __global__ void __launch_bounds__(256, 4)
update_step(const S* weight, const S* gradient, S* out{pointers}, const float* scale,
            Long n{parameters}) {{
  {locals_}
  {scale}
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    {_body(states, statements, mixed)}
  }}
}}
"""
    n = request.outs[0].size
    arguments = [Input(0), Input(1), Output(0), *(Input(2 + i) for i in range(states + mixed))]
    arguments += [Input(len(ins) - 1) if scale else I64(0), I64(n)]
    arguments += [F64(*request.number(field)) for field in request.values]
    return [Launch(text, "update_step", spread(n), arguments)]


def _many(name, dtype, mixed, count, numbers, rates):
    """Return the kernel of a step for `count` weights.

    Parameters
    ----------
    name : str
        The step's name.
    dtype : int
    mixed : bool
    count : int
    numbers : list of str
        Numbers common to all weights.
    rates : (str, str)
        Parameters, and statements that define `lr`, `wd`... of weight `i`.
    """
    states, statements = _STEPS[name]
    lists = "".join(f", Pointers states{i}" for i in range(states))
    lists += ", Pointers masters" if mixed else ""
    pointers = " ".join(f"M* s{i} = (M*)states{i}.of[i];" for i in range(states))
    pointers += " M* master = (M*)masters.of[i];" if mixed else ""
    parameters, locals_ = _numbers(numbers)
    given, taken = rates
    return f"""{step_types(dtype, mixed)}
struct Pointers {{ void* of[{count}]; }};
struct Counts {{ Long of[{count}]; }};
struct Rates {{ double of[{count}]; }};
extern "C" __global__ void __launch_bounds__(256, 4)
update_many(Pointers weights, Pointers gradients{lists}, Pointers outs, Counts sizes, {given}
            Long first{parameters}) {{
  const int i = blockIdx.y;
  {locals_}
  {taken}
  {pointers}
  const S *weight = (const S*)weights.of[i], *gradient = (const S*)gradients.of[i];
  S* out = (S*)outs.of[i];
  (void)weight, (void)first;
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < sizes.of[i];
       p += (Long)gridDim.x * blockDim.x) {{
    {_body(states, statements, mixed)}
  }}
}}
"""


def _launch(request, name, mixed, first, count, numbers, rates, arguments):
    """Return the launch for `count` weights from `first` on; `arguments` are those of the rates."""
    per = request.values["per"]
    text = _many(name, request.ins[0].dtype, mixed, count, numbers, rates)
    lists = [Addresses(first * per + place, per, count) for place in range(per)]
    lists += [Results(first, count), Sizes(first * per, per, count), *arguments, I64(first)]
    lists += [F64(*request.number(field)) for field in numbers]
    largest = max(spec.size for spec in request.outs[first : first + count])
    return Launch(text, "update_many", (*spread(largest), count), lists)


@kernel(*(f"multi_{mixed}sgd_{kind}update" for mixed in ("", "mp_") for kind in ("", "mom_")))
def steps(request):
    """A step of many weights in one launch: one row of blocks per weight."""
    values, count = request.values, request.values["weights"]
    name = request.name.removeprefix("multi_").removesuffix("_update")
    mixed = name in _MIXED
    name = _MIXED.get(name, name)
    reason = other_types(request.ins, count, _STEPS[name][0], mixed)
    if reason is not None or count > _MOST_WEIGHTS:
        return reason or f"takes up to {_MOST_WEIGHTS} weights"
    if values["preloaded"]:
        given, place = "const float* lrs, const float* wds,", len(request.ins) - 2
        taken = "const T lr = (T)lrs[i], wd = (T)wds[i];"
        arguments = [Input(place), Input(place + 1)]
    else:
        given = "Rates lrs, Rates wds,"
        taken = "const T lr = (T)lrs.of[i], wd = (T)wds.of[i];"
        arguments = [Numbers(request.numbers(field)[:count]) for field in ("lrs", "wds")]
    numbers = ["momentum", "rescale_grad", "clip_gradient"]
    return [_launch(request, name, mixed, 0, count, numbers, (given, taken), arguments)]


@kernel(*(f"_multi_{mixed}{name[1:]}_update" for mixed in ("", "mp_") for name in _SCALED))
def scaled_steps(request):
    """The same for steps with the gradient's scale as an input."""
    count, mixed = request.values["weights"], "_mp_" in request.name
    name = "_" + request.name.removesuffix("_update").rpartition("_")[2]
    reason = other_types(request.ins, count, _STEPS[name][0], mixed)
    if reason is not None or count > _MOST_WEIGHTS:
        return reason or f"takes up to {_MOST_WEIGHTS} weights"
    taken = "const T lr = (T)lrs.of[i], wd = (T)wds.of[i], eta = (T)etas.of[i];"
    taken += " const T rescale_grad = (T)*scale;"
    arguments = [Numbers(request.numbers(field)[:count]) for field in ("lrs", "wds", "etas")]
    arguments.append(Input(len(request.ins) - 1))
    rates = "Rates lrs, Rates wds, Rates etas, const float* scale,", taken
    numbers = ["beta1", "beta2", "epsilon", "clip_gradient"]
    return [_launch(request, name, mixed, 0, count, numbers, rates, arguments)]


_ALL = ("sgd", "sgd_mom", "nag_mom", "adam", "adamw")


@kernel(*(f"_{mixed}{name}_all" for mixed in ("", "mp_") for name in _ALL))
def steps_of_all(request):
    """A step of all weights with rates in an array: one launch per 50 weights."""
    values, count = request.values, request.values["weights"]
    name = request.name.removeprefix("_").removesuffix("_all")
    mixed = name.startswith("mp_")
    name = name.removeprefix("mp_")
    name = name if name in _STEPS else f"_{name}"
    reason = other_types(request.ins[:-1], count, _STEPS[name][0], mixed)
    if reason is not None or count > _MOST_AT_ONCE * _MOST_LAUNCHES:
        return reason or f"takes up to {_MOST_AT_ONCE * _MOST_LAUNCHES} weights"
    numbers = [field for field in values if field not in ("weights", "per")]
    taken = "const T lr = (T)rates[first + i], wd = (T)rates[count + first + i];"
    if name in _SCALED:
        taken += " const T eta = (T)rates[2 * count + first + i];"
    arguments = [Input(len(request.ins) - 1), I64(count)]
    rates = "const double* rates, Long count,", taken
    return [
        _launch(
            request,
            name,
            mixed,
            first,
            min(_MOST_AT_ONCE, count - first),
            numbers,
            rates,
            arguments,
        )
        for first in range(0, count, _MOST_AT_ONCE)
    ]
