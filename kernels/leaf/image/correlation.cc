// "correlation" (two images) and "correlation_grad" (output gradient, two images): means of
// products, or of absolute differences, of patches at displacements. Images are first padded with
// zeros, and columns grouped by remainder modulo `stride1`, so that neighbouring outputs read
// neighbouring elements.
#include "leaf/simd/runs.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int kDisplacements = 8;  // displacements whose sums stay in registers

// A zero-padded image.
template <class T>
struct Padded {
  T* data;
  const mx_correlation_params* p;

  int64_t height() const { return p->source[0] + 2 * p->pad; }
  int64_t plane() const { return height() * p->row; }
  int64_t size() const { return p->channels * plane(); }
  int64_t column(int64_t x) const {
    return x % p->stride1 * (p->row / p->stride1) + x / p->stride1;
  }

  void fill(const T* image, int64_t c) const {
    T* to = data + c * plane();
    memset(to, 0, (size_t)plane() * sizeof(T));
    const T* from = image + c * p->source[0] * p->source[1];
    for (int64_t y = 0; y < p->source[0]; ++y) {
      T* row = to + (y + p->pad) * p->row;
      for (int64_t x = 0; x < p->source[1]; ++x) row[column(x + p->pad)] = *from++;
    }
  }
  void write_back(T* image, int64_t c, T scale) const {
    const T* from = data + c * plane();
    T* to = image + c * p->source[0] * p->source[1];
    for (int64_t y = 0; y < p->source[0]; ++y) {
      const T* row = from + (y + p->pad) * p->row;
      for (int64_t x = 0; x < p->source[1]; ++x) *to++ = row[column(x + p->pad)] * scale;
    }
  }
};

// Number of displacements along an axis, and the weight of a product in a mean.
inline int64_t side(const mx_correlation_params& p) { return 2 * p.radius + 1; }
template <class T>
T share(const mx_correlation_params& p) {
  return (T)1 / (T)(p.kernel * p.kernel * p.channels);
}

template <class T>
void fill_both(const mx_call* call, const Padded<T>& lhs, const Padded<T>& rhs, const mx_tensor* in,
               int64_t image) {
  const auto& p = *lhs.p;
  const int64_t size = p.channels * p.source[0] * p.source[1];
  parallel_for(call->threads, 2 * p.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t which = c / p.channels;
      (which ? rhs : lhs).fill(data<T>(in[which]) + image * size, c % p.channels);
    }
  });
}

// One output row for `kDisplacements` displacements in a row of displacements.
template <class T, bool product>
void compare_row(const Padded<T>& lhs, const Padded<T>& rhs, int64_t row, int64_t down,
                 int64_t first, T* out, int64_t step) {
  const auto& p = *lhs.p;
  constexpr int N = kLanes<T>;
  const int64_t y = row * p.stride1 + p.reach, sides = side(p), plane = lhs.plane();
  for (int64_t x = 0; x < p.target[1]; x += N) {
    Vec<T> sums[kDisplacements] = {};
    for (int64_t tap = 0; tap < p.kernel * p.kernel; ++tap) {
      const int64_t v = y + tap / p.kernel, h = p.reach + tap % p.kernel;
      const T* a = lhs.data + v * p.row + lhs.column(h) + x;
      const T* b = rhs.data + (v + down) * p.row + x;
      const T* at[kDisplacements];
      for (int i = 0; i < kDisplacements; ++i) {
        const int64_t across = (least(first + i, sides - 1) - p.radius) * p.stride2;
        at[i] = b + rhs.column(h + across);
      }
      for (int64_t c = 0; c < p.channels; ++c) {
        const Vec<T> left = load(a + c * plane);
#pragma GCC unroll 8
        for (int i = 0; i < kDisplacements; ++i) {
          const Vec<T> right = load(at[i] + c * plane);
          if (product) {
            sums[i] = fma(left, right, sums[i]);
          } else {
            sums[i] += abs(left - right);
          }
        }
      }
    }
    const int n = (int)least(N, p.target[1] - x);
    for (int64_t i = 0; i < least(kDisplacements, sides - first); ++i) {
      store_first(out + i * step + x, sums[i] * share<T>(p), n);
    }
  }
}

