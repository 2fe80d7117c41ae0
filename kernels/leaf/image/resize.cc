// "image_resize" (images, channels last): resizing with OpenCV's results.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/plane.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

// Accumulator and pixel weights: 11-bit integers for uint8.
template <class T>
struct Weighing {
  typedef T Number;
  static T weight(float x) { return (T)x; }
  static T sum(T upper, T lower, T down, T complement) { return upper * complement + lower * down; }
  static T mean(const T* a, const T* b, int64_t step) {
    return (a[0] + a[step] + b[0] + b[step]) * (T)0.25;
  }
};
template <>
struct Weighing<uint8_t> {
  typedef int32_t Number;
  static int32_t weight(float x) { return (int32_t)__builtin_rintf(x * 2048); }
  static uint8_t sum(int32_t upper, int32_t lower, int32_t down, int32_t complement) {
    const int32_t total = (complement * (upper >> 4) >> 16) + (down * (lower >> 4) >> 16);
    const int32_t value = (total + 2) >> 2;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
  static uint8_t mean(const uint8_t* a, const uint8_t* b, int64_t step) {
    return (uint8_t)((a[0] + a[step] + b[0] + b[step] + 2) >> 2);
  }
};

// For each target position along a dimension: its neighbours and their weights. At borders OpenCV
// takes one pixel in a row, but adds the weighted parts of one row.
template <class T>
struct Line {
  typedef typename Weighing<T>::Number Number;
  int64_t *low, *high;
  Number *complement, *part;

  static size_t bytes(int64_t target) {
    return (size_t)target * 2 * (sizeof(int64_t) + sizeof(double));
  }
  Line(void* memory, int64_t source, int64_t target, bool nearest, bool rows) {
    low = (int64_t*)memory;
    high = low + target;
    complement = (Number*)(high + target);
    part = complement + target;
    const double scale = (double)source / (double)target;
    const double inverse = 1 / ((double)target / (double)source);
    for (int64_t i = 0; i < target; ++i) {
      if (nearest) {
        low[i] = least((int64_t)((double)i * inverse), source - 1);
        continue;
      }
      const float place = (float)(((double)i + 0.5) * scale - 0.5);
      const float first = __builtin_floorf(place);
      const bool between = first >= 0 && first < (float)(source - 1);
      const float weight = between || rows ? place - first : 0;
      low[i] = first < 0 ? 0 : least((int64_t)first, source - 1);  // `place` may be rounded up
      high[i] = first < 0 && rows ? 0 : least(low[i] + 1, source - 1);
      complement[i] = Weighing<T>::weight(1 - weight);
      part[i] = Weighing<T>::weight(weight);
    }
  }
};

// `fixed` is the number of channels if known at compile time, or 0.
template <class T, int fixed>
class Resizer {
  typedef typename Weighing<T>::Number Number;

 public:
  static size_t bytes(const mx_image_resize_params& p) {
    return Line<T>::bytes(p.target[0]) + Line<T>::bytes(p.target[1]) +
           (size_t)(2 * p.target[1] * p.channels) * sizeof(Number);
  }
  Resizer(const mx_image_resize_params& params, void* memory)
      : p(params),
        channels_(fixed ? fixed : p.channels),
        down_(memory, p.source[0], p.target[0], p.nearest, true),
        across_((char*)memory + Line<T>::bytes(p.target[0]), p.source[1], p.target[1], p.nearest,
                false) {
    char* rows = (char*)memory + Line<T>::bytes(p.target[0]) + Line<T>::bytes(p.target[1]);
    rows_[0] = (Number*)rows;
    rows_[1] = rows_[0] + p.target[1] * channels_;
    halves_ = !p.nearest && p.source[0] == 2 * p.target[0] && p.source[1] == 2 * p.target[1];
  }

  // Write row y of an image's result.
  void write(const T* image, int64_t y, T* out) {
    const int64_t width = p.target[1], length = p.source[1] * channels_;
    if (p.nearest) return pick(image + down_.low[y] * length, out);
    if (halves_) {
      const T *a = image + 2 * y * length, *b = a + length;
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < channels_; ++c) {
          const int64_t at = 2 * x * channels_ + c;
          out[x * channels_ + c] = Weighing<T>::mean(a + at, b + at, channels_);
        }
      }
      return;
    }
    spread(image + down_.low[y] * length, rows_[0]);
    spread(image + down_.high[y] * length, rows_[1]);
    const Number complement = down_.complement[y], part = down_.part[y];
    const Number* __restrict upper = rows_[0], * __restrict lower = rows_[1];
    for (int64_t i = 0; i < width * channels_; ++i) {
      out[i] = Weighing<T>::sum(upper[i], lower[i], part, complement);
    }
  }

 private:
  void pick(const T* row, T* out) const {
    for (int64_t x = 0; x < p.target[1]; ++x) {
      for (int64_t c = 0; c < channels_; ++c) {
        out[x * channels_ + c] = row[across_.low[x] * channels_ + c];
      }
    }
  }
  void spread(const T* __restrict row, Number* __restrict out) const {
    for (int64_t x = 0; x < p.target[1]; ++x) {
      const T *a = row + across_.low[x] * channels_, *b = row + across_.high[x] * channels_;
      for (int64_t c = 0; c < channels_; ++c) {
        out[x * channels_ + c] =
            (Number)a[c] * across_.complement[x] + (Number)b[c] * across_.part[x];
      }
    }
  }

  const mx_image_resize_params& p;
  int64_t channels_;
  Line<T> down_, across_;
  Number* rows_[2];
  bool halves_;
};

template <class T, int fixed>
int resize(const mx_call* call) {
  const auto& p = *(const mx_image_resize_params*)call->params;
  const int64_t row = p.target[1] * p.channels, size = p.source[0] * p.source[1] * p.channels;
  return parallel_try(call->threads, p.batch * p.target[0], 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Resizer<T, fixed>::bytes(p));
    if (!memory) return false;
    Resizer<T, fixed> resizer(p, memory);
    for (int64_t i = begin; i < end; ++i) {
      resizer.write(data<T>(call->in[0]) + i / p.target[0] * size, i % p.target[0],
                    data<T>(call->out[0]) + i * row);
    }
    return true;
  });
}

template <class T>
int image_resize(const mx_call* call) {
  const auto& p = *(const mx_image_resize_params*)call->params;
  return p.channels == 1   ? resize<T, 1>(call)
         : p.channels == 3 ? resize<T, 3>(call)
                           : resize<T, 0>(call);
}

}  // namespace

void register_image_resize() {
  mx_kernel_add("image_resize", image_resize<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("image_resize", image_resize<float>, MX_BIT(F32), 0);
  mx_kernel_add("image_resize", image_resize<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
