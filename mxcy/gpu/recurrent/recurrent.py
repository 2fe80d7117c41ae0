"""Recurrent layers: time steps of the cells and their gradients.

``kernels/cuda/rnn.cc`` runs a call: one input product for all time steps, then per step a product
with the hidden state and one kernel for the cells of all samples, which adds biases, applies
activations and updates the states; a projection adds its product and a kernel for the hidden
states. States are not copied: a step reads them from the layer's output or, for variable-length
sequences, from the outputs for the last states.
"""

from mxcy._base import dtypes
from mxcy.gpu.compile import function
from mxcy.gpu.copies import memory_type
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.matrix.blas import is_open, way_of
from mxcy.gpu.matrix.products import strided_text
from mxcy.gpu.random.random import dropout_text
from mxcy.gpu.table import TYPES, NativeCall, kernel
from mxcy.ops.core.params import RNN, RNN_PLAN

__all__ = []

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_LSTM, _ALIGNED = 2, 256
_MOST_ROWS = 64 * 65535  # of our product kernel, which has blocks of 64 rows
_NAMES = "own saved below then d_gates d_own d_below d_above raw d_raw d_projected"
_PLACES = dict.fromkeys(_NAMES.split(), 0)  # offsets in the workspace, 0 for unused parts
_HEAD = """
#define GATES {gates}
#define PROJECTED {projected}
#define CLIPS {clips}
#define EACH(p, count)                                                         \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < (count);      \\
       p += (Long)gridDim.x * blockDim.x)
__device__ inline T sigmoid(T x) {{ return 1 / (1 + ::exp(-x)); }}
// The bounds of an LSTM's cell states, rounded as these are.
struct Bounds {{
  T low, high;
  __device__ Bounds(double low_, double high_)
      : low(cast<T>(cast<S>(low_))), high(cast<T>(cast<S>(high_))) {{}}
  __device__ T clipped(T x) const {{
    if (CLIPS == 2 && x != x) return low;
    if (CLIPS && x < low) x = low;
    return CLIPS && x > high ? high : x;
  }}
  // The gradient before clipping; a state at a bound was clipped.
  __device__ T before(T x, T gradient) const {{
    return !CLIPS || (x > low && x < high) ? gradient : T(0);
  }}
}};
"""
_STEP = """
extern "C" __global__ void __launch_bounds__(256, 4)
cell_step(S* gates, const S* own, const S* bias, S* extra, S* out, Long wide,
          const S* hidden_then, Long apart, const S* cell_then, S* hidden_last, S* cell_last,
          const L* lengths, Long step, Long batch, Long hidden, double low, double high) {{
  const Bounds bounds(low, high);
  (void)extra, (void)cell_then, (void)bounds;
  EACH(p, batch * hidden) {{
    const Long n = p / hidden, j = p % hidden, first = n * GATES * hidden + j;
    const auto from_input = [&](int g) {{
      return cast<T>(gates[first + g * hidden]) + cast<T>(bias[g * hidden + j]);
    }};
    const auto from_hidden = [&](int g) {{
      return cast<T>(own[first + g * hidden]) + cast<T>(bias[(GATES + g) * hidden + j]);
    }};
    const auto keep = [&](int g, T x) {{ gates[first + g * hidden] = cast<S>(x); }};
    // With a projection `hidden_step` updates the hidden states.
    const T hidden_now = PROJECTED ? T(0) : cast<T>(hidden_then[n * apart + j]);
    T cell_now = 0;
    {step}
    // Beyond its length a sequence outputs zeros and keeps its states.
    const bool alive = !lengths || (double)step < cast<double>(lengths[n]);
    out[n * wide + j] = cast<S>(alive ? result : T(0));
    if (hidden_last && !PROJECTED) hidden_last[p] = cast<S>(alive ? result : hidden_now);
    if (cell_last) cell_last[p] = cast<S>(alive ? cell_now : cast<T>(cell_then[p]));
  }}
}}
extern "C" __global__ void __launch_bounds__(256, 4)
hidden_step(const S* out, Long wide, const S* hidden_then, Long apart, S* hidden_last,
            const L* lengths, Long step, Long batch, Long size) {{
  EACH(p, batch * size) {{
    const Long n = p / size, j = p % size;
    const bool alive = !lengths || (double)step < cast<double>(lengths[n]);
    hidden_last[p] = alive ? out[n * wide + j] : hidden_then[n * apart + j];
  }}
}}
"""
_BACK = """
extern "C" __global__ void __launch_bounds__(256, 4)
cell_back(const S* gates, const S* extra, const S* hidden_first, const S* out, Long wide,
          const S* cell_first, const S* d_out, const S* d_hidden_after, const S* d_cell_after,
          S* d_hidden, S* d_cell, S* d_gates, S* d_own, S* then, const L* lengths, Long step,
          Long before, Long batch, Long hidden, double low, double high) {{
  const Bounds bounds(low, high);
  (void)extra, (void)cell_first, (void)bounds;
  EACH(p, batch * hidden) {{
    const Long n = p / hidden, j = p % hidden, row = step * batch + n;
    const Long first = row * GATES * hidden + j;
    const double length = lengths ? cast<double>(lengths[n]) : kInfinity;
    // The states before this step: those of the previous step, or the initial ones.
    const bool starts = before < 0 || (double)before >= length;
    const Long earlier = before * batch + n;
#if !PROJECTED
    const S found = starts ? hidden_first[p] : out[earlier * wide + j];
    then[row * hidden + j] = found;
#endif
    const auto gate = [&](int g) {{ return cast<T>(gates[first + g * hidden]); }};
#if PROJECTED
    then[row * hidden + j] = cast<S>({raw});
#endif
    const auto pass = [&](int g, T d, T own) {{
      d_gates[first + g * hidden] = cast<S>(d);
      if (d_own != d_gates) d_own[first + g * hidden] = cast<S>(own);
    }};
    if ((double)step >= length) {{
      for (int g = 0; g < GATES; ++g) pass(g, 0, 0);
      if (!PROJECTED) d_hidden[p] = d_hidden_after[p];
      if (d_cell) d_cell[p] = d_cell_after[p];
      continue;
    }}
#if PROJECTED
    const T d_result = cast<T>(d_out[p]);
#else
    const T d_result = cast<T>(d_hidden_after[p]) + cast<T>(d_out[row * wide + j]);
    const T hidden_now = cast<T>(found);
    (void)hidden_now;
#endif
    T through = 0;
    {back}
    if (!PROJECTED) d_hidden[p] = cast<S>(through);  // the product adds the rest
  }}
}}
extern "C" __global__ void __launch_bounds__(256, 4)
hidden_back(const S* hidden_first, const S* out, Long wide, const S* d_out,
            const S* d_hidden_after, S* d_hidden, S* d_projected, S* then, const L* lengths,
            Long step, Long before, Long batch, Long size) {{
  EACH(p, batch * size) {{
    const Long n = p / size, j = p % size, at = (step * batch + n) * size + j;
    const double length = lengths ? cast<double>(lengths[n]) : kInfinity;
    const bool starts = before < 0 || (double)before >= length;
    then[at] = starts ? hidden_first[p] : out[(before * batch + n) * wide + j];
    const bool ended = (double)step >= length;
    const T d = cast<T>(d_hidden_after[p]);
    const T d_now = d + cast<T>(d_out[(step * batch + n) * wide + j]);
    d_projected[at] = cast<S>(ended ? T(0) : d_now);
    d_hidden[p] = cast<S>(ended ? d : T(0));  // the product adds the rest
  }}
}}
"""
#: an LSTM cell's output before the projection
_RAW = "gate(3) * ::tanh(cast<T>(extra[row * hidden + j]))"
#: statements of a step, which set `result`, and of its gradient, which propagate `d_result`
_PLAIN = (
    "const T x = from_input(0) + from_hidden(0), result = {forward}; keep(0, result);",
    "const T y = gate(0), d = {backward}; pass(0, d, d);",
)
_LSTM_CELL = (
    "const T in_gate = sigmoid(from_input(0) + from_hidden(0)); "
    "const T forget_gate = sigmoid(from_input(1) + from_hidden(1)); "
    "const T candidate = ::tanh(from_input(2) + from_hidden(2)); "
    "const T out_gate = sigmoid(from_input(3) + from_hidden(3)); "
    "cell_now = bounds.clipped(forget_gate * cast<T>(cell_then[p]) + in_gate * candidate); "
    "keep(0, in_gate), keep(1, forget_gate), keep(2, candidate), keep(3, out_gate); "
    "extra[p] = cast<S>(cell_now); "
    "const T result = out_gate * ::tanh(cell_now);",
    "const T in_gate = gate(0), forget_gate = gate(1), candidate = gate(2), out_gate = gate(3); "
    "const T cell_now = cast<T>(extra[row * hidden + j]), tanh_cell = ::tanh(cell_now); "
    "const T cell = cast<T>(starts ? cell_first[p] : extra[earlier * hidden + j]); "
    "const T slope = out_gate * (1 - tanh_cell * tanh_cell); "
    "const T d = bounds.before(cell_now, cast<T>(d_cell_after[p]) + d_result * slope); "
    "const T d_in_gate = d * candidate * in_gate * (1 - in_gate); "
    "const T d_forget_gate = d * cell * forget_gate * (1 - forget_gate); "
    "const T d_candidate = d * in_gate * (1 - candidate * candidate); "
    "const T d_out_gate = d_result * tanh_cell * out_gate * (1 - out_gate); "
    "pass(0, d_in_gate, d_in_gate), pass(1, d_forget_gate, d_forget_gate); "
    "pass(2, d_candidate, d_candidate), pass(3, d_out_gate, d_out_gate); "
    "d_cell[p] = cast<S>(d * forget_gate);",
)
_GRU_CELL = (
    "const T reset = sigmoid(from_input(0) + from_hidden(0)); "
    "const T update = sigmoid(from_input(1) + from_hidden(1)); "
    "const T hidden_part = from_hidden(2); "
    "const T candidate = ::tanh(from_input(2) + reset * hidden_part); "
    "keep(0, reset), keep(1, update), keep(2, candidate); "
    "extra[p] = cast<S>(hidden_part); "
    "const T result = (1 - update) * candidate + update * hidden_now;",
    "const T reset = gate(0), update = gate(1), candidate = gate(2); "
    "const T d_candidate = d_result * (1 - update) * (1 - candidate * candidate); "
    "const T d_reset = d_candidate * cast<T>(extra[row * hidden + j]) * reset * (1 - reset); "
    "const T d_update = d_result * (hidden_now - candidate) * update * (1 - update); "
    "pass(0, d_reset, d_reset), pass(1, d_update, d_update); "
    "pass(2, d_candidate, d_candidate * reset); "
    "through = d_result * update;",
)


