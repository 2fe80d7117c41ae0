// Order-preserving conversion of elements to integers: NaN is the largest, and all bits are flipped
// for descending order.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

template <class T>
constexpr T kLargest = sizeof(T) == 8 ? (T)INT64_MAX : (T)INT32_MAX;
template <class T>
constexpr T kInfinity = sizeof(T) == 8 ? (T)0x7ff0000000000000 : (T)0x7f800000;

template <bool real, class T>
MX_INLINE T key_of(T x, T flip) {
  const T magnitude = x & kLargest<T>;
  if (real) x = magnitude > kInfinity<T> ? kLargest<T> : x < 0 ? x ^ kLargest<T> : x;
  return x ^ flip;
}
template <bool real, class T>
MX_INLINE T element_of(T key, T flip) {
  key ^= flip;
  return real && key < 0 ? key ^ kLargest<T> : key;
}
template <bool real, class T>
void elements_of(T* keys, int64_t n, T flip) {
  for (int64_t i = 0; i < n; ++i) keys[i] = element_of<real>(keys[i], flip);
}

// The keys of a vector of elements.
template <class T, bool real>
struct KeyOf {
  T flip;

  MX_INLINE Vec<T> operator()(Vec<T> x) const {
    typedef Vec<T> V;
    if constexpr (real) {
      const V most = splat<V>(kLargest<T>), magnitude = x & most;
      x = magnitude > splat<V>(kInfinity<T>) ? most : x ^ ((x >> (8 * sizeof(T) - 1)) & most);
    }
    return x ^ splat<V>(flip);
  }
};

MX_LEAF_END
