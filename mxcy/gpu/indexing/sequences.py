"""Variable-length sequences: masking, last steps, reversal."""

from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import F64, I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_TEXT = """
#define EACH(p) for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n; \\
                     p += (Long)gridDim.x * blockDim.x)
// Offset of step `step` of sequence `b`.
__device__ inline Long place(Long step, Long b, Long steps, Long batch, Long inner) {
  return (AXIS ? b * steps + step : step * batch + b) * inner;
}
__device__ inline Long last_of(I length, Long steps) {
  const Long given = cast<Long>(length);
  return (given < 1 ? 1 : given < steps ? given : steps) - 1;
}
extern "C" __global__ void __launch_bounds__(256, 4)
sequence_mask(const S* x, const I* lengths, S* y, Long n, Long steps, Long batch, Long inner,
              double value) {
  EACH(p) {
    const Long q = p / inner, step = AXIS ? q % steps : q / batch;
    const Long b = AXIS ? q / steps : q % batch;
    y[p] = step < cast<Long>(lengths[b]) ? x[p] : cast<S>(value);
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
sequence_reverse(const S* x, const I* lengths, S* y, Long n, Long steps, Long batch, Long inner,
                 double) {
  EACH(p) {
    const Long q = p / inner, step = AXIS ? q % steps : q / batch;
    const Long b = AXIS ? q / steps : q % batch, given = cast<Long>(lengths[b]);
    const Long length = given < 0 ? 0 : given < steps ? given : steps;
    const Long from = step < length ? length - 1 - step : step;
    y[p] = x[place(from, b, steps, batch, inner) + p % inner];
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
sequence_last(const S* x, const I* lengths, S* y, Long n, Long steps, Long batch, Long inner,
              double) {
  EACH(p) {
    const Long b = p / inner;
    y[p] = x[place(last_of(lengths[b], steps), b, steps, batch, inner) + p % inner];
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
sequence_last_grad(const S* x, const I* lengths, S* y, Long n, Long steps, Long batch, Long inner,
                   double) {
  EACH(p) {
    const Long q = p / inner, step = AXIS ? q % steps : q / batch;
    const Long b = AXIS ? q / steps : q % batch;
    y[p] = step == last_of(lengths[b], steps) ? x[b * inner + p % inner] : cast<S>(0);
  }
}
"""


@kernel("sequence_mask", "sequence_reverse", "sequence_last", "sequence_last_grad")
def sequences(request):
    """SequenceMask, SequenceLast and SequenceReverse."""
    values, (data, lengths), (out,) = request.values, request.ins, request.outs
    if any(spec.dtype not in TYPES for spec in (data, lengths)) or data.dtype != out.dtype:
        return "it moves real numbers"
    text = (
        f"{elements()}typedef {TYPES[data.dtype]} S;\ntypedef {TYPES[lengths.dtype]} I;\n"
        f"#define AXIS {values['axis']}\n{_TEXT}"
    )
    arguments = [Input(0), Input(1), Output(0), I64(out.size)]
    arguments += [I64(values[name]) for name in ("steps", "batch", "inner")]
    arguments.append(F64(*request.number("value")))
    return [Launch(text, request.name, spread(out.size), arguments)]
