"""Random changes of images' colours.

Every thread draws the same changes, so no launch waits for another one's draws. The last launch
advances the random streams, see random.py.
"""

import math

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, Random, Workspace, spread
from mxcy.gpu.random.random import COUNTED
from mxcy.gpu.reduce.lines import joining_text
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_DTYPES = tuple(
    dtypes.CODES[name]
    for name in ("uint8", "int8", "int32", "int64", "float16", "float32", "float64")
)
_PARTS = 64  # most blocks that sum an image's luma
_CONTRAST = 1
#: kernel -> its number in the CUDA source
_CHANGES = {"brightness": 0, "contrast": _CONTRAST, "saturation": 2, "hue": 3}
_PIXELS = """
struct Pixel {
  float red, green, blue;  // red alone of an image with one channel
  __device__ float luma() const {
    return CHANNELS == 1 ? red : red * 0.299f + green * 0.587f + blue * 0.114f;
  }
};
// The value that an image stores: uint8 values are clamped.
__device__ inline S stored(float x) {
#if BYTES
  x = x < 0 ? 0 : x > 255 ? 255 : x;
#endif
  return cast<S>(x);
}
__device__ inline Pixel load(const S* x, Long p) {
  Pixel pixel{cast<float>(x[p * CHANNELS]), 0, 0};
#if CHANNELS == 3
  pixel.green = cast<float>(x[p * 3 + 1]), pixel.blue = cast<float>(x[p * 3 + 2]);
#endif
  return pixel;
}
__device__ inline void store(S* y, Long p, Pixel pixel) {
  y[p * CHANNELS] = stored(pixel.red);
#if CHANNELS == 3
  y[p * 3 + 1] = stored(pixel.green), y[p * 3 + 2] = stored(pixel.blue);
#endif
}
#define EACH(p)                                                                  \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < pixels;         \\
       p += (Long)gridDim.x * blockDim.x)
"""
_TEXT = """
struct Options { double count, kind[4], low[4], high[4]; };
// The changes that a call has drawn, in their order.
struct Changes {
  int count;
  unsigned order;  // four bits per change: its number in `by`
  float by[4];
  int kinds[4];

  __device__ Changes(const Sets* sets, const Options& options)
      : count((int)options.count), order(0) {
    Draws d(sets, 0);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= count) break;
      const float low = (float)options.low[i], high = (float)options.high[i];
      kinds[i] = (int)options.kind[i];
      by[i] = low + (high - low) * below_one<float>(&d);
      const unsigned before = 4 * (d.bits() % (unsigned)(i + 1)), moved = order >> before & 15;
      order |= moved << 4 * i;  // the change that was there moves to the end
      order ^= (moved ^ (unsigned)i) << before;
    }
  }
  // The kind of the change in a place, and its amount.
  __device__ int find(int place, float* amount) const {
    const int number = (int)(order >> 4 * place & 15);
    int kind = kinds[0];
    *amount = by[0];
#pragma unroll
    for (int i = 1; i < 4; ++i)
      if (i == number) kind = kinds[i], *amount = by[i];
    return kind;
  }
};
__device__ inline Pixel scaled(Pixel x, float factor, float more) {
  return {x.red * factor + more, x.green * factor + more, x.blue * factor + more};
}
// Rotate the hue; lightness and saturation stay.
__device__ inline Pixel turned(Pixel x, float turns) {
  const float r = x.red / 255, g = x.green / 255, b = x.blue / 255;
  const float most = ::fmaxf(r, ::fmaxf(g, b)), least = ::fminf(r, ::fminf(g, b));
  const float lightness = (most + least) * 0.5f, range = most - least;
  if (!(range > 1.1920929e-7f)) return {lightness * 255, lightness * 255, lightness * 255};
  const float saturation = range / (lightness < 0.5f ? most + least : 2 - most - least);
  const float sixth = 60 / range;
  float angle = most == r   ? (g - b) * sixth
                : most == g ? (b - r) * sixth + 120
                            : (r - g) * sixth + 240;
  if (angle < 0) angle += 360;
  const float high = lightness <= 0.5f ? lightness * (1 + saturation)
                                       : lightness + saturation - lightness * saturation;
  const float low = 2 * lightness - high;
  float place = (angle + turns * 360) * (1 / 60.0f);
  place -= 6 * ::floorf(place / 6);
  const int sector = place >= 5 ? 5 : place > 0 ? (int)place : 0;
  const float part = place - (float)sector;
  const float falling = 255 * (low + (high - low) * (1 - part));
  const float rising = 255 * (low + (high - low) * part);
  switch (sector) {
    case 0: return {255 * high, rising, 255 * low};
    case 1: return {falling, 255 * high, 255 * low};
    case 2: return {255 * low, 255 * high, rising};
    case 3: return {255 * low, falling, 255 * high};
    case 4: return {rising, 255 * low, 255 * high};
    default: return {255 * high, 255 * low, falling};
  }
}
__device__ inline Pixel changed(Pixel x, int kind, float by, float mean) {
  if (kind == 0) x = scaled(x, by, 0);
  if (kind == CONTRAST) x = scaled(x, by, (1 - by) * mean);
#if CHANNELS == 3
  if (kind == 2) x = scaled(x, by, x.blue * 0.114f * (1 - by));  // gray is blue's part, as in MXNet
  if (kind == 3) x = turned(x, by);
#endif
  return {cast<float>(stored(x.red)), cast<float>(stored(x.green)), cast<float>(stored(x.blue))};
}
// Partial sums of the luma before the contrast changes.
extern "C" __global__ void __launch_bounds__(256, 4)
sum_luma(const Sets* sets, const S* x, double* parts, Long pixels, Options options) {
  const Changes changes(sets, options);
  double sum = 0;
  EACH(p) {
    Pixel pixel = load(x, p);
    for (int i = 0; i < changes.count; ++i) {
      float by;
      const int kind = changes.find(i, &by);
      if (kind == CONTRAST) break;
      pixel = changed(pixel, kind, by, 0);
    }
    sum += (double)pixel.luma();
  }
  sum = joined(sum, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(256, 4)
change_colours(const Sets* sets, const S* x, S* y, const double* parts, Long count, Long pixels,
               Options options) {
  const Changes changes(sets, options);
  double sum = 0;
  for (Long i = 0; i < count; ++i) sum += parts[i];
  const float mean = (float)(sum / (double)pixels);
  EACH(p) {
    Pixel pixel = load(x, p);
    for (int i = 0; i < changes.count; ++i) {
      float by;
      const int kind = changes.find(i, &by);
      pixel = changed(pixel, kind, by, mean);
    }
    store(y, p, pixel);
  }
}
"""
_LIGHT = """
struct Weights { double of[3]; };
extern "C" __global__ void __launch_bounds__(256, 4)
add_light(const Sets* sets, const S* x, S* y, Long pixels, Weights weights, double deviation) {
  float a = (float)weights.of[0], b = (float)weights.of[1], c = (float)weights.of[2];
  if (deviation >= 0) {
    Draws d(sets, 0);
    normals(&d, &a, &b);
    c = normal<float>(&d);
    a *= (float)deviation, b *= (float)deviation, c *= (float)deviation;
  }
  a *= 55.46f, b *= 4.794f, c *= 1.148f;  // standard deviations of photographs' colours
  EACH(p) {
    Pixel pixel = load(x, p);
#if CHANNELS == 3
    pixel.red += -0.5675f * a + 0.7192f * b + 0.4009f * c;
    pixel.green += -0.5808f * a - 0.0045f * b - 0.8140f * c;
    pixel.blue += -0.5836f * a - 0.6948f * b + 0.4203f * c;
#endif
    store(y, p, pixel);
  }
}
"""


