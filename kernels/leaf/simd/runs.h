// Functions over contiguous elements of any storage type, computed in the accumulation type. `f` is
// a generic lambda that takes vectors and scalars alike, one from each pointer.
#pragma once
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

// dst[i] = f(src[i]...).
template <class S, class F, class... P>
inline void map_run(int64_t n, S* dst, const F& f, const P*... src) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L) store_as(dst + i, f(load_as<T>(src + i)...));
  if (i < n) {
    const int remaining = (int)(n - i);
    store_first_as(dst + i, f(load_first_as<T>(src + i, remaining)...), remaining);
  }
}

// The sum of f(src[i]...), in double beyond a few thousand elements.
template <class T, class F, class... P>
inline double sum_run(int64_t n, const F& f, const P*... src) {
  constexpr int L = kLanes<T>, kFlush = 64 * L;
  double sum = 0;
  int64_t i = 0;
  while (i + L <= n) {
    const int64_t whole = (n - i) / L * L, end = i + least(whole, kFlush);
    Vec<T> even = {}, odd = {};
    for (; i + 2 * L <= end; i += 2 * L) {
      even += f(load_as<T>(src + i)...);
      odd += f(load_as<T>(src + i + L)...);
    }
    for (; i < end; i += L) even += f(load_as<T>(src + i)...);
    even += odd;
    for (int e = 0; e < L; ++e) sum += even[e];
  }
  for (; i < n; ++i) sum += f(scalar_as<T>(src[i])...);
  return sum;
}

MX_LEAF_END
