"""Optimizer steps with a trust ratio per weight: LAMB and LANS.

The steps of many weights take two launches: the first one updates the averages and sums the squares
of weights and directions, block by block; the second one adds these sums in their order, which
depends on shapes alone, and moves the weights. LANS sums the squares of gradients before that.
"""

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
    Workspace,
    spread,
)
from mxcy.gpu.optimizer.optimizers import other_types, step_types
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import kernel

__all__ = []

_FLOAT32 = dtypes.CODES["float32"]
_STATES = 2  # the averages of the gradient and of its square
_MOST_BLOCKS, _EACH = 256, 1024  # blocks per weight, which the second launch adds; their elements
_CORRECTION = """
constexpr int RESIDENT = sizeof(T) == 8 ? 2 : 4;  // doubles need more registers
// 1 - decay^step, by which an average is divided.
__device__ inline double correction(double decay, double step) {
  return CORRECTS ? 1 - ::pow(decay, step) : 1;
}
// The bounded norm of the weight divided by that of a direction; 1 if either is 0.
__device__ inline double trust(double norm, double length, double lower, double upper) {
  if (lower >= 0 && norm < lower) norm = lower;
  if (upper >= 0 && norm > upper) norm = upper;
  return norm == 0 || length == 0 ? 1 : norm / length;
}
#define EACH(p, n)                                                           \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < (n);        \\
       p += (Long)gridDim.x * blockDim.x)
"""
_PHASES = """
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
lamb_direction(const M* weight, const S* gradient, M* mean, M* var, M* out, Long n, double beta1,
               double beta2, double epsilon, double t, double wd, double rescale, double bound) {
  __shared__ T corrections[2];
  if (threadIdx.x == 0) {
    corrections[0] = (T)correction(beta1, t);
    corrections[1] = (T)correction(beta2, t);
  }
  __syncthreads();
  const T fast = (T)beta1, slow = (T)beta2;
  EACH(p, n) {
    const T g = clipped(cast<T>(gradient[p]) * (T)rescale, (T)bound);
    const T along = fast * cast<T>(mean[p]) + (1 - fast) * g;
    const T squares = slow * cast<T>(var[p]) + (1 - slow) * g * g;
    const T root = ::sqrt(squares / corrections[1]) + (T)epsilon;
    const T w = cast<T>(weight[p]);
    mean[p] = cast<M>(along);
    var[p] = cast<M>(squares);
    if (out) out[p] = cast<M>(along / corrections[0] / root + (T)wd * w);
  }
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
lamb_step(const M* weight, const M* direction, const M* norm, const M* length, M* master, S* out,
          Long n, double lr, double lower, double upper) {
  const T step = (T)(lr * trust(cast<T>(*norm), cast<T>(*length), lower, upper));
  EACH(p, n) {
    const T w = cast<T>(weight[p]) - step * cast<T>(direction[p]);
    if (master) master[p] = cast<M>(w);
    if (out) out[p] = cast<S>(w);
  }
}
"""
_MANY = """
struct Pointers { void* of[COUNT]; };
struct Counts { Long of[COUNT]; };
struct Rates { double of[COUNT]; };
// What the launches for all weights share: for each weight its decay and the corrections of both
// averages; and by block sums of squares, of gradients, then of weights, directions and LANS's
// second directions.
struct Sums {
  double* memory;
  __device__ double* constants(int i) const { return memory + 3 * i; }
  __device__ double* gradients(int i) const { return memory + 3 * COUNT + (Long)i * gridDim.x; }
  __device__ double* norms(int i, int k) const {
    return memory + 3 * COUNT + (Long)(COUNT + 3 * i + k) * gridDim.x;
  }
};
struct Add { __device__ double operator()(double a, double b) const { return a + b; } };
// The root of a sum of squares, for all threads.
__device__ inline double norm_of(const double* parts) {
  return ::sqrt(joined(threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0.0, Add()));
}
// The number by which LANS divides a gradient.
__device__ inline T length_of(Sums sums, int i) {
  if (!LANS) return 1;
  const double length = norm_of(sums.gradients(i));
  return length > 0 ? (T)length : T(1);
}
__device__ inline T scaled(S gradient, T length, T rescale, T bound) {
  const T g = cast<T>(gradient);
  return clipped(LANS ? g / length : g * rescale, bound);
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
gradient_squares(Pointers gradients, Counts sizes, double* memory) {
  const int i = blockIdx.y;
  const S* gradient = (const S*)gradients.of[i];
  const Sums sums = {memory};
  double squares = 0;
  EACH(p, sizes.of[i]) {
    const double g = cast<double>(gradient[p]);
    squares += g * g;
  }
  squares = joined(squares, Add());
  if (threadIdx.x == 0) sums.gradients(i)[blockIdx.x] = squares;
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
move_averages(Pointers weights, Pointers gradients, Pointers means, Pointers vars, Counts sizes,
              Rates wds, Rates steps, double* memory, double beta1, double beta2, double epsilon,
              double rescale, double bound) {
  __shared__ T corrections[2];
  const int i = blockIdx.y;
  const Sums sums = {memory};
  if (threadIdx.x == 0) {
    const double first = correction(beta1, steps.of[i]), second = correction(beta2, steps.of[i]);
    corrections[0] = (T)first, corrections[1] = (T)second;
    double* constants = sums.constants(i);
    if (blockIdx.x == 0) constants[0] = wds.of[i], constants[1] = first, constants[2] = second;
  }
  __syncthreads();
  const M* weight = (const M*)weights.of[i];
  const S* gradient = (const S*)gradients.of[i];
  M *mean = (M*)means.of[i], *var = (M*)vars.of[i];
  const T fast = (T)beta1, slow = (T)beta2, wd = (T)wds.of[i], length = length_of(sums, i);
  double squares[3] = {0, 0, 0};
  EACH(p, sizes.of[i]) {
    const T w = cast<T>(weight[p]), g = scaled(gradient[p], length, (T)rescale, (T)bound);
    const T a = fast * cast<T>(mean[p]) + (1 - fast) * g;
    const T b = slow * cast<T>(var[p]) + (1 - slow) * g * g;
    mean[p] = cast<M>(a);
    var[p] = cast<M>(b);
    const T root = ::sqrt(b / corrections[1]) + (T)epsilon;
    const T along = a / corrections[0] / root + wd * w, other = g / root + wd * w;
    squares[0] += (double)w * (double)w;
    squares[1] += (double)along * (double)along;
    if (LANS) squares[2] += (double)other * (double)other;
  }
  for (int k = 0; k < 2 + LANS; ++k) {
    const double sum = joined(squares[k], Add());
    if (threadIdx.x == 0) sums.norms(i, k)[blockIdx.x] = sum;
  }
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
move_weights(Pointers weights, Pointers gradients, Pointers means, Pointers vars, Pointers outs,
             Counts sizes, Rates lrs, double* memory, double beta1, double epsilon,
             double rescale, double lower, double upper, double bound) {
  const int i = blockIdx.y;
  M* weight = (M*)weights.of[i];
  const S* gradient = (const S*)gradients.of[i];
  const M *mean = (const M*)means.of[i], *var = (const M*)vars.of[i];
  S* out = (S*)outs.of[i];
  const Sums sums = {memory};
  const double norm = norm_of(sums.norms(i, 0));
  const T length = length_of(sums, i), share = LANS ? (T)beta1 : T(1);
  const T slow = (T)trust(norm, norm_of(sums.norms(i, 1)), lower, upper) * share;
  const T fast = LANS ? (T)trust(norm, norm_of(sums.norms(i, 2)), lower, upper) * (1 - share) : 0;
  const double* constants = sums.constants(i);
  const T wd = (T)constants[0], first = (T)constants[1], second = (T)constants[2];
  const T lr = (T)lrs.of[i];
  (void)gradient, (void)length, (void)fast;
  EACH(p, sizes.of[i]) {
    const T w = cast<T>(weight[p]), root = ::sqrt(cast<T>(var[p]) / second) + (T)epsilon;
    T move = (cast<T>(mean[p]) / first / root + wd * w) * slow;
    if (LANS) {
      const T g = scaled(gradient[p], length, (T)rescale, (T)bound);
      move += (g / root + wd * w) * fast;
    }
    const T next = w - lr * move;
    if (MIXED) weight[p] = cast<M>(next);
    if (out) out[p] = cast<S>(next);
  }
}
"""


