// Windows of pooling: their extents, and how elements are reduced.
#pragma once
#include <float.h>

#include "leaf/simd/plane.h"
#include "params/pooling.gen.h"

MX_LEAF_BEGIN
namespace {

enum Kind { kMax, kAverage, kSum, kNorm2, kNorm3 };

template <class S>
constexpr Sum<S> lowest = 0;
template <>
constexpr float lowest<float> = -FLT_MAX;
template <>
constexpr double lowest<double> = -DBL_MAX;
template <>
constexpr float lowest<f16> = -65504.0f;
template <>
constexpr float lowest<bf16> = -0x1.FEp127f;

// The valid part [begin, end) of a window along one dimension, and its length with padding.
struct Extent {
  int64_t begin, end, whole;
  Extent(const mx_pool_params& p, int i, int64_t position) {
    begin = position * p.stride[i] - p.pad[i];
    end =
        begin + p.kernel[i] < p.source[i] + p.pad[i] ? begin + p.kernel[i] : p.source[i] + p.pad[i];
    whole = end > begin ? end - begin : 0;
    if (begin < 0) begin = 0;
    if (end > p.source[i]) end = p.source[i];
    if (end < begin) end = begin;
  }
  int64_t size() const { return end - begin; }
};

// Accumulate element (or vector of elements) x into a window's result; NaN is never a maximum.
template <int kind, class V>
MX_INLINE V join(V sum, V x) {
  if constexpr (kind == kMax) return x > sum ? x : sum;
  if constexpr (kind == kNorm2) return sum + x * x;
  if constexpr (kind == kNorm3) return sum + x * x * x;
  return sum + x;
}
// Combine two partial results.
template <int kind, class V>
MX_INLINE V merge(V sum, V x) {
  return join < kind == kMax ? kMax : kSum > (sum, x);
}
template <int kind, class T>
inline T finish(T sum, T divisor) {
  if constexpr (kind == kAverage) return divisor == 0 ? 0 : sum / divisor;
  if constexpr (kind == kNorm2) return (T)__builtin_sqrt(sum);
  if constexpr (kind == kNorm3) return (T)__builtin_cbrt(sum);
  return sum;
}

template <class T>
T divisor_of(const mx_pool_params& p, const Extent& d, const Extent& h, const Extent& w) {
  return (T)(p.count_pad ? d.whole * h.whole * w.whole : d.size() * h.size() * w.size());
}

// n elements (up to a vector), 1 or 2 apart; unused lanes are zero.
template <class T>
MX_INLINE Vec<T> load_apart(const T* src, int n, int64_t stride) {
  constexpr int L = kLanes<T>;
  if (stride == 1) return n == L ? load(src) : load_first(src, n);
  const int read = 2 * n - 1;
  const Vec<T> low = read >= L ? load(src) : load_first(src, read);
  const Vec<T> high = read > L ? load_first(src + L, read - L) : Vec<T>{};
  Mask<Vec<T>> index;
  for (int i = 0; i < L; ++i) index[i] = 2 * i;
  return __builtin_shuffle(low, high, index);
}

}  // namespace
MX_LEAF_END
