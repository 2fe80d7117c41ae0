"""Random crops: one thread draws the part of the image, then all resize it."""

import math

from mxcy.gpu.elementwise.pointwise import text_of
from mxcy.gpu.image.images import RESIZED, resizing_text
from mxcy.gpu.launch import I64, Input, Launch, Numbers, Output, Random, Workspace, spread
from mxcy.gpu.table import kernel

__all__ = []

_BYTES = 32  # of a Part
_TEXT = """
struct Part { Long left, top, height, width; };
struct Bounds { double low, high; };
struct Places { Bounds x, y; };       // of the part, as fractions of the room
struct Forms { Bounds area, ratio; };  // area as a fraction of the image's; logarithms of ratios

__device__ inline double between(Draws* d, Bounds bounds) {
  return bounds.low + (bounds.high - bounds.low) * below_one<double>(d);
}
__device__ inline Part placed(Draws* d, Places places, Long height, Long width, Long rows,
                              Long columns) {
  const Long left = (Long)(between(d, places.x) * (double)(width - columns));
  const Long top = (Long)(between(d, places.y) * (double)(height - rows));
  return {left, top, rows, columns};
}
extern "C" __global__ void draw_part(Sets* sets, Part* part, Places places, Long height, Long width,
                                     Long rows, Long columns) {
  Draws d(sets, 0);
  *part = placed(&d, places, height, width, rows, columns);
  next_call(sets);
}
// A part of random form; if none fits, rows x columns in the middle.
extern "C" __global__ void draw_form(Sets* sets, Part* part, Places places, Long height, Long width,
                                     Long rows, Long columns, Forms forms, Long trials) {
  Draws d(sets, 0);
  *part = {(width - columns) / 2, (height - rows) / 2, rows, columns};
  for (Long i = 0; i < trials; ++i) {
    const double area = between(&d, forms.area) * (double)height * (double)width;
    const double ratio = ::exp(between(&d, forms.ratio));
    const double wide = ::rint(::sqrt(area * ratio)), high = ::rint(::sqrt(area / ratio));
    if (wide < 1 || high < 1 || wide > (double)width || high > (double)height) continue;
    *part = placed(&d, places, height, width, (Long)high, (Long)wide);
    break;
  }
  next_call(sets);
}
extern "C" __global__ void __launch_bounds__(256, 4)
crop_part(const Part* part, const S* x, S* y, Long n_, Long channels_, Long height_, Long width_,
          Long high_, Long wide_, Long is_nearest) {
  const At n = (At)n_, channels = (At)channels_, height = (At)height_, width = (At)width_;
  const At high = (At)high_, wide = (At)wide_, rows = (At)part->height, columns = (At)part->width;
  const bool copies = is_nearest || (rows == high && columns == wide);
  const bool halves = rows == 2 * high && columns == 2 * wide;
  const Resizing how = copies ? kNearest : halves ? kHalf : kBilinear;
  const At start = ((At)part->top * width + (At)part->left) * channels;
  for (At p = (At)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (At)gridDim.x * blockDim.x) {
    const At column = p / channels % wide, row = p / channels / wide % high;
    const S* image = x + p / channels / wide / high * height * width * channels + p % channels;
    y[p] = resized(image + start, width * channels, channels, row, column, rows, columns, high,
                   wide, how);
  }
}
"""


def _launches(request, name, rows, columns, more=()):
    """Return a launch that draws the part and one that crops and resizes it.

    Parameters
    ----------
    request : Request
    name : str
        The kernel that draws.
    rows, columns : int
        The size that it gets.
    more : sequence
        Its further arguments.
    """
    a, (data,), (out,) = request.attrs, request.ins, request.outs
    if data.dtype not in RESIZED:
        return "supports uint8, float32 and float64 only"
    height, width, channels = data.shape[-3:]
    text = f"{resizing_text(data, out)}{text_of('philox.cuh')}{_TEXT}"
    request.workspace, sizes = _BYTES, (I64(height), I64(width))
    places = Numbers((bound, None) for bound in (*a.xrange, *a.yrange))
    drawing = [Random(), Workspace(), places, *sizes, I64(rows), I64(columns), *more]
    cropping = [Workspace(), Input(0), Output(0), I64(out.size), I64(channels), *sizes]
    cropping += [I64(a.height), I64(a.width), I64(int(a.interp == 0))]
    return [
        Launch(text, name, (1,), drawing, block=1),
        Launch(text, "crop_part", spread(out.size), cropping),
    ]


@kernel("image_random_crop")
def random_crop(request):
    """A part of given size at a random position; small images are enlarged."""
    a, (height, width) = request.attrs, request.ins[0].shape[-3:-1]
    return _launches(request, "draw_part", min(a.height, height), min(a.width, width))


@kernel("image_random_resized_crop")
def random_resized_crop(request):
    """A part of random size, form and position, resized."""
    a, (height, width) = request.attrs, request.ins[0].shape[-3:-1]
    scale = min(1, width / a.width, height / a.height)
    rows, columns = max(int(a.height * scale), 1), max(int(a.width * scale), 1)
    bounds = *a.area, *map(math.log, a.ratio)
    forms = Numbers((bound, None) for bound in bounds)
    return _launches(request, "draw_form", rows, columns, [forms, I64(a.max_trial)])
