"""Padding by edge, reflection and wrapping, and rolling."""

from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import I64, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_PAD = """
// Source index for position i, which may lie outside of the dimension.
__device__ inline Long repeated(Long i, Long extent) {
  if (i >= 0 && i < extent) return i;
  if (MARGINS == 0 || extent == 1) return i < 0 ? 0 : extent - 1;
  const Long mirrored = MARGINS == 2, period = MARGINS == 3 ? extent : 2 * (extent - 1 + mirrored);
  i %= period;
  if (i < 0) i += period;
  return i < extent ? i : period - mirrored - i;
}
extern "C" __global__ void __launch_bounds__(256, 4)
pad(const S* x, S* y, Long n{parameters}) {{
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {{
    Long q = p, at = 0, step = 1;
    {places}
    y[p] = x[at];
  }}
}}
"""
_ROLL = """
extern "C" __global__ void __launch_bounds__(256, 4)
roll(const S* x, S* y, Long n, Long extent, Long inner, Long shift) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Long k = p / inner % extent, from = k < shift ? k - shift + extent : k - shift;
    y[p] = x[p + (from - k) * inner];
  }
}
"""


def _head(request):
    return f"{elements()}typedef {TYPES[request.ins[0].dtype]} S;\n"


@kernel("pad")
def pad(request):
    """Pad with edge, reflect or wrap mode."""
    values, n, ndim = request.values, request.outs[0].size, request.values["ndim"]
    if request.ins[0].dtype not in TYPES:
        return "it moves real numbers"
    names = [f"{field}{d}" for d in range(ndim) for field in ("shape", "before", "after")]
    places = " ".join(
        f"{{ const Long wide = shape{d} + before{d} + after{d}; "
        f"at += repeated(q % wide - before{d}, shape{d}) * step; q /= wide; step *= shape{d}; }}"
        for d in reversed(range(ndim))
    )
    head, _, body = _PAD.partition('extern "C"')
    body = f'extern "C"{body}'.format(
        parameters="".join(f", Long {name}" for name in names), places=places
    )
    text = f"{_head(request)}#define MARGINS {values['reflect']}\n{head}{body}"
    fields = [values[field][d] for d in range(ndim) for field in ("shape", "before", "after")]
    arguments = [Input(0), Output(0), I64(n), *map(I64, fields)]
    return [Launch(text, "pad", spread(n), arguments)]


@kernel("roll")
def roll(request):
    """Roll elements along an axis."""
    values, n = request.values, request.outs[0].size
    if request.ins[0].dtype not in TYPES:
        return "it moves real numbers"
    arguments = [Input(0), Output(0), I64(n)]
    arguments += [I64(values[name]) for name in ("extent", "inner", "shift")]
    return [Launch(_head(request) + _ROLL, "roll", spread(n), arguments)]
