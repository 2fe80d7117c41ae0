// "resample" (planes): linear interpolation to another size, or the transpose, for gradients.
// Separable: an output row lies between two source rows, each of which is resampled once.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/plane.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

// For each of `target` positions, the lower of its two neighbours among `source` elements, and the
// distance from it.
template <class T>
struct Line {
  int64_t source, target;
  int32_t *low, *high;
  T* part;

  static size_t bytes(int64_t target) { return (size_t)target * (2 * sizeof(int32_t) + sizeof(T)); }
  Line(int64_t source, int64_t target, bool aligned, void* memory)
      : source(source), target(target), part((T*)memory) {
    low = (int32_t*)(part + target);
    high = low + target;
    const double meeting = target > 1 ? (double)(source - 1) / (double)(target - 1) : 0;
    const double scale = (double)source / (double)target;
    for (int64_t i = 0; i < target; ++i) {
      double place = aligned ? (double)i * meeting : ((double)i + 0.5) * scale - 0.5;
      if (place < 0) place = 0;
      low[i] = (int32_t)least((int64_t)place, source - 1);
      high[i] = (int32_t)least(low[i] + 1, source - 1);
      part[i] = (T)(place - low[i]);
    }
  }
};

template <class T>
void spread_row(const Line<T>& line, const T* __restrict from, T* __restrict to) {
  const int32_t *low = line.low, *high = line.high;
  const T* part = line.part;
  for (int64_t i = 0; i < line.target; ++i) {
    to[i] = from[low[i]] * (1 - part[i]) + from[high[i]] * part[i];
  }
}
template <class T>
void gather_row(const Line<T>& line, const T* from, T* to) {
  memset(to, 0, (size_t)line.source * sizeof(T));
  for (int64_t i = 0; i < line.target; ++i) {
    to[line.low[i]] += from[i] * (1 - line.part[i]);
    to[line.high[i]] += from[i] * line.part[i];
  }
}

// Resampled source rows, computed on demand: two at a time.
template <class T>
void enlarge(const Line<T>& down, const Line<T>& across, const T* from, T* to, T* rows) {
  int64_t held[2] = {-1, -1};
  for (int64_t y = 0; y < down.target; ++y, to += across.target) {
    const int64_t both[2] = {down.low[y], down.high[y]};
    for (const int64_t wanted : both) {
      if (held[wanted % 2] == wanted) continue;
      spread_row(across, from + wanted * across.source, rows + wanted % 2 * across.target);
      held[wanted % 2] = wanted;
    }
    const T *a = rows + down.low[y] % 2 * across.target,
            *b = rows + down.high[y] % 2 * across.target;
    const T part = down.part[y], complement = 1 - part;
    for (int64_t x = 0; x < across.target; ++x) to[x] = a[x] * complement + b[x] * part;
  }
}

// The transpose: the rows of the result are summed first, then their direction.
template <class T>
void reduce(const Line<T>& down, const Line<T>& across, const T* from, T* to, T* sums) {
  const int64_t width = across.target;
  memset(sums, 0, (size_t)(down.source * width) * sizeof(T));
  for (int64_t y = 0; y < down.target; ++y, from += width) {
    T *a = sums + down.low[y] * width, *b = sums + down.high[y] * width;
    const T part = down.part[y], complement = 1 - part;
    for (int64_t x = 0; x < width; ++x) a[x] += from[x] * complement;
    for (int64_t x = 0; x < width; ++x) b[x] += from[x] * part;
  }
  for (int64_t y = 0; y < down.source; ++y) {
    gather_row(across, sums + y * width, to + y * across.source);
  }
}

template <class T>
int resample(const mx_call* call) {
  const auto& p = *(const mx_resample_params*)call->params;
  const size_t lines = Line<T>::bytes(p.target[0]) + Line<T>::bytes(p.target[1]) + 64;
  const int64_t rows = (p.transposed ? p.source[0] : 2) * p.target[1];
  return parallel_try(call->threads, p.planes, 1, [&](int64_t begin, int64_t end) {
    char* memory = (char*)scratch(kTempSlot, lines + (size_t)rows * sizeof(T));
    if (!memory) return false;
    T* buffer = (T*)memory;
    char* at = memory + (size_t)rows * sizeof(T);
    const Line<T> down(p.source[0], p.target[0], p.aligned, at);
    const size_t used = (Line<T>::bytes(p.target[0]) + 7) / 8 * 8;
    const Line<T> across(p.source[1], p.target[1], p.aligned, at + used);
    const int64_t small = p.source[0] * p.source[1], large = p.target[0] * p.target[1];
    for (int64_t i = begin; i < end; ++i) {
      const T* from = data<T>(call->in[0]) + i * (p.transposed ? large : small);
      T* to = data<T>(call->out[0]) + i * (p.transposed ? small : large);
      p.transposed ? reduce(down, across, from, to, buffer)
                   : enlarge(down, across, from, to, buffer);
    }
    return true;
  });
}

}  // namespace

void register_resample() {
  mx_kernel_add("resample", resample<float>, MX_BIT(F32), 0);
  mx_kernel_add("resample", resample<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
