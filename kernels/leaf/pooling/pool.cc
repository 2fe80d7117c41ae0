// Pooling: "pool" (data) and "pool_grad" (gradient, data, result) over one to three dimensions,
// channels first ("NCHW") or channels last ("NHWC").
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/pooling/window.h"

MX_LEAF_BEGIN
namespace {

template <int kind, class T>
void join_row(T* sums, const T* src, int64_t n) {
  constexpr int L = kLanes<T>;
  int64_t x = 0;
  for (; x + L <= n; x += L) store(sums + x, join<kind>(load(sums + x), load(src + x)));
  for (; x < n; ++x) sums[x] = join<kind>(sums[x], src[x]);
}

// The row that the windows of an output row see, with its padding, and a vector more to read.
template <class T>
int64_t row_size(const mx_pool_params& p) {
  const int64_t seen = (p.target[2] - 1) * p.stride[2] + p.kernel[2], own = p.pad[2] + p.source[2];
  return (seen > own ? seen : own) * p.inner + 2 * kLanes<T>;
}

// Reduce the columns of each window of one channel; with steps of 1 or 2, a vector of windows.
template <int kind, class T>
void pool_columns(const mx_pool_params& p, const T* row, T* out) {
  const int64_t stride = p.stride[2];
  if (stride > 2) {
    for (int64_t x = 0; x < p.target[2]; ++x, row += stride) {
      out[x] = row[0];
      for (int64_t k = 1; k < p.kernel[2]; ++k) out[x] = merge<kind>(out[x], row[k]);
    }
    return;
  }
  each_vector<T>(p.target[2], [&](int64_t x, int n) {
    const T* at = row + x * stride;
    Vec<T> sum = load_apart(at, kLanes<T>, stride);
    for (int64_t k = 1; k < p.kernel[2]; ++k)
      sum = merge<kind>(sum, load_apart(at + k, kLanes<T>, stride));
    store_lanes(out + x, sum, n);
  });
}

// The same for all channels of each window of a channels-last image.
template <int kind, class T>
void pool_pixels(const mx_pool_params& p, const T* row, T* out) {
  const int64_t inner = p.inner;
  for (int64_t x = 0; x < p.target[2]; ++x, out += inner, row += p.stride[2] * inner) {
    memcpy(out, row, inner * sizeof(T));
    for (int64_t k = 1; k < p.kernel[2]; ++k) {
      join_row<kind == kMax ? kMax : kSum>(out, row + k * inner, inner);
    }
  }
}

// One plane: each output row first reduces the rows of its windows, then their columns. `row` has
// padding, which changes no result.
template <int kind, class S, class T>
void pool_plane(const mx_pool_params& p, const T* in, T* out, T* row) {
  const int64_t width = p.source[2] * p.inner, all = row_size<T>(p);
  T* inside = row + p.pad[2] * p.inner;
  for (int64_t z = 0; z < p.target[0]; ++z) {
    const Extent d(p, 0, z);
    for (int64_t y = 0; y < p.target[1]; ++y) {
      const Extent h(p, 1, y);
      for (int64_t x = 0; x < all; ++x) row[x] = kind == kMax ? lowest<S> : 0;
      for (int64_t i = d.begin; i < d.end; ++i) {
        for (int64_t j = h.begin; j < h.end; ++j) {
          join_row<kind>(inside, in + (i * p.source[1] + j) * width, width);
        }
      }
      p.inner == 1 ? pool_columns<kind>(p, row, out) : pool_pixels<kind>(p, row, out);
      if (kind == kMax || kind == kSum) {
        out += p.target[2] * p.inner;
        continue;
      }
      for (int64_t x = 0; x < p.target[2]; ++x, out += p.inner) {
        const T divisor = divisor_of<T>(p, d, h, Extent(p, 2, x));
        for (int64_t c = 0; c < p.inner; ++c) out[c] = finish<kind>(out[c], divisor);
      }
    }
  }
}

template <int kind, class S>
int pool_kind(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_pool_params*)call->params;
  const int64_t source = p.source[0] * p.source[1] * p.source[2] * p.inner;
  const int64_t target = p.target[0] * p.target[1] * p.target[2] * p.inner;
  const int64_t width = row_size<T>(p);
  return parallel_try(call->threads, p.outer, 1, [&](int64_t begin, int64_t end) {
    const int64_t copies = is_half<S> ? source + target : 0;
    T* row = (T*)scratch(kTempSlot, (size_t)(width + copies) * sizeof(T));
    if (!row) return false;
    for (int64_t i = begin; i < end; ++i) {
      const T* in = open_block(data<S>(call->in[0]) + i * source, row + width, source);
      S* block = data<S>(call->out[0]) + i * target;
      T* out = (T*)block;
      if constexpr (is_half<S>) out = row + width + source;
      pool_plane<kind, S>(p, in, out, row);
      close_block(block, out, target, false);
    }
    return true;
  });
}

