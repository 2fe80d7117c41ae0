"""Gradients of SoftmaxOutput and SVMOutput."""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, Workspace, spread
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_TEXT = """
#define EACH(i) for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < n; \\
                     i += (Long)gridDim.x * blockDim.x)
// Divisor of the gradients: the number of labels that are not ignored.
extern "C" __global__ void __launch_bounds__(256, 4)
count_valid(const S* labels, double* divisor, Long n, double ignored) {
  double valid = 0;
  for (Long i = threadIdx.x; i < n; i += 256) valid += cast<Long>(labels[i]) != (Long)ignored;
  valid = joined(valid, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) *divisor = valid > 0 ? valid : 1;
}
// Labels are class numbers as floats, truncated.
extern "C" __global__ void __launch_bounds__(256, 4)
softmax_output_grad(const S* result, const S* labels, S* out, const double* divisor, Long n,
                    Long classes, Long inner, Long probabilities, Long use_ignore, double ignored,
                    double smooth, double factor) {
  const T scale = (T)(factor / (divisor ? *divisor : 1.0));
  const T others = inner == 1 ? (T)(smooth / (double)(classes > 1 ? classes - 1 : 1)) : T(0);
  const T own = inner == 1 ? (T)(1 - smooth) : T(1);
  EACH(i) {
    const T x = cast<T>(result[i]);
    if (probabilities) {
      out[i] = cast<S>((x - cast<T>(labels[i])) * scale);
      continue;
    }
    const Long label = cast<Long>(labels[i / (classes * inner) * inner + i % inner]);
    const bool hit = label == i / inner % classes, counts = !use_ignore || label != (Long)ignored;
    out[i] = cast<S>(counts ? (x - (hit ? own : others)) * scale : T(0));
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
svm_output_grad(const S* scores, const S* labels, S* out, Long n, Long classes, Long linear,
                double margin, double weight) {
  const T most = (T)margin, factor = (T)(linear ? weight : 2 * weight);
  EACH(i) {
    const bool hit = cast<Long>(labels[i / classes]) == i % classes;
    const T x = hit ? -cast<T>(scores[i]) : cast<T>(scores[i]), violation = x + most;
    const T pushed = violation > 0 ? (linear ? factor : violation * factor) : T(0);
    out[i] = cast<S>(hit ? -pushed : pushed);
  }
}
"""


def _text(request):
    """Return the CUDA source, or None for unsupported dtypes."""
    dtype = request.ins[0].dtype
    if dtype not in _FLOATS or any(s.dtype != dtype for s in (*request.ins, *request.outs)):
        return None
    computed = "double" if dtype == dtypes.CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\n"
    return f"{elements()}{types}{joining_text()}{_TEXT}"


@kernel("softmax_output_grad")
def of_softmax(request):
    """Gradient of the cross entropy with respect to the scores."""
    text, values, n = _text(request), request.values, request.outs[0].size
    if text is None:
        return "requires one floating-point dtype"
    ignored, launches, divisor = F64(*request.number("ignore_label")), [], I64(0)
    if values["valid"]:
        request.workspace, divisor = 8, Workspace()
        arguments = [Input(1), divisor, I64(values["labels"]), ignored]
        launches.append(Launch(text, "count_valid", (1,), arguments))
    arguments = [Input(0), Input(1), Output(0), divisor, I64(n)]
    names = ("classes", "inner", "probabilities", "use_ignore")
    arguments += [I64(int(values[name])) for name in names]
    arguments.append(ignored)
    arguments += [F64(*request.number(name)) for name in ("smooth_alpha", "scale")]
    return [*launches, Launch(text, "softmax_output_grad", spread(n), arguments)]


@kernel("svm_output_grad")
def of_margins(request):
    """Gradient of the hinge loss with respect to the scores."""
    text, values, n = _text(request), request.values, request.outs[0].size
    if text is None:
        return "requires one floating-point dtype"
    arguments = [Input(0), Input(1), Output(0), I64(n)]
    arguments += [I64(int(values[name])) for name in ("classes", "linear")]
    arguments += [F64(*request.number(name)) for name in ("margin", "weight")]
    return [Launch(text, "svm_output_grad", spread(n), arguments)]