def _text(request, body):
    """Return the CUDA source for an image's dtype and channels."""
    settings = f"#define CHANNELS {request.ins[0].shape[2]}\n#define CONTRAST {_CONTRAST}\n"
    settings += f"#define BYTES {int(request.dtype == dtypes.CODES['uint8'])}\n"
    types = f"typedef {TYPES[request.dtype]} S;\n"
    head = f"{elements()}{text_of('philox.cuh')}{joining_text()}{types}{settings}"
    return f"{head}{COUNTED}{_PIXELS}{body}"


def _numbers(*values):
    """Return a struct of fixed numbers."""
    return Numbers([(float(value), None) for value in values])


def _four(values):
    return (*values, 0, 0, 0, 0)[:4]


def _refusal(request):
    if request.dtype not in _DTYPES:
        return "supports uint8, signed integers, float16, float32 and float64 only"
    return None


def _changed(request, bounds):
    """Return the launches of changes in random order.

    Parameters
    ----------
    request : Request
    bounds : dict of int to (float, float)
        Number of a change -> the range of its amount.
    """
    text, pixels = _text(request, _TEXT), math.prod(request.ins[0].shape[:2])
    lows, highs = ([bound[i] for bound in bounds.values()] for i in (0, 1))
    options = _numbers(len(bounds), *_four(bounds), *_four(lows), *_four(highs))
    launches, parts, count = [], I64(0), 0
    if _CONTRAST in bounds:
        count, parts = min(*spread(pixels), _PARTS), Workspace()
        request.workspace = 8 * count
        arguments = [Random(), Input(0), parts, I64(pixels), options]
        launches = [Launch(text, "sum_luma", (count,), arguments)]
    arguments = [Random(), Input(0), Output(0), parts, I64(count), I64(pixels), options]
    launches.append(Launch(text, "change_colours", spread(pixels), arguments))
    return _refusal(request) or [*launches, Launch(text, "counted", (1,), [Random()], block=1)]


@kernel(*(f"image_random_{name}" for name in _CHANGES), inplace=True)
def change(request):
    """One change by a random amount."""
    kind = _CHANGES[request.name.removeprefix("image_random_")]
    return _changed(request, {kind: (request.values["low"], request.values["high"])})


@kernel("image_random_color_jitter", inplace=True)
def jitter(request):
    """Changes by random amounts in random order."""
    base = {kind: 0 if name == "hue" else 1 for name, kind in _CHANGES.items()}
    most = enumerate(request.values["most"])
    bounds = {kind: (base[kind] - m, base[kind] + m) for kind, m in most if m > 0}
    return _changed(request, bounds)


@kernel("image_lighting", inplace=True)
def light(request):
    """Add the principal components of photographs' colours, with given or drawn weights."""
    text, pixels = _text(request, _LIGHT), math.prod(request.ins[0].shape[:2])
    deviation = float(request.values["deviation"])
    weights = _numbers(*(request.values["alpha"] or (0, 0, 0)))
    arguments = [Random() if deviation >= 0 else I64(0), Input(0), Output(0), I64(pixels)]
    arguments += [weights, F64(deviation)]
    launches = [Launch(text, "add_light", spread(pixels), arguments)]
    if deviation >= 0:
        launches.append(Launch(text, "counted", (1,), [Random()], block=1))
    return _refusal(request) or launches
