"""Steps of optimizers on devices; those of many weights are one launch."""

from mxcy._base import dtypes
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
from mxcy.gpu.pointwise import elements
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = dtypes.CODES["float32"], dtypes.CODES["float64"]
_MOST_WEIGHTS = 40  # of a launch, whose arguments are limited
_MOST_AT_ONCE, _MOST_LAUNCHES = 60, 4  # the same where outputs come as a list

#: name -> (number of states, statements that compute w from w, g and states); they round where the
#: CPU's do, see leaf/optimizer/steps.h
_STEPS = {
    "sgd_update": (0, "w = (1 - lr * wd) * w - lr * clipped(rescale_grad * g, clip_gradient);"),
    "sgd_mom_update": (
        1,
        "s0[p] = momentum * s0[p] - lr * wd * w - lr * clipped(rescale_grad * g, clip_gradient);"
        " w = w + s0[p];",
    ),
    "adam_update": (
        2,
        "g = clipped(g * rescale_grad + wd * w, clip_gradient);"
        " s0[p] = beta1 * s0[p] + (1 - beta1) * g;"
        " s1[p] = beta2 * s1[p] + (1 - beta2) * g * g;"
        " w = w - lr * s0[p] / (::sqrt(s1[p]) + epsilon);",
    ),
}
_CLIP = """
__device__ inline T clipped(T x, T bound) {
  return bound < 0 ? x : x > bound ? bound : x < -bound ? -bound : x;
}
"""


def _head(dtype):
    return f"{elements()}typedef {TYPES[dtype]} T;\n{_CLIP}"


@kernel(*_STEPS, inplace=True)
def step(request):
    """One step for one weight."""
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins):
        return "it computes float32 and float64"
    states, statements = _STEPS[request.name]
    fields = list(request.values)
    pointers = "".join(f", T* s{i}" for i in range(states))
    numbers = "".join(f", double {field}_" for field in fields)
    locals_ = " ".join(f"const T {field} = (T){field}_;" for field in fields)
    text = f"""{_head(request.dtype)}
extern "C" __global__ void __launch_bounds__(256, 4)
update_step(const T* weight, const T* gradient, T* out{pointers}, Long n{numbers}) {{
  {locals_}
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    T w = weight[p], g = gradient[p];
    {statements}
    out[p] = w;
  }}
}}
"""
    n = request.outs[0].size
    arguments = [Input(0), Input(1), Output(0), *(Input(2 + i) for i in range(states)), I64(n)]
    arguments += [F64(*request.number(field)) for field in fields]
    return [Launch(text, "update_step", spread(n), arguments)]


@kernel("multi_sgd_update", "multi_sgd_mom_update", inplace=True)
def steps(request):
    """One step for many weights, in one launch: a row of blocks for each."""
    values, count, per = request.values, request.values["weights"], request.values["per"]
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins):
        return "it computes float32 and float64"
    if values["preloaded"] or count > _MOST_WEIGHTS:
        return f"it takes up to {_MOST_WEIGHTS} weights and their rates as attributes"
    states, statements = _STEPS[request.name.removeprefix("multi_")]
    momentum = "const T momentum = (T)momentum_; T* s0 = momenta.of[i];" if states else ""
    outs = "".join(f", T* out{i}" for i in range(count))
    cases = " ".join(f"case {i}: out = out{i}; break;" for i in range(count))
    text = f"""{_head(request.dtype)}
struct Pointers {{ T* of[{count}]; }};
struct Counts {{ Long of[{count}]; }};
struct Rates {{ double of[{count}]; }};
extern "C" __global__ void __launch_bounds__(256, 4)
update_steps(Pointers weights, Pointers gradients, Pointers momenta, Counts sizes, Rates lrs,
             Rates wds, double momentum_, double rescale_, double clip_{outs}) {{
  const int i = blockIdx.y;
  T* out = nullptr;
  switch (i) {{ {cases} }}
  const T lr = (T)lrs.of[i], wd = (T)wds.of[i];
  const T rescale_grad = (T)rescale_, clip_gradient = (T)clip_;
  {momentum}
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < sizes.of[i];
       p += (Long)gridDim.x * blockDim.x) {{
    T w = weights.of[i][p], g = gradients.of[i][p];
    {statements}
    out[p] = w;
  }}
}}
"""
    arguments = [
        Addresses(0, per, count),
        Addresses(1, per, count),
        Addresses(2 if states else 1, per, count),
        Sizes(0, per, count),
        Numbers(request.numbers("lrs")[:count]),
        Numbers(request.numbers("wds")[:count]),
        F64(*request.number("momentum")),
        F64(*request.number("rescale_grad")),
        F64(*request.number("clip_gradient")),
        *(Output(i) for i in range(count)),
    ]
    largest = max(spec.size for spec in request.outs)
    return [Launch(text, "update_steps", (*spread(largest), count), arguments)]


@kernel("_sgd_all", "_sgd_mom_all", "_adam_all", inplace=True)
def steps_of_all(request):
    """One step for all weights, by rates in an array: a launch for every 60 of them."""
    values, (count, per) = request.values, (request.values["weights"], request.values["per"])
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins[:-1]):
        return "it computes float32 and float64"
    if count > _MOST_AT_ONCE * _MOST_LAUNCHES:
        return f"it takes up to {_MOST_AT_ONCE * _MOST_LAUNCHES} weights"
    states, statements = _STEPS[request.name.removeprefix("_").removesuffix("_all") + "_update"]
    fields = [field for field in values if field not in ("weights", "per")]
    launches = []
    for first in range(0, count, _MOST_AT_ONCE):
        part = min(_MOST_AT_ONCE, count - first)
        text = _head(request.dtype) + _of_all(part, fields, states, statements)
        arguments = [Addresses(first * per + place, per, part) for place in range(2 + states)]
        arguments += [Results(first, part), Sizes(first * per, per, part)]
        arguments += [Input(len(request.ins) - 1), I64(first), I64(count)]
        arguments += [F64(*request.number(field)) for field in fields]
        largest = max(spec.size for spec in request.outs[first : first + part])
        launches.append(Launch(text, "update_all", (*spread(largest), part), arguments))
    return launches


def _of_all(part, fields, states, statements):
    """The kernel of a launch for so many weights."""
    numbers = "".join(f", double {field}_" for field in fields)
    locals_ = " ".join(f"const T {field} = (T){field}_; (void){field};" for field in fields)
    lists = "".join(f", Pointers states{i}" for i in range(states))
    pointers = " ".join(f"T* s{i} = states{i}.of[i];" for i in range(states))
    return f"""
struct Pointers {{ T* of[{part}]; }};
struct Counts {{ Long of[{part}]; }};
extern "C" __global__ void __launch_bounds__(256, 4)
update_all(Pointers weights, Pointers gradients{lists}, Pointers outs, Counts sizes,
           const double* rates, Long first, Long count{numbers}) {{
  const int i = blockIdx.y;
  const T lr = (T)rates[first + i], wd = (T)rates[count + first + i];
  {locals_}
  {pointers}
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < sizes.of[i];
       p += (Long)gridDim.x * blockDim.x) {{
    T w = weights.of[i][p], g = gradients.of[i][p];
    {statements}
    outs.of[i][p] = w;
  }}
}}
"""