template <class T>
int correlation(const mx_call* call) {
  const auto& p = *(const mx_correlation_params*)call->params;
  const Padded<T> lhs = {(T*)call->workspace, &p}, rhs = {lhs.data + lhs.size(), &p};
  const int64_t sides = side(p), size = p.target[0] * p.target[1];
  for (int64_t image = 0; image < p.batch; ++image) {
    fill_both(call, lhs, rhs, call->in, image);
    T* out = data<T>(call->out[0]) + image * sides * sides * size;
    parallel_for(call->threads, sides * p.target[0], 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t row = unit / sides, line = unit % sides;
        const int64_t down = (line - p.radius) * p.stride2;
        for (int64_t first = 0; first < sides; first += kDisplacements) {
          T* to = out + (line * sides + first) * size + row * p.target[1];
          if (p.multiply) {
            compare_row<T, true>(lhs, rhs, row, down, first, to, size);
          } else {
            compare_row<T, false>(lhs, rhs, row, down, first, to, size);
          }
        }
      }
    });
  }
  return 0;
}

// Scatter a row of the output gradient to the rows of both images it depends on.
template <class T>
void share_row(const mx_correlation_params& p, const T* grads, const T* a, const T* b, T* by_a,
               T* by_b) {
  constexpr int N = kLanes<T>;
  for (int64_t x = 0; x < p.target[1]; x += N) {
    const int n = (int)least(N, p.target[1] - x);
    const Vec<T> g = load_first(grads + x, n);
    const Vec<T> left = load_first(a + x, n), right = load_first(b + x, n);
    Vec<T> to_left = g * right, to_right = g * left;
    if (!p.multiply) {
      to_left = left >= right ? g : -g;
      to_right = -to_left;
    }
    store_first(by_a + x, load_first(by_a + x, n) + to_left, n);
    store_first(by_b + x, load_first(by_b + x, n) + to_right, n);
  }
}

// Gradients of one channel of both images.
template <class T>
void share_channel(const Padded<T>* images, const T* grads, int64_t c) {
  const auto& p = *images->p;
  const int64_t sides = side(p), at = c * images->plane();
  for (int i = 2; i < 4; ++i) memset(images[i].data + at, 0, (size_t)images->plane() * sizeof(T));
  for (int64_t number = 0; number < sides * sides; ++number) {
    const int64_t down = (number / sides - p.radius) * p.stride2;
    const int64_t across = (number % sides - p.radius) * p.stride2;
    for (int64_t row = 0; row < p.target[0]; ++row, grads += p.target[1]) {
      for (int64_t tap = 0; tap < p.kernel * p.kernel; ++tap) {
        const int64_t v = row * p.stride1 + p.reach + tap / p.kernel;
        const int64_t h = p.reach + tap % p.kernel;
        const int64_t a = at + v * p.row + images->column(h);
        const int64_t b = at + (v + down) * p.row + images->column(h + across);
        share_row(p, grads, images[0].data + a, images[1].data + b, images[2].data + a,
                  images[3].data + b);
      }
    }
  }
}

template <class T>
int correlation_grad(const mx_call* call) {
  const auto& p = *(const mx_correlation_params*)call->params;
  Padded<T> images[4];  // both, and their gradients
  for (int i = 0; i < 4; ++i) {
    images[i].p = &p;
    images[i].data = (T*)call->workspace + i * images[i].size();
  }
  const int64_t results = side(p) * side(p) * p.target[0] * p.target[1];
  const int64_t size = p.channels * p.source[0] * p.source[1];
  for (int64_t image = 0; image < p.batch; ++image) {
    fill_both(call, images[0], images[1], call->in + 1, image);
    const T* grads = data<T>(call->in[0]) + image * results;
    parallel_for(call->threads, p.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        share_channel(images, grads, c);
        for (int i = 0; i < 2; ++i) {
          if (!call->out[i].data) continue;
          images[2 + i].write_back(data<T>(call->out[i]) + image * size, c, share<T>(p));
        }
      }
    });
  }
  return 0;
}

}  // namespace

void register_correlation() {
  mx_kernel_add("correlation", correlation<float>, MX_BIT(F32), 0);
  mx_kernel_add("correlation", correlation<double>, MX_BIT(F64), 0);
  mx_kernel_add("correlation_grad", correlation_grad<float>, MX_BIT(F32), 0);
  mx_kernel_add("correlation_grad", correlation_grad<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
