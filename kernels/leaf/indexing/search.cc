// "searchsorted": positions in a sorted sequence; "interp": values of piecewise linear functions.
// Many elements are searched together, with branch-free steps; NaN compares as the largest value,
// as in sorted sequences.
#include "leaf/leaf.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kSide = 64;  // elements searched together

template <class T>
inline bool less(T x, T y) {
  if constexpr (T(0.5) == T(0)) return x < y;
  return (x < y) | ((y != y) & (x == x));
}
template <bool right, class T>
inline bool goes_before(T element, T key) {
  return right ? !less(key, element) : less(element, key);
}

// For each of `n` <= kSide keys, the number of the `length` elements before it.
template <bool right, class T>
inline void search(const T* sequence, int64_t length, const T* keys, int64_t n, int64_t* places) {
  for (int64_t i = 0; i < n; ++i) places[i] = 0;
  if (length == 0) return;
  int64_t left = length;
  for (; left > 1; left -= left / 2) {
    const int64_t half = left / 2;
    const T* middle = sequence + half - 1;
    for (int64_t i = 0; i < n; ++i)
      places[i] += half & -(int64_t)goes_before<right>(middle[places[i]], keys[i]);
  }
  for (int64_t i = 0; i < n; ++i) places[i] += goes_before<right>(sequence[places[i]], keys[i]);
}

template <class T>
int searchsorted(const mx_call* call) {
  const auto& p = *static_cast<const mx_search_params*>(call->params);
  const T *sequence = data<T>(call->in[0]), *keys = data<T>(call->in[1]);
  const int64_t length = count(call->in[0]), n = count(call->in[1]);
  int64_t* places = data<int64_t>(call->out[0]);
  parallel_for(call->threads, n, kSide, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kSide) {
      const int64_t size = end - at < kSide ? end - at : kSide;
      if (p.right)
        search<true>(sequence, length, keys + at, size, places + at);
      else
        search<false>(sequence, length, keys + at, size, places + at);
    }
  });
  return 0;
}

// The value at x of the line through points `at` and the next. If an infinite slope or point gives
// NaN, the line is evaluated from its other end, and equal ends are the value.
template <class T>
inline double on_line(const T* xs, const T* ys, int64_t at, double x) {
  const double x0 = xs[at], x1 = xs[at + 1], y0 = ys[at], y1 = ys[at + 1];
  const double slope = (y1 - y0) / (x1 - x0);
  double y = slope * (x - x0) + y0;
  if (__builtin_expect(y != y, 0)) {
    y = slope * (x - x1) + y1;
    if (y != y && y0 == y1) y = y0;
  }
  return y;
}

template <class T>
int interp(const mx_call* call) {
  const auto& p = *static_cast<const mx_interp_params*>(call->params);
  const T *xs = data<T>(call->in[0]), *ys = data<T>(call->in[1]), *keys = data<T>(call->in[2]);
  const int64_t length = count(call->in[0]), n = count(call->in[2]);
  const double below = p.has_left ? p.left : (double)ys[0];
  const double above = p.has_right ? p.right : (double)ys[length - 1];
  double* out = data<double>(call->out[0]);
  parallel_for(call->threads, n, kSide, [&](int64_t begin, int64_t end) {
    int64_t places[kSide];
    for (int64_t at = begin; at < end; at += kSide) {
      const int64_t size = end - at < kSide ? end - at : kSide;
      search<true>(xs, length, keys + at, size, places);
      for (int64_t i = 0; i < size; ++i) {
        const T x = keys[at + i];
        const int64_t place = places[i] - 1;
        double y;
        if (x != x)
          y = length == 1 ? (double)ys[0] : (double)x;  // as in NumPy
        else if (place < 0)
          y = below;
        else if (x > xs[length - 1])
          y = above;
        else if (place == length - 1 || xs[place] == x)
          y = ys[place];
        else
          y = on_line(xs, ys, place, x);
        out[at + i] = y;
      }
    }
  });
  return 0;
}

}  // namespace

void register_search() {
  mx_kernel_add("searchsorted", searchsorted<float>, MX_BIT(F32), 0);
  mx_kernel_add("searchsorted", searchsorted<double>, MX_BIT(F64), 0);
  mx_kernel_add("searchsorted", searchsorted<int32_t>, MX_BIT(I32), 0);
  mx_kernel_add("searchsorted", searchsorted<int64_t>, MX_BIT(I64), 0);
  mx_kernel_add("interp", interp<float>, MX_BIT(F32), 0);
  mx_kernel_add("interp", interp<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