template <class S>
int pool(const mx_call* call) {
  switch (((const mx_pool_params*)call->params)->kind) {
    case kMax:
      return pool_kind<kMax, S>(call);
    case kAverage:
      return pool_kind<kAverage, S>(call);
    case kSum:
      return pool_kind<kSum, S>(call);
    case kNorm2:
      return pool_kind<kNorm2, S>(call);
    default:
      return pool_kind<kNorm3, S>(call);
  }
}

// The gradient that one window passes to its elements; `made` and `in` point at the channel.
template <int kind, class S, class T>
inline void return_window(const mx_pool_params& p, const Extent& d, const Extent& h,
                          const Extent& w, T gradient, const T* in, T result, T* in_gradient) {
  T largest = lowest<S>;
  int64_t where = -1;
  for (int64_t i = d.begin; i < d.end; ++i) {
    for (int64_t j = h.begin; j < h.end; ++j) {
      int64_t at = ((i * p.source[1] + j) * p.source[2] + w.begin) * p.inner;
      for (int64_t k = w.begin; k < w.end; ++k, at += p.inner) {
        if constexpr (kind == kMax) {
          if (in[at] > largest) largest = in[at], where = at;
        } else {
          const T ratio = in[at] / result;
          if (result != 0) in_gradient[at] += gradient * (ratio * ratio);
        }
      }
    }
  }
  if (kind == kMax && where >= 0) in_gradient[where] += gradient;
}

// The gradient that a row of windows passes to each column under it: a window gives all of its
// elements the same, or for norms a multiple of the element. `given` has room for the windows.
template <int kind, class T>
void spread_row(const mx_pool_params& p, const Extent& d, const Extent& h, const T* gradient,
                const T* result, T* shares, T* row) {
  for (int64_t x = 0; x < p.target[2]; ++x) {
    const T divisor = divisor_of<T>(p, d, h, Extent(p, 2, x));
    for (int64_t i = x * p.inner; i < (x + 1) * p.inner; ++i) {
      const T below = kind == kAverage ? divisor : kind == kNorm2 ? result[i] : 1;
      shares[i] = below == 0 ? 0 : gradient[i] / below;
    }
  }
  for (int64_t i = 0; i < p.source[2] * p.inner; ++i) row[i] = 0;
  if (p.inner == 1 && p.target[2] >= p.kernel[2]) {
    for (int64_t k = 0; k < p.kernel[2]; ++k) {
      const int64_t first = k - p.pad[2], stride = p.stride[2];
      const Span inside(first, stride, p.source[2], p.target[2]);
      if (stride == 1) {
        for (int64_t x = inside.low; x < inside.high; ++x) row[first + x] += shares[x];
      } else {
        for (int64_t x = inside.low; x < inside.high; ++x) row[first + x * stride] += shares[x];
      }
    }
    return;
  }
  for (int64_t x = 0; x < p.target[2]; ++x) {
    const Extent w(p, 2, x);
    if (p.inner == 1) {
      for (int64_t k = w.begin; k < w.end; ++k) row[k] += shares[x];
      continue;
    }
    for (int64_t k = w.begin; k < w.end; ++k) {
      join_row<kSum>(row + k * p.inner, shares + x * p.inner, p.inner);
    }
  }
}