def _text(request, mixed, settings, body):
    lines = "".join(f"#define {name} {int(value)}\n" for name, value in settings.items())
    return f"{step_types(request.ins[0].dtype, mixed)}{lines}{_CORRECTION}{body}"


@kernel("lamb_update_phase1", "mp_lamb_update_phase1")
def direction(request):
    """The direction of a step of LAMB."""
    mixed, values, ins = request.name.startswith("mp_"), request.values, request.ins
    reason = other_types(ins, 1, _STATES, mixed)
    if reason is not None:
        return reason
    text = _text(request, mixed, {"CORRECTS": values["bias_correction"]}, _PHASES)
    n = request.outs[0].size
    arguments = [Input(4 if mixed else 0), *map(Input, (1, 2, 3)), Output(0), I64(n)]
    fields = ("beta1", "beta2", "epsilon", "t", "wd", "rescale_grad", "clip_gradient")
    arguments += [F64(*request.number(field)) for field in fields]
    return [Launch(text, "lamb_direction", spread(n), arguments)]


@kernel("lamb_update_phase2", "mp_lamb_update_phase2", inplace=True)
def along(request):
    """A step of LAMB along its direction."""
    mixed, ins = request.name.startswith("mp_"), request.ins
    weight, *others = ins
    own = _FLOAT32 if mixed else weight.dtype
    reason = other_types([weight, weight], 1, 0, False)
    if reason is None and any(spec.dtype != own for spec in others):
        reason = "does not support these dtypes"
    if reason is not None:
        return reason
    text = _text(request, mixed, {"CORRECTS": 0}, _PHASES)
    master, n = Input(4) if mixed else I64(0), request.outs[0].size
    arguments = [Input(4 if mixed else 0), *map(Input, (1, 2, 3)), master, Output(0), I64(n)]
    arguments += [F64(*request.number(field)) for field in ("lr", "lower_bound", "upper_bound")]
    return [Launch(text, "lamb_step", spread(n), arguments)]


