"""Images: resizing, normalising, flips; gradients are gathered, so they are deterministic."""

import math

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, position_type, text_of
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, Random, spread
from mxcy.gpu.random.random import COUNTED
from mxcy.gpu.table import TYPES, kernel

__all__ = ["RESIZED", "resizing_text"]

_FLOATS = dtypes.CODES["float32"], dtypes.CODES["float64"]
#: dtypes of images that can be resized
RESIZED = (*_FLOATS, dtypes.CODES["uint8"])
_MOST_INPUTS = 4  # launches per call
_EACH = """
#define EACH(p)                                                                  \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;              \\
       p += (Long)gridDim.x * blockDim.x)
"""
_RESAMPLE = """
// The two source elements around each target element, and its distance from the lower one.
struct Line {
  Long source, target;
  double meeting, scale;
  bool aligned;

  __device__ Line(Long source_, Long target_, bool aligned_)
      : source(source_), target(target_),
        meeting(target_ > 1 ? (double)(source_ - 1) / (double)(target_ - 1) : 0.0),
        scale((double)source_ / (double)target_), aligned(aligned_) {}
  __device__ void find(Long i, Long* low, Long* high, T* part) const {
    double place = aligned ? (double)i * meeting : ((double)i + 0.5) * scale - 0.5;
    if (place < 0) place = 0;
    *low = (Long)place < source - 1 ? (Long)place : source - 1;
    *high = *low + 1 < source ? *low + 1 : source - 1;
    *part = (T)(place - (double)*low);
  }
  // The target elements that may read source element `at`.
  __device__ void beside(Long at, Long* begin, Long* end) const {
    *begin = 0, *end = target;
    const double step = aligned ? meeting : scale;
    if (!(step > 0)) return;
    const double shift = aligned ? 0 : 0.5;
    if (at > 0) {
      const double first = ::floor(((double)at - 1 + shift) / step - shift) - 1;
      *begin = first > 0 ? (Long)first : 0;
    }
    if (at < source - 1) {
      const double last = ::ceil(((double)at + 1 + shift) / step - shift) + 2;
      *end = last < (double)target ? (Long)last : target;
    }
  }
  // Weight of source element `at` in target element i.
  __device__ T share(Long i, Long at) const {
    Long low, high;
    T part;
    find(i, &low, &high, &part);
    return (low == at ? 1 - part : T(0)) + (high == at ? part : T(0));
  }
};
extern "C" __global__ void __launch_bounds__(256, 2)
resample(const T* x, T* y, Long n, Long height, Long width, Long high, Long wide, Long aligned) {
  const Line down(height, high, aligned), across(width, wide, aligned);
  EACH(p) {
    Long top, bottom, left, right;
    T lower, beside;
    down.find(p / wide % high, &top, &bottom, &lower);
    across.find(p % wide, &left, &right, &beside);
    const T* from = x + p / (wide * high) * height * width;
    const T a = from[top * width + left] * (1 - beside) + from[top * width + right] * beside;
    const T b = from[bottom * width + left] * (1 - beside) + from[bottom * width + right] * beside;
    y[p] = a * (1 - lower) + b * lower;
  }
}
extern "C" __global__ void __launch_bounds__(256, 2)
resample_back(const T* x, T* y, Long n, Long height, Long width, Long high, Long wide,
              Long aligned) {
  const Line down(height, high, aligned), across(width, wide, aligned);
  EACH(p) {
    const Long row = p / width % height, column = p % width;
    const T* from = x + p / (width * height) * high * wide;
    Long i, last_i, first_j, last_j;
    T sum = 0;
    across.beside(column, &first_j, &last_j);
    for (down.beside(row, &i, &last_i); i < last_i; ++i) {
      const T share = down.share(i, row);
      if (share == 0) continue;
      for (Long j = first_j; j < last_j; ++j)
        sum += share * across.share(j, column) * from[i * wide + j];
    }
    y[p] = sum;
  }
}
"""
_PARTS = """
__device__ inline Long begin_of(Long i, Long parts, Long extent) { return i * extent / parts; }
__device__ inline Long end_of(Long i, Long parts, Long extent) {
  return ((i + 1) * extent + parts - 1) / parts;
}
extern "C" __global__ void __launch_bounds__(256, 4)
average_parts(const T* x, T* y, Long n, Long height, Long width, Long high, Long wide, Long) {
  EACH(p) {
    const Long i = p / wide % high, j = p % wide;
    const Long top = begin_of(i, high, height), bottom = end_of(i, high, height);
    const Long left = begin_of(j, wide, width), right = end_of(j, wide, width);
    const T* from = x + p / (wide * high) * height * width;
    T sum = 0;
    for (Long row = top; row < bottom; ++row)
      for (Long column = left; column < right; ++column) sum += from[row * width + column];
    y[p] = sum / (T)((bottom - top) * (right - left));
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
average_parts_back(const T* x, T* y, Long n, Long height, Long width, Long high, Long wide, Long) {
  EACH(p) {
    const Long row = p / width % height, column = p % width;
    const T* from = x + p / (width * height) * high * wide;
    T sum = 0;
    for (Long i = row * high / height; i < high && begin_of(i, high, height) <= row; ++i) {
      const Long rows = end_of(i, high, height) - begin_of(i, high, height);
      if (end_of(i, high, height) <= row) continue;
      for (Long j = column * wide / width; j < wide && begin_of(j, wide, width) <= column; ++j)
        if (end_of(j, wide, width) > column)
          sum += from[i * wide + j] /
                 (T)(rows * (end_of(j, wide, width) - begin_of(j, wide, width)));
    }
    y[p] = sum;
  }
}
"""
_SQUARES = """
// Nearest-neighbour upsampling; channels go to `first` and following ones of the result.
extern "C" __global__ void __launch_bounds__(256, 4)
enlarge(const T* x, T* y, Long n, Long channels, Long high, Long wide, Long factor, Long all,
        Long first, Long adds) {
  EACH(p) {
    const Long column = p % wide, row = p / wide % high, c = p / (wide * high) % channels;
    const Long image = p / (wide * high * channels), to = image * all + first + c;
    const T value = x[((image * channels + c) * (high / factor) + row / factor) * (wide / factor) +
                      column / factor];
    T* place = y + (to * high + row) * wide + column;
    *place = adds ? *place + value : value;
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
shrink(const T* x, T* y, Long n, Long high, Long wide, Long factor) {
  EACH(p) {
    const Long column = p % wide * factor, row = p / wide * factor;
    T sum = 0;
    for (Long i = 0; i < factor; ++i) {
      T part = 0;
      for (Long j = 0; j < factor; ++j) part += x[(row + i) * wide * factor + column + j];
      sum += part;
    }
    y[p] = sum;
  }
}
"""
_NORMALIZE = """
struct Three { double of[3]; };
extern "C" __global__ void __launch_bounds__(256, 4)
image_normalize(const T* x, T* y, Three means, Three deviations, Long n, Long channels,
                Long size) {
  EACH(p) {
    const int c = (int)(p / size % channels);
    y[p] = (x[p] - (T)means.of[c]) / (T)deviations.of[c];
  }
}
"""
_TENSOR = """
extern "C" __global__ void __launch_bounds__(256, 4)
image_to_tensor(const S* x, float* y, Long n, Long channels, Long size) {
  EACH(p) {
    const Long image = p / size / channels, c = p / size % channels;
    y[p] = cast<float>(x[(image * size + p % size) * channels + c]) / 255;
  }
}
"""
_RESIZE = """
extern "C" __global__ void __launch_bounds__(256, 4)
image_resize(const S* x, S* y, Long n_, Long channels_, Long height_, Long width_, Long high_,
             Long wide_) {
  const At n = (At)n_, channels = (At)channels_, height = (At)height_, width = (At)width_;
  const At high = (At)high_, wide = (At)wide_;
  for (At p = (At)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (At)gridDim.x * blockDim.x) {
    const At column = p / channels % wide, row = p / channels / wide % high;
    const S* image = x + p / channels / wide / high * height * width * channels + p % channels;
    y[p] = resized(image, width * channels, channels, row, column, height, width, high, wide, HOW);
  }
}
"""
_FLIP = """
extern "C" __global__ void __launch_bounds__(256, 4)
random_flip(const Sets* sets, const S* x, S* y, Long n, Long extent, Long inner, double chance) {
  Draws d(sets, 0);  // the same number in all threads
  const bool flips = below_one<float>(&d) < (float)chance;
  EACH(p) {
    const Long k = p / inner % extent;
    y[p] = x[flips ? p + (extent - 1 - 2 * k) * inner : p];
  }
}
"""


