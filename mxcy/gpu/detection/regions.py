"""Region pooling (ROIPooling, ROIAlign, PSROIPooling) and its gradients.

Gradients are gathered: each element of the data sums over the regions that cover it, in their
order, so results are deterministic. A region of a missing image sets an alarm: the next wait raises
the error.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import F64, I64, Alarm, Input, Launch, Output, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = dtypes.CODES["float32"], dtypes.CODES["float64"]
_MOST_BLOCKS = (1 << 31) - 1
_ABSENT = Alarm("rois: image index out of range")
_EACH = """
#define EACH(p, n)                                                                     \\
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;                    \\
       p += (Long)gridDim.x * blockDim.x)
__device__ inline double rounded(double x) {  // halves are rounded away from zero
  const double whole = ::floor(::fabs(x) + 0.5);
  return x < 0 ? -whole : whole;
}
"""
_MAXIMA = """
__device__ inline Long within(double x, Long extent) {
  return !(x > 0) ? 0 : x > (double)extent ? extent : (Long)x;
}
__device__ inline void part_of(double first, double last, Long i, Long parts, Long extent,
                               Long* begin, Long* end) {
  const double size = (last - first + 1 > 1 ? last - first + 1 : 1) / (double)parts;
  *begin = within(::floor((double)i * size) + first, extent);
  *end = within(::ceil((double)(i + 1) * size) + first, extent);
}
extern "C" __global__ void __launch_bounds__(256, 2)
roi_pooling(const T* images, const T* regions, T* out, T* places, Long n, Long count,
            Long channels, Long height, Long width, Long down, Long across, double scale,
            Alarm alarm) {
  EACH(p, n) {
    const Long part = p % (down * across), c = p / (down * across) % channels;
    const T* region = regions + 5 * (p / (down * across * channels));
    Long image = (Long)region[0], top, bottom, left, right;
    image += image < 0 ? count : 0;
    if (!(image >= 0 && image < count)) {
      set_alarm(alarm);
      out[p] = 0;
      if (places) places[p] = -1;
      continue;
    }
    part_of(rounded((double)region[2] * scale), rounded((double)region[4] * scale), part / across,
            down, height, &top, &bottom);
    part_of(rounded((double)region[1] * scale), rounded((double)region[3] * scale), part % across,
            across, width, &left, &right);
    const T* from = images + (image * channels + c) * height * width;
    const bool is_empty = top >= bottom || left >= right;
    Long place = is_empty ? -1 : top * width + left;
    T best = is_empty ? T(0) : from[place];
    for (Long y = top; !is_empty && y < bottom; ++y)
      for (Long x = left; x < right; ++x)
        if (from[y * width + x] > best) place = y * width + x, best = from[place];
    out[p] = best;
    if (places) places[p] = (T)place;
  }
}
// One block per plane; threads loop over its pixels.
extern "C" __global__ void __launch_bounds__(256, 4)
roi_pooling_grad(const T* gradient, const T* regions, const T* places, T* out, Long count,
                 Long many, Long channels, Long plane, Long parts) {
  const Long image = blockIdx.x / channels, c = blockIdx.x % channels;
  T* to = out + (Long)blockIdx.x * plane;
  for (Long i = threadIdx.x; i < plane; i += 256) to[i] = 0;
  for (Long r = 0; r < many; ++r) {
    const Long its = (Long)regions[5 * r];
    if (its + (its < 0 ? count : 0) != image) continue;
    const Long first = (r * channels + c) * parts;
    for (Long i = 0; i < parts; ++i) {
      const T place = places[first + i];
      if (place >= 0 && place < (T)plane && (Long)place % 256 == threadIdx.x)
        to[(Long)place] += gradient[first + i];
    }
  }
}
"""
_POINTS = """
// Sampling points of a region in one direction, `each` per bin.
struct Line {
  double first, step, each, extent;
  Long parts;

