// Radix sort of integers.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

constexpr int64_t kWide = 4096;  // from this size on 11-bit digits beat 8-bit ones

// Sort n keys by digits of `bits` bits, lowest first. Returns the sorted array: `keys` or `spare`.
template <int bits, class T>
T* sort_digits(T* keys, T* spare, int64_t n) {
  typedef typename UnsignedOf<sizeof(T)>::type U;
  constexpr int kWidth = 8 * sizeof(T), kDigits = ceil_div(kWidth, bits), kSize = 1 << bits;
  const auto digit = [](T key, int number) {
    return (int)(((U)key ^ (U)1 << (kWidth - 1)) >> number * bits) & (kSize - 1);
  };
  uint32_t counts[kDigits][kSize] = {};
  for (int64_t i = 0; i < n; ++i)
    for (int number = 0; number < kDigits; ++number) ++counts[number][digit(keys[i], number)];
  for (int number = 0; number < kDigits; ++number) {
    uint32_t* starts = counts[number];
    if (starts[digit(keys[0], number)] == n) continue;
    uint32_t start = 0;
    for (int d = 0; d < kSize; ++d) {
      const uint32_t size = starts[d];
      starts[d] = start;
      start += size;
    }
    for (int64_t i = 0; i < n; ++i) spare[starts[digit(keys[i], number)]++] = keys[i];
    T* sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}
template <class T>
T* sort_digits(T* keys, T* spare, int64_t n) {
  return n < kWide ? sort_digits<8>(keys, spare, n) : sort_digits<11>(keys, spare, n);
}

MX_LEAF_END