// One plane of averages, sums or norms.
template <int kind, class T>
void return_plane(const mx_pool_params& p, const T* gradient, const T* in, const T* result,
                  T* in_gradient, T* row) {
  const int64_t width = p.source[2] * p.inner, windows = p.target[2] * p.inner;
  for (int64_t z = 0; z < p.target[0]; ++z) {
    const Extent d(p, 0, z);
    for (int64_t y = 0; y < p.target[1]; ++y, gradient += windows, result += windows) {
      const Extent h(p, 1, y);
      spread_row<kind>(p, d, h, gradient, result, row + width, row);
      for (int64_t i = d.begin; i < d.end; ++i) {
        for (int64_t j = h.begin; j < h.end; ++j) {
          const int64_t at = (i * p.source[1] + j) * width;
          if constexpr (kind == kNorm2) {
            for (int64_t k = 0; k < width; ++k) in_gradient[at + k] += row[k] * in[at + k];
          } else {
            join_row<kSum>(in_gradient + at, row, width);
          }
        }
      }
    }
  }
}

// Positions in a plane, as wide as the elements they accompany.
template <class T>
using Position = Element<Mask<Vec<T>>>;

// Maxima of a vector of windows and their positions. Vectorised, because which element is largest
// is unpredictable for branches.
template <class S, class T = Sum<S>>
struct Maxima {
  typedef Mask<Vec<T>> Index;
  static constexpr Position<T> kNone = Position<T>(1) << (8 * sizeof(T) - 1);
  Vec<T> largest = splat<Vec<T>>(lowest<S>);
  Index where = kNone - Index{};

  MX_INLINE void see(Vec<T> candidate, int64_t position) {
    const Index larger = candidate > largest;
    largest = larger ? candidate : largest;
    where = larger ? (Position<T>)position - Index{} : where;
  }
  MX_INLINE Index at(int64_t position) const { return where == (Position<T>)position - Index{}; }
  // made[position + lane * step] += gradient[lane].
  MX_INLINE void give_back(T* in_gradient, const T* gradient, int count, int64_t step) const {
    Position<T> position[kLanes<T>];
    __builtin_memcpy(position, &where, sizeof where);
    for (int x = 0; x < count; ++x) {
      if (position[x] != kNone) in_gradient[position[x] + x * step] += gradient[x];
    }
  }
};

// One row of windows of a plane, with stride 1 or 2.
template <class S, class T>
void return_row(const mx_pool_params& p, const Extent& d, const Extent& h, const T* gradient,
                const T* in, T* in_gradient) {
  const int64_t stride = p.stride[2], width = p.source[2];
  for (int64_t x0 = 0; x0 < p.target[2]; x0 += kLanes<T>) {
    const int count = (int)least(kLanes<T>, p.target[2] - x0);
    Maxima<S> maxima;
    for (int64_t i = d.begin; i < d.end; ++i) {
      for (int64_t j = h.begin; j < h.end; ++j) {
        const int64_t row = (i * p.source[1] + j) * width;
        for (int64_t k = 0; k < p.kernel[2]; ++k) {
          const int64_t first = x0 * stride + k - p.pad[2];  // the column under window x0
          const Span inside(first, stride, width, count);
          if (inside.low == 0 && inside.high == count) {
            maxima.see(load_apart(in + row + first, count, stride), row + first);
            continue;
          }
          T seen[kLanes<T>];
          for (int x = 0; x < kLanes<T>; ++x) {
            const bool valid = x >= inside.low && x < inside.high;
            seen[x] = valid ? in[row + first + x * stride] : lowest<S>;
          }
          maxima.see(load(seen), row + first);
        }
      }
    }
    maxima.give_back(in_gradient, gradient + x0, count, stride);
  }
}

