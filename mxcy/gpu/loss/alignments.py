"""CTC (connectionist temporal classification) loss and gradient, one block per sequence.

The states of an alignment are the labels with blanks before, between and after them. Recursions
over time process the states of a step in parallel, in float64 logarithms as on the CPU; expected
counts of a class are summed in the order of its states.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import I64, Input, Launch, Output, Workspace
from mxcy.gpu.table import TYPES, kernel

__all__ = ["alignment_text"]

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_TEXT = """
__device__ inline double log_sum(double a, double b, double c) {
  const double top = a > b ? a > c ? a : c : b > c ? b : c;
  return top > -kInfinity ? top + ::log(::exp(a - top) + ::exp(b - top) + ::exp(c - top)) : top;
}
#define EACH(i, n) for (Long i = threadIdx.x; i < (n); i += 256)
extern "C" __global__ void __launch_bounds__(256, 2)
ctc(const S* data, const L* label, const D* data_lengths, const E* label_lengths, S* loss,
    S* gradient, double* memory, Long all_steps, Long batch, Long classes, Long all_labels,
    Long blank, Long padding) {
  const Long b = blockIdx.x, width = 2 * all_labels + 1;
  double* emitted = memory + b * ((2 * all_steps + 3) * width + 2 * all_steps);
  double *paths = emitted + all_steps * width, *after = paths + all_steps * width;
  double *left = after + width, *tops = left + 2 * width, *inverses = tops + all_steps;
  Long* next = (Long*)(left + width);
  Long counted = data_lengths ? cast<Long>(data_lengths[b]) : all_steps, labels = 0;
  counted = counted < 0 ? 0 : counted < all_steps ? counted : all_steps;
  const Long steps = counted > 0 ? counted : 1;
  const L* own = label + b * all_labels;
  if (label_lengths) labels = cast<Long>(label_lengths[b]);
  else
    while (labels < all_labels && cast<Long>(own[labels]) != padding) ++labels;
  bool possible = labels >= 0 && labels <= all_labels;
  const Long states = possible ? 2 * labels + 1 : 1;
  const auto class_of = [&](Long s) {
    const Long wanted = s % 2 ? cast<Long>(own[s / 2]) : blank;
    return wanted < 0 ? (Long)0 : wanted < classes ? wanted : classes - 1;
  };
  const auto skips = [&](Long s) { return s % 2 && s > 1 && class_of(s) != class_of(s - 2); };
  const auto row_of = [&](Long t) { return (t * batch + b) * classes; };
  double total = -kInfinity;
  if (possible) {
    // Maximum score and reciprocal sum of exponentials of each step, one warp per step.
    for (Long t = threadIdx.x / 32; t < steps; t += 8) {
      double top = -kInfinity, sum = 0;
      for (Long c = threadIdx.x % 32; c < classes; c += 32) {
        const double x = cast<double>(data[row_of(t) + c]);
        top = x > top ? x : top;
      }
      for (int step = 16; step; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, top, step);
        top = other > top ? other : top;
      }
      for (Long c = threadIdx.x % 32; c < classes; c += 32)
        sum += ::exp(cast<double>(data[row_of(t) + c]) - top);
      for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      if (threadIdx.x % 32 == 0) tops[t] = top, inverses[t] = 1 / sum;
    }
    __syncthreads();
    EACH(i, steps * states) {
      const Long t = i / states, s = i % states;
      const double x = cast<double>(data[row_of(t) + class_of(s)]);
      emitted[t * width + s] = x - tops[t] + ::log(inverses[t]);
      if (t == 0) paths[s] = s < 2 ? emitted[s] : -kInfinity;
    }
    __syncthreads();
    // Forward variables: log probabilities of the paths up to each state.
    for (Long t = 1; t < steps; ++t) {
      const double* before = paths + (t - 1) * width;
      EACH(s, states) {
        const double one = s > 0 ? before[s - 1] : -kInfinity;
        const double two = skips(s) ? before[s - 2] : -kInfinity;
        paths[t * width + s] = log_sum(before[s], one, two) + emitted[t * width + s];
      }
      __syncthreads();
    }
    const double* last = paths + (steps - 1) * width + states;
    total = log_sum(last[-1], states > 1 ? last[-2] : -kInfinity, -kInfinity);
    possible = total > -kInfinity;
  }
  if (threadIdx.x == 0) loss[b] = cast<S>(possible ? -total : 0.0);
  if (!gradient) return;
  __syncthreads();  // all have read the previous step
  if (possible) {
    EACH(s, states) left[s] = s + 2 >= states ? 0 : -kInfinity;
    __syncthreads();
    // Backward variables; `paths` become the posteriors of the states.
    for (Long t = steps - 1; t >= 0; --t) {
      EACH(s, states) {
        paths[t * width + s] = ::exp(paths[t * width + s] + left[s] - total);
        after[s] = left[s] + emitted[t * width + s];
      }
      __syncthreads();
      EACH(s, states) {
        const double one = s + 1 < states ? after[s + 1] : -kInfinity;
        const double two = s + 2 < states && skips(s + 2) ? after[s + 2] : -kInfinity;
        left[s] = log_sum(after[s], one, two);
      }
      __syncthreads();
    }
    // For each state the next one of the same class, and whether it is the first of them.
    EACH(s, states) {
      const Long own_class = class_of(s);
      Long other = s + 1;
      while (other < states && class_of(other) != own_class) ++other;
      next[s] = other;
      other = s - 1;
      while (other >= 0 && class_of(other) != own_class) --other;
      after[s] = other;
    }
  }
  EACH(i, all_steps * classes) {
    const Long t = i / classes, at = row_of(t) + i % classes;
    const bool counts = possible && t < counted;
    gradient[at] = cast<S>(counts ? ::exp(cast<double>(data[at]) - tops[t]) * inverses[t] : 0.0);
  }
  __syncthreads();
  if (!possible) return;
  EACH(i, counted * states) {
    const Long t = i / states, s = i % states;
    if (after[s] >= 0) continue;
    double expected = 0;
    for (Long k = s; k < states; k = next[k]) expected += paths[t * width + k];
    const Long at = row_of(t) + class_of(s);
    const double share = ::exp(cast<double>(data[at]) - tops[t]) * inverses[t];
    gradient[at] = cast<S>(share - expected);
  }
}
"""


def alignment_text(dtype, label, data_lengths, label_lengths):
    """Return the source of the loss for the dtypes of its inputs."""
    types = zip("SLDE", (dtype, label, data_lengths, label_lengths), strict=True)
    return elements() + "".join(f"typedef {TYPES[t]} {n};\n" for n, t in types) + _TEXT


@kernel("ctc_loss")
def losses(request):
    """CTC losses and the gradients of the scores."""
    values, (data, label, *_) = request.values, request.ins
    if request.dtype not in _FLOATS or data.dtype != request.dtype:
        return "requires a floating-point dtype"
    numbers = [values[name] for name in ("data_lengths", "label_lengths")]
    lengths = [request.ins[i].dtype if i >= 0 else label.dtype for i in numbers]
    steps, batch, width = values["steps"], values["batch"], 2 * values["labels"] + 1
    request.workspace = batch * ((2 * steps + 3) * width + 2 * steps) * 8
    arguments = [Input(0), Input(1), *(Input(i) if i >= 0 else I64(0) for i in numbers)]
    arguments += [Output(0), Output(1), Workspace(), I64(steps), I64(batch)]
    arguments += [I64(values[name]) for name in ("classes", "labels", "blank", "padding")]
    return [Launch(alignment_text(data.dtype, label.dtype, *lengths), "ctc", (batch,), arguments)]