  __device__ double place(Long part, double k) const {
    return first + ((double)part + (k + 0.5) / each) * step;
  }
  __device__ double bounded(double k) const { return k > 0 ? k < each ? k : each : 0; }
  // The points of a bin that may lie between low and high.
  __device__ void visit(Long part, double low, double high, double* begin, double* end) const {
    *begin = 0, *end = each;
    if (!(step > 0)) return;
    *begin = bounded(::floor(((low - first) / step - (double)part) * each) - 1);
    *end = bounded(::ceil(((high - first) / step - (double)part) * each) + 1);
  }
  // The coordinate at which a point is sampled, -1 if outside.
  __device__ T read_at(Long part, double k) const {
    const double at = place(part, k), last = extent - 1;
    if (!(at >= -1 && at <= extent)) return -1;
    return (T)(at < 0 ? 0 : at > last ? last : at);
  }
  // The bins that may have points between low and high.
  __device__ void cover(double low, double high, Long* begin, Long* end) const {
    *begin = 0, *end = parts;
    if (!(step > 0)) return;
    const double from = ::floor((low - first) / step) - 1, to = ::floor((high - first) / step) + 2;
    *begin = !(from > 0) ? 0 : from < (double)parts ? (Long)from : parts;
    *end = !(to > 0) ? 0 : to < (double)parts ? (Long)to : parts;
  }
  // Weight of a pixel in a bin's points.
  __device__ T weight(Long part, Long pixel, double low, double high) const {
    double k, end;
    T sum = 0;
    for (visit(part, low, high, &k, &end); k < end; ++k) {
      const T at = read_at(part, k), row = ::floor(at);
      if (at < 0) continue;
      if ((Long)row == pixel) sum += 1 - (at - row);
      else if ((Long)row + 1 == pixel) sum += at - row;
    }
    return sum;
  }
  __device__ bool is_finite() const { return first - first == 0 && step - step == 0; }
};
__device__ inline Line line_of(T from, T to, double scale, bool aligned, Long parts, Long samples,
                               Long extent) {
  const double shift = aligned ? 0.5 : 0, first = (double)from * scale - shift;
  double length = (double)to * scale - shift - first;
  if (!aligned && length < 1) length = 1;
  const double step = length / (double)parts;
  const double each = samples > 0 ? (double)samples : step > 1 ? ::ceil(step) : 1;
  return {first, step, each, (double)extent, parts};
}
// Range that pixel `at` contributes to: up to the next pixels, or beyond the edges.
__device__ inline double below(Long at) { return at == 0 ? -1 : (double)at - 1; }
__device__ inline double above(Long at, Long extent) {
  return at == extent - 1 ? (double)extent : (double)at + 1;
}
extern "C" __global__ void __launch_bounds__(256, 2)
roi_align(const T* images, const T* regions, T* out, Long n, Long count, Long channels,
          Long height, Long width, Long down, Long across, Long samples, Long sensitive,
          Long aligned, double scale, Alarm alarm) {
  EACH(p, n) {
    const Long parts = down * across, part = p % parts, c = p / parts % channels;
    const T* region = regions + 5 * (p / (parts * channels));
    const Long image = (Long)region[0];
    const Line rows = line_of(region[2], region[4], scale, aligned, down, samples, height);
    const Line columns = line_of(region[1], region[3], scale, aligned, across, samples, width);
    if (!(image >= 0 && image < count && rows.is_finite() && columns.is_finite())) {
      if (image >= count) set_alarm(alarm);
      out[p] = 0;
      continue;
    }
    const Long plane = sensitive ? (image * channels + c) * parts + part : image * channels + c;
    const T *from = images + plane * height * width, share = (T)(1.0 / (rows.each * columns.each));
    double i, last_i, first_j, last_j;
    T sum = 0;
    columns.visit(part % across, -1, (double)width, &first_j, &last_j);
    for (rows.visit(part / across, -1, (double)height, &i, &last_i); i < last_i; ++i) {
      const T y = rows.read_at(part / across, i);
      if (y < 0) continue;
      const Long row = (Long)::floor(y);
      const T lower = y - (T)row;
      const T* line = from + row * width;
      const T* next = row + 1 < height ? line + width : line;  // which is then in no bin
      for (double j = first_j; j < last_j; ++j) {
        const T x = columns.read_at(part % across, j);
        if (x < 0) continue;
        const Long at = (Long)::floor(x), beside = at + 1 < width ? at + 1 : at;
        const T right = x - (T)at;
        sum += share * ((1 - lower) * ((1 - right) * line[at] + right * line[beside]) +
                        lower * ((1 - right) * next[at] + right * next[beside]));
      }
    }
    out[p] = sum;
  }
}
extern "C" __global__ void __launch_bounds__(256, 2)
roi_align_grad(const T* gradient, const T* regions, T* out, Long n, Long many, Long channels,
               Long height, Long width, Long down, Long across, Long samples, Long sensitive,
               Long aligned, double scale) {
  EACH(p, n) {
    const Long parts = down * across, x = p % width, y = p / width % height;
    const Long plane = p / (width * height), own = sensitive ? plane % parts : -1;
    const Long c = (sensitive ? plane / parts : plane) % channels;
    const Long image = (sensitive ? plane / parts : plane) / channels;
    const double top = below(y), bottom = above(y, height), left = below(x);
    const double right = above(x, width);
    T sum = 0;
    for (Long r = 0; r < many; ++r) {
      const T* region = regions + 5 * r;
      if ((Long)region[0] != image || !(region[0] > -1)) continue;
      const Line rows = line_of(region[2], region[4], scale, aligned, down, samples, height);
      const Line columns = line_of(region[1], region[3], scale, aligned, across, samples, width);
      if (!rows.is_finite() || !columns.is_finite()) continue;
      const T share = (T)(1.0 / (rows.each * columns.each));
      const T* passed = gradient + (r * channels + c) * parts;
      Long i, last_i, first_j, last_j;
      columns.cover(left, right, &first_j, &last_j);
      for (rows.cover(top, bottom, &i, &last_i); i < last_i; ++i) {
        if (own >= 0 && own / across != i) continue;
        const T wide = first_j < last_j ? rows.weight(i, y, top, bottom) : T(0);
        if (wide == 0) continue;
        for (Long j = first_j; j < last_j; ++j) {
          if (own >= 0 && own % across != j) continue;
          sum += share * wide * columns.weight(j, x, left, right) * passed[i * across + j];
        }
      }
    }
    out[p] = sum;
  }
}
"""
_SENSITIVE = """
__device__ inline T rounded_T(T x) {
  const T whole = ::floor((x < 0 ? -x : x) + T(0.5));
  return x < 0 ? -whole : whole;
}
// The pixels [from, to) of bin `i` of a region, in one direction.
__device__ inline void pixels(T from, T to, T scale, Long pooled, Long i, Long extent, Long* begin,
                              Long* end) {
  const T first = rounded_T(from) * scale, length = (rounded_T(to) + 1) * scale - first;
  const T step = (length > T(0.1) ? length : T(0.1)) / (T)pooled, most = (T)extent;
  const T low = ::floor((T)i * step + first), high = ::ceil((T)(i + 1) * step + first);
  *begin = (Long)(low < 0 ? T(0) : low < most ? low : most);
  *end = (Long)(high < 0 ? T(0) : high < most ? high : most);
}
extern "C" __global__ void __launch_bounds__(256, 2)
psroi_pooling(const T* images, const T* regions, T* out, Long n, Long count, Long channels,
              Long height, Long width, Long pooled, Long groups, double scale, Alarm alarm) {
  EACH(p, n) {
    const Long j = p % pooled, i = p / pooled % pooled, c = p / (pooled * pooled) % channels;
    const T* region = regions + 5 * (p / (pooled * pooled * channels));
    Long image = (Long)region[0], top, bottom, left, right;
    image += image < 0 ? count : 0;
    if (!(image >= 0 && image < count)) {
      set_alarm(alarm);
      out[p] = 0;
      continue;
    }
    pixels(region[1], region[3], (T)scale, pooled, j, width, &left, &right);
    pixels(region[2], region[4], (T)scale, pooled, i, height, &top, &bottom);
    const Long channel = ((image * channels + c) * groups + i * groups / pooled) * groups +
                         j * groups / pooled;
    const T* from = images + channel * height * width;
    T sum = 0;
    for (Long y = top; y < bottom; ++y)
      for (Long x = left; x < right; ++x) sum += from[y * width + x];
    out[p] = top < bottom && left < right ? sum / (T)((bottom - top) * (right - left)) : T(0);
  }
}
extern "C" __global__ void __launch_bounds__(256, 2)
psroi_pooling_grad(const T* gradient, const T* regions, T* out, Long n, Long many, Long count,
                   Long channels, Long height, Long width, Long pooled, Long groups,
                   double scale) {
  EACH(p, n) {
    const Long x = p % width, y = p / width % height, plane = p / (width * height);
    const Long across = plane % groups, down = plane / groups % groups;
    const Long c = plane / (groups * groups) % channels;
    const Long image = plane / (groups * groups * channels);
    T sum = 0;
    for (Long r = 0; r < many; ++r) {
      const T* region = regions + 5 * r;
      Long its = (Long)region[0], top, bottom, left, right;
      if (its + (its < 0 ? count : 0) != image) continue;
      for (Long i = 0; i < pooled; ++i) {
        if (i * groups / pooled != down) continue;
        pixels(region[2], region[4], (T)scale, pooled, i, height, &top, &bottom);
        if (y < top || y >= bottom) continue;
        for (Long j = 0; j < pooled; ++j) {
          if (j * groups / pooled != across) continue;
          pixels(region[1], region[3], (T)scale, pooled, j, width, &left, &right);
          if (x < left || x >= right) continue;
          sum += gradient[((r * channels + c) * pooled + i) * pooled + j] /
                 (T)((bottom - top) * (right - left));
        }
      }
    }
    out[p] = sum;
  }
}
"""


def _text(request, body):
    types = f"typedef {TYPES[request.dtype]} T;\n"
    return f"{elements()}{text_of('alarms.cuh')}{types}{_EACH}{body}"


def _refusal(request):
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins):
        return "supports float32 and float64 only"
    return None


def _extents(values):
    return [*values["source"], *values["pooled"]]


@kernel("roi_pooling")
def maxima(request):
    """ROIPooling: maxima of the bins of regions, and their indices."""
    values, n = request.values, request.outs[0].size
    arguments = [Input(0), Input(1), Output(0), Output(1), I64(n), I64(values["images"])]
    arguments += map(I64, (values["channels"], *_extents(values)))
    arguments += [F64(*request.number("scale")), _ABSENT]
    text = _text(request, _MAXIMA)
    return _refusal(request) or [Launch(text, "roi_pooling", spread(n), arguments)]


@kernel("roi_pooling_grad")
def of_maxima(request):
    """Gradient of ROIPooling."""
    values, planes = request.values, request.values["images"] * request.values["channels"]
    if planes > _MOST_BLOCKS:
        return "has more planes than a grid has blocks"
    (height, width), (down, across) = values["source"], values["pooled"]
    sizes = values["images"], values["regions"], values["channels"], height * width, down * across
    arguments = [Input(0), Input(1), Input(2), Output(0), *map(I64, sizes)]
    text = _text(request, _MAXIMA)
    return _refusal(request) or [Launch(text, "roi_pooling_grad", (planes,), arguments)]


@kernel("roi_align", "roi_align_grad")
def points(request):
    """ROIAlign and its gradient: means of interpolated points."""
    values, n = request.values, request.outs[0].size
    number = values["images" if request.name == "roi_align" else "regions"]
    arguments = [Input(0), Input(1), Output(0), I64(n), I64(number)]
    arguments += map(I64, (values["channels"], *_extents(values), values["samples"]))
    arguments += [I64(int(values[name])) for name in ("sensitive", "aligned")]
    arguments.append(F64(*request.number("scale")))
    if request.name == "roi_align":
        arguments.append(_ABSENT)
    text = _text(request, _POINTS)
    return _refusal(request) or [Launch(text, request.name, spread(n), arguments)]


@kernel("psroi_pooling", "psroi_pooling_grad")
def sensitive(request):
    """PSROIPooling and its gradient: means of bins, each with its own channels."""
    values, n = request.values, request.outs[0].size
    counts = [values["images"]]
    if request.name == "psroi_pooling_grad":
        counts = [values["regions"], values["images"]]
    arguments = [Input(0), Input(1), Output(0), I64(n), *map(I64, counts)]
    sizes = values["channels"], *values["source"], values["pooled"], values["groups"]
    arguments += [*map(I64, sizes), F64(*request.number("scale"))]
    if request.name == "psroi_pooling":
        arguments.append(_ABSENT)
    text = _text(request, _SENSITIVE)
    return _refusal(request) or [Launch(text, request.name, spread(n), arguments)]