def _text(request, body):
    return f"{elements()}typedef {TYPES[request.dtype]} T;\n{_EACH}{body}"


def _refusal(request):
    specs = (*request.ins, *request.outs)
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in specs):
        return "supports float32 and float64 only"
    return None


def resizing_text(data, out):
    """Return the source of `resized` for images with the specs of an input and an output."""
    is_bytes, element = data.dtype == dtypes.CODES["uint8"], TYPES[data.dtype]
    types = f"typedef {position_type((data, out))} At;\ntypedef {element} S;\n"
    types += f"typedef {'int' if is_bytes else element} T;\n#define BYTES {int(is_bytes)}\n"
    return f"{elements()}{types}{text_of('resizing.cuh')}"


@kernel("resample", "average_parts")
def resample(request):
    """Bilinear resizing and adaptive average pooling, and their gradients."""
    values, n = request.values, request.outs[0].size
    sizes = *values["source"], *values["target"], int(values["aligned"])
    name = f"{request.name}{'_back' if values['transposed'] else ''}"
    text = _text(request, _RESAMPLE if request.name == "resample" else _PARTS)
    arguments = [Input(0), Output(0), I64(n), *map(I64, sizes)]
    return _refusal(request) or [Launch(text, name, spread(n), arguments)]


@kernel("enlarge")
def enlarge(request):
    """Nearest-neighbour upsampling of images, concatenated or summed."""
    (out,), is_sum, first, launches = request.outs, request.values["sum"], 0, []
    if len(request.ins) > _MOST_INPUTS or 0 in out.shape:
        return f"takes up to {_MOST_INPUTS} images"
    images, channels, height, width = out.shape
    for number, spec in enumerate(request.ins):
        n = images * spec.shape[1] * height * width
        sizes = spec.shape[1], height, width, height // spec.shape[2], channels, first
        arguments = [Input(number), Output(0), I64(n), *map(I64, sizes)]
        arguments.append(I64(int(is_sum and number > 0)))
        launches.append(Launch(_text(request, _SQUARES), "enlarge", spread(n), arguments))
        first += 0 if is_sum else spec.shape[1]
    return _refusal(request) or launches