def _plain(forward, backward):
    return tuple(text.format(forward=forward, backward=backward) for text in _PLAIN)


_CELLS = {
    0: _plain("x < 0 ? T(0) : x", "y > 0 ? d_result : T(0)"),
    1: _plain("::tanh(x)", "d_result * (1 - y * y)"),
    _LSTM: _LSTM_CELL,
    3: _GRU_CELL,
}
_HELPERS = """
extern "C" __global__ void __launch_bounds__(256, 4)
column_sums(const S* x, S* sums, Long rows, Long columns) {
  __shared__ T part[8][33];
  const int lane = threadIdx.x % 32, slice = threadIdx.x / 32;
  const Long c = (Long)blockIdx.x * 32 + lane;
  T sum = 0;
  for (Long r = slice; c < columns && r < rows; r += 8) sum += cast<T>(x[r * columns + c]);
  part[slice][lane] = sum;
  __syncthreads();
  if (slice || c >= columns) return;
  for (int i = 1; i < 8; ++i) sum += part[i][lane];
  sums[c] = cast<S>(sum);
}
extern "C" __global__ void __launch_bounds__(256, 4)
scale_by(const S* x, const S* factors, S* y, Long count) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < count;
       p += (Long)gridDim.x * blockDim.x)
    y[p] = cast<S>(cast<T>(x[p]) * cast<T>(factors[p]));
}
"""