@kernel(*(f"_multi_{mixed}{name}_update" for mixed in ("", "mp_") for name in ("lamb", "lans")))
def steps(request):
    """Steps of LAMB or LANS for many weights."""
    values, count, per = request.values, request.values["weights"], request.values["per"]
    mixed, lans = "_mp_" in request.name, "lans" in request.name
    reason = other_types(request.ins, count, _STATES, mixed)
    if reason is not None:
        return reason
    largest = max(spec.size for spec in request.outs)
    blocks = max(1, min(_MOST_BLOCKS, -(-largest // _EACH)))
    settings = {"CORRECTS": values["bias_correction"], "LANS": lans, "MIXED": mixed}
    settings |= {"COUNT": count}
    text = _text(request, mixed, settings, joining_text() + _MANY)
    request.workspace = 8 * count * (3 + 4 * blocks)
    weights, gradients, means, averages = (
        Addresses(place, per, count) for place in (4 if mixed else 0, 1, 2, 3)
    )
    sizes, sums, grid = Sizes(0, per, count), Workspace(), (blocks, count)

    def rates(field):
        return Numbers(request.numbers(field)[:count])

    def numbers(*fields):
        return [F64(*request.number(field)) for field in fields]

    before = [Launch(text, "gradient_squares", grid, [gradients, sizes, sums])] if lans else []
    arguments = [weights, gradients, means, averages, sizes, rates("wds"), rates("step_count")]
    arguments += [sums, *numbers("beta1", "beta2", "epsilon", "rescale_grad", "clip_gradient")]
    moved = [weights, gradients, means, averages, Results(0, count), sizes]
    moved += [rates("learning_rates"), sums]
    moved += numbers(
        "beta1", "epsilon", "rescale_grad", "lower_bound", "upper_bound", "clip_gradient"
    )
    return [
        *before,
        Launch(text, "move_averages", grid, arguments),
        Launch(text, "move_weights", grid, moved),
    ]