// One window of a channels-last image, for all its channels.
template <class S, class T>
void return_channels(const mx_pool_params& p, const Extent& d, const Extent& h, const Extent& w,
                     const T* gradient, const T* in, T* in_gradient) {
  for (int64_t c = 0; c < p.inner; c += kLanes<T>) {
    const int count = (int)least(kLanes<T>, p.inner - c);
    Maxima<S> maxima;
    for (int64_t i = d.begin; i < d.end; ++i) {
      for (int64_t j = h.begin; j < h.end; ++j) {
        int64_t at = ((i * p.source[1] + j) * p.source[2] + w.begin) * p.inner + c;
        for (int64_t k = w.begin; k < w.end; ++k, at += p.inner) {
          maxima.see(load_apart(in + at, count, 1), at);
        }
      }
    }
    // Each channel has its maximum at another position, but all of them lie within the window.
    const bool whole = count == kLanes<T>;
    const Vec<T> given = whole ? load(gradient + c) : load_first(gradient + c, count);
    for (int64_t i = d.begin; i < d.end; ++i) {
      for (int64_t j = h.begin; j < h.end; ++j) {
        int64_t at = ((i * p.source[1] + j) * p.source[2] + w.begin) * p.inner + c;
        for (int64_t k = w.begin; k < w.end; ++k, at += p.inner) {
          const Vec<T> share = maxima.at(at) ? given : Vec<T>{};
          T* to = in_gradient + at;
          if (whole) {
            store(to, load(to) + share);
          } else {
            store_first(to, load_first(to, count) + share, count);
          }
        }
      }
    }
  }
}

template <int kind, class S>
int return_kind(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_pool_params*)call->params;
  const int64_t source = p.source[0] * p.source[1] * p.source[2] * p.inner;
  const int64_t target = p.target[0] * p.target[1] * p.target[2] * p.inner;
  const bool add = call->req[0] == MX_ADD;
  return parallel_try(call->threads, p.outer, 1, [&](int64_t begin, int64_t end) {
    const int64_t row = (p.source[2] + p.target[2]) * p.inner;
    const int64_t copies = is_half<S> ? 2 * (source + target) : 0;
    T* copy = (T*)scratch(kTempSlot, (size_t)(row + copies) * sizeof(T));
    if (!copy) return false;
    const bool vectors = kind == kMax && source < INT32_MAX;
    const bool by_row = vectors && p.inner == 1 && p.stride[2] <= 2 && p.target[2] >= 4;
    for (int64_t n = begin; n < end; ++n) {
      const T* gradient = open_block(data<S>(call->in[0]) + n * target, copy, target);
      const T* in = open_block(data<S>(call->in[1]) + n * source, copy + target, source);
      const T* result =
          open_block(data<S>(call->in[2]) + n * target, copy + target + source, target);
      S* block = data<S>(call->out[0]) + n * source;
      T* in_gradient = start_block(block, copy + 2 * target + source, source, add, (T)0);
      if constexpr (kind == kAverage || kind == kSum || kind == kNorm2) {
        return_plane<kind>(p, gradient, in, result, in_gradient, copy + copies);
        close_block(block, in_gradient, source, add);
        continue;
      }
      int64_t at = 0;
      for (int64_t z = 0; z < p.target[0]; ++z) {
        const Extent d(p, 0, z);
        for (int64_t y = 0; y < p.target[1]; ++y) {
          const Extent h(p, 1, y);
          if (by_row) {
            return_row<S>(p, d, h, gradient + at, in, in_gradient);
            at += p.target[2];
            continue;
          }
          for (int64_t x = 0; x < p.target[2]; ++x) {
            const Extent w(p, 2, x);
            if (vectors && p.inner > 1) {
              return_channels<S>(p, d, h, w, gradient + at, in, in_gradient);
              at += p.inner;
              continue;
            }
            for (int64_t c = 0; c < p.inner; ++c, ++at) {
              return_window<kind, S>(p, d, h, w, gradient[at], in + c, result[at], in_gradient + c);
            }
          }
        }
      }
      close_block(block, in_gradient, source, add);
    }
    return true;
  });
}

template <class S>
int pool_grad(const mx_call* call) {
  switch (((const mx_pool_params*)call->params)->kind) {
    case kMax:
      return return_kind<kMax, S>(call);
    case kAverage:
      return return_kind<kAverage, S>(call);
    case kSum:
      return return_kind<kSum, S>(call);
    case kNorm2:
      return return_kind<kNorm2, S>(call);
    default:
      return return_kind<kNorm3, S>(call);
  }
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("pool", pool<S>, dtype, 0);
  mx_kernel_add("pool_grad", pool_grad<S>, dtype, MX_TAKES_ADD);
}

}  // namespace

void register_pool() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
