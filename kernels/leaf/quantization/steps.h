// 8-bit integers and their ranges, as defined in ops/quantization/ranges.py.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN
inline float larger(float low, float high) {
  const float a = __builtin_fabsf(low), b = __builtin_fabsf(high);
  return a > b ? a : b;
}

// Largest magnitude of the range in inputs `at` and `at + 1`.
inline float reach(const mx_call* call, int at) {
  return larger(*data<float>(call->in[at]), *data<float>(call->in[at + 1]));
}

inline float per_unit(float number, float reach) { return reach > 0 ? number / reach : 0.f; }

template <class D>
constexpr float limit_of() {
  return sizeof(D) > 1 ? 2147483647.f : (D)-1 < 0 ? 127.5f : 255.5f;
}

// Factor that converts integers of one type and range to another.
template <class S, class D>
inline float rescale(float own, float top) {
  return top > 0 ? own / limit_of<S>() * limit_of<D>() / top : 0.f;
}

// dst[i] = f(i) for i in [begin, end). Stores of bytes may alias any variable in memory, so `f` is
// passed by value and holds everything it needs.
template <class D, class F>
inline void fill_run(D* dst, int64_t begin, int64_t end, const F f) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) dst[i] = f(i);
}

// Rounded half to even and saturated; NaN becomes the maximum.
template <class D>
inline D saturated(float x) {
  constexpr float low = (D)-1 < 0 ? -128.f : 0.f, high = (D)-1 < 0 ? 127.f : 255.f;
  x = x < high ? x : high;
  x = x > low ? x : low;
  return (D)(int32_t)__builtin_rintf(x);
}
MX_LEAF_END