def _head(dtype, values, lengths):
    computed = "double" if dtype == dtypes.CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\ntypedef {TYPES[lengths]} L;\n"
    settings = {"projected": int(bool(values["projection"])), "clips": values["clips"]}
    return elements() + types + _HEAD.format(gates=values["gates"], **settings)


class _BumpAllocator:
    """Allocates parts of the workspace."""

    def __init__(self, itemsize):
        self._itemsize, self.bytes = itemsize, 0

    def take(self, count):
        """Return the offset in bytes of `count` elements."""
        begin = self.bytes
        self.bytes += -(-count * self._itemsize // _ALIGNED) * _ALIGNED
        return begin


def _planned(request, cell, allocator, fields):
    """Return the call for its cell kernel and the offsets in its workspace."""
    dtype, values, device = request.dtype, request.values, request.device
    functions = {"product": 0}
    if not is_open():
        points = values["steps"] * values["batch"]
        if max(points, values["gates"] * values["hidden"]) > _MOST_ROWS:
            return "has more rows than a grid has blocks"
        functions["product"] = function(strided_text(dtype), "product", device)
    helpers = _head(dtype, values, dtypes.CODES["float32"]) + _HELPERS
    functions["sums"] = function(helpers, "column_sums", device)
    functions["scale"] = function(helpers, "scale_by", device)
    functions["drop"] = functions["counted"] = functions["states"] = 0
    if values["projection"]:
        text, name = cell
        functions["states"] = function(text, name.replace("cell", "hidden"), device)
    if values["drop"] > 0 and request.name == "rnn":
        text = dropout_text(dtype)
        functions |= {name: function(text, name, device) for name in ("drop", "counted")}
    plan = RNN_PLAN.pack(
        device=device,
        **way_of(dtype),
        bytes=memory_type(dtype).itemsize,
        cell=function(*cell, device),
        **functions,
        **(_PLACES | fields),
    )
    params = RNN.pack(**values) + plan
    return NativeCall(f"gpu_{request.name}", params, allocator.bytes)


def _sizes(values):
    """Return the numbers of elements of a layer's gates, of its output, and of its cells."""
    points, hidden = values["steps"] * values["batch"], values["hidden"]
    return (
        points * values["gates"] * hidden,
        points * values["directions"] * (values["projection"] or hidden),
        points * hidden,
    )


def _lengths(request):
    """Return the dtype of the lengths; any one without lengths."""
    number = 4 if request.values["mode"] == _LSTM else 3
    return request.ins[number].dtype if request.values["lengths"] else dtypes.CODES["float32"]


@kernel("rnn")
def layers(request):
    """RNN, LSTM and GRU layers."""
    values, dtype = request.values, request.dtype
    if dtype not in _FLOATS:
        return "requires a floating-point dtype"
    gates, out, hidden = _sizes(values)
    allocator, count = _BumpAllocator(memory_type(dtype).itemsize), values["layers"]
    fields = {"own": allocator.take(values["batch"] * values["gates"] * values["hidden"])}
    if values["drop"] > 0:
        fields["below"] = allocator.take(out)
    if values["projection"]:
        fields["raw"] = allocator.take(values["batch"] * values["hidden"])
    if not values["saves"]:
        parts = gates + (hidden if values["extra"] else 0)
        between = (count - 1) * out * (2 if values["drop"] > 0 else 1)
        fields["saved"] = allocator.take(count * values["directions"] * parts + between)
    step, _ = _CELLS[values["mode"]]
    text = _head(dtype, values, _lengths(request)) + _STEP.format(step=step)
    return _planned(request, (text, "cell_step"), allocator, fields)


@kernel("rnn_grad")
def gradients(request):
    """Gradients of recurrent layers."""
    values, dtype = request.values, request.dtype
    if dtype not in _FLOATS:
        return "requires a floating-point dtype"
    gates, out, hidden = _sizes(values)
    allocator = _BumpAllocator(memory_type(dtype).itemsize)
    fields = {"d_gates": allocator.take(gates)}
    if values["projection"]:
        states = values["steps"] * values["batch"] * values["projection"]
        fields |= {name: allocator.take(states) for name in ("then", "d_projected")}
        fields |= {"raw": allocator.take(hidden)}
        fields |= {"d_raw": allocator.take(values["batch"] * values["hidden"])}
    else:
        fields["then"] = allocator.take(hidden)
    fields["d_own"] = allocator.take(gates) if values["mode"] == 3 else fields["d_gates"]
    if values["drop"] > 0:
        fields["below"] = allocator.take(out)
    if values["layers"] > 1:
        fields |= {"d_below": allocator.take(out), "d_above": allocator.take(out)}
    _, back = _CELLS[values["mode"]]
    text = _head(dtype, values, _lengths(request)) + _BACK.format(back=back, raw=_RAW)
    return _planned(request, (text, "cell_back"), allocator, fields)