@kernel("shrink")
def shrink(request):
    """Gradient of nearest-neighbour upsampling: sums over blocks of pixels."""
    (image,), (out,) = request.ins, request.outs
    height, width = out.shape[2:]
    sizes = height, width, image.shape[2] // max(height, 1)
    arguments = [Input(0), Output(0), I64(out.size), *map(I64, sizes)]
    text = _text(request, _SQUARES)
    return _refusal(request) or [Launch(text, "shrink", spread(out.size), arguments)]


@kernel("image_normalize")
def normalize(request):
    """Subtract channel means and divide by standard deviations."""
    values, n = request.values, request.outs[0].size
    arguments = [Input(0), Output(0)]
    arguments += [Numbers(request.numbers(name)) for name in ("mean", "std")]
    arguments += [I64(n), I64(values["channels"]), I64(values["size"])]
    text = _text(request, _NORMALIZE)
    return _refusal(request) or [Launch(text, "image_normalize", spread(n), arguments)]


@kernel("image_to_tensor")
def to_tensor(request):
    """Pixels / 255 in float32, channels first."""
    values, (data,), (out,) = request.values, request.ins, request.outs
    if data.dtype not in TYPES:
        return "requires a real dtype"
    text = f"{elements()}typedef {TYPES[data.dtype]} S;\n{_EACH}{_TENSOR}"
    arguments = [Input(0), Output(0), I64(out.size), I64(values["channels"]), I64(values["size"])]
    return [Launch(text, "image_to_tensor", spread(out.size), arguments)]


@kernel("image_resize")
def resize(request):
    """Resize images with their channels last."""
    values, (data,), (out,) = request.values, request.ins, request.outs
    if data.dtype not in RESIZED:
        return "supports uint8, float32 and float64 only"
    source, target = tuple(values["source"]), tuple(values["target"])
    halves = source == (2 * target[0], 2 * target[1])
    how = "kNearest" if values["nearest"] else "kHalf" if halves else "kBilinear"
    arguments = [Input(0), Output(0)]
    arguments += map(I64, (out.size, values["channels"], *source, *target))
    text = f"{resizing_text(data, out)}#define HOW {how}\n{_RESIZE}"
    return [Launch(text, "image_resize", spread(out.size), arguments)]


@kernel("image_random_flip")
def random_flip(request):
    """Flip an image with a probability."""
    values, (data,), (out,) = request.values, request.ins, request.outs
    if data.dtype not in TYPES:
        return "requires a real dtype"
    extent, inner = data.shape[values["axis"]], math.prod(data.shape[values["axis"] + 1 :])
    types = f"typedef {TYPES[data.dtype]} S;\n"
    text = f"{elements()}{text_of('philox.cuh')}{types}{_EACH}{COUNTED}{_FLIP}"
    arguments = [Random(), Input(0), Output(0), I64(out.size), I64(extent), I64(inner)]
    arguments.append(F64(*request.number("p")))
    return [
        Launch(text, "random_flip", spread(out.size), arguments),
        Launch(text, "counted", (1,), [Random()], block=1),
    ]
