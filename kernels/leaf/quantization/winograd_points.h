// Winograd's F(4 x 4, 3 x 3) in integers: transforms of bytes, weights and sums. Transformed data
// fit in 16 bits, and so do the weights, which are scaled by 24 in each dimension instead of
// being divided. Sums may wrap around: results scaled by 24 x 24 are right modulo 2^32, so results
// between -2^25 and 2^25 are exact.
//
// The points are 0, 1, -1, 2, -2 and infinity. Narrow tiles, at the lower or right edge, have only
// 2 outputs in a dimension and lack 2 and -2. The weights of the other points are the same, so
// their data is multiplied instead.
#pragma once
#include "leaf/quantization/byte_layer.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

constexpr int kSide = 4, kReach = 6;      // outputs and inputs of a tile in one dimension
constexpr int kPoints = kReach * kReach;  // products per tile, channel and filter
constexpr int kNarrow = 2;                // outputs of a narrow tile
constexpr int64_t kBroad = 32;            // channels per register

// sum += a[0] * b[0] + a[1] * b[1] in each lane, see `add_products`.
inline __attribute__((always_inline)) void add_pairs(__m512i& sum, __m512i a, __m512i b) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

// Whether narrow tiles have a point.
inline bool has_narrow(int point) { return point < 3 || point == kReach - 1; }

// B^T d in one dimension. Narrow tiles' other points are undefined.
template <bool narrow>
inline __attribute__((always_inline)) void data_points(const __m512i (&d)[kReach],
                                                       __m512i (&to)[kReach]) {
  const auto plus = [](__m512i a, __m512i b) { return _mm512_add_epi16(a, b); };
  const auto minus = [](__m512i a, __m512i b) { return _mm512_sub_epi16(a, b); };
  const auto thrice = [&](__m512i a) { return plus(a, plus(a, a)); };
  const auto four = [](__m512i a) { return _mm512_slli_epi16(a, 2); };
  const __m512i odd = minus(d[3], d[1]), twice = plus(odd, odd);
  if (narrow) {
    to[0] = four(minus(d[0], d[2]));
    to[1] = thrice(minus(_mm512_setzero_si512(), plus(d[1], d[2])));
    to[2] = thrice(minus(d[1], d[2]));
    to[5] = twice;
    return;
  }
  const __m512i even = minus(d[4], d[2]);
  const __m512i far = minus(d[4], four(d[2])), near = minus(d[3], four(d[1]));
  to[0] = plus(even, four(minus(d[0], d[2])));
  to[1] = plus(far, near);
  to[2] = minus(far, near);
  to[3] = plus(even, twice);
  to[4] = minus(even, twice);
  to[5] = minus(minus(d[5], d[3]), four(odd));
}

// The transformed weights of a 3 x 3 filter: 24 G in each dimension, where the last row is only 12
// G because its square would exceed 16 bits.
inline void weight_points(const int8_t* g, int16_t (&to)[kPoints]) {
  const auto line = [](int a, int b, int c, int16_t* at, int step) {
    at[0] = (int16_t)(6 * a);
    at[step] = (int16_t)(-4 * (a + b + c));
    at[2 * step] = (int16_t)(-4 * (a - b + c));
    at[3 * step] = (int16_t)(a + 2 * b + 4 * c);
    at[4 * step] = (int16_t)(a - 2 * b + 4 * c);
    at[5 * step] = (int16_t)(12 * c);
  };
  int16_t rows[kReach * 3];
  for (int x = 0; x < 3; ++x) line(g[x], g[3 + x], g[6 + x], rows + x, 3);
  for (int i = 0; i < kReach; ++i)
    line(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2], to + kReach * i, 1);
}

// A^T m in one dimension.
template <bool narrow>
inline __attribute__((always_inline)) void result_points(const __m512i (&m)[kReach],
                                                         __m512i (&to)[kSide]) {
  const auto plus = [](__m512i a, __m512i b) { return _mm512_add_epi32(a, b); };
  const auto minus = [](__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); };
  const auto twice = [](__m512i a) { return _mm512_slli_epi32(a, 1); };
  const auto four = [](__m512i a) { return _mm512_slli_epi32(a, 2); };
  const __m512i sum = plus(m[1], m[2]), difference = minus(m[1], m[2]);
  if (narrow) {
    to[0] = plus(m[0], sum);
    to[1] = plus(difference, m[5]);
    return;
  }
  const __m512i wide = plus(m[3], m[4]), gap = twice(minus(m[3], m[4]));
  to[0] = plus(m[0], plus(sum, wide));
  to[1] = plus(difference, gap);
  to[2] = plus(sum, four(wide));
  to[3] = plus(plus(difference, four(gap)), twice(m[5]));
}

// Divide by 24 x 24 what is a multiple of it modulo 2^32; the quotient has 26 bits.
inline __m512i unscaled(__m512i x) {
  const __m512i ninth = _mm512_set1_epi32(0x38e38e39);  // times 9 is 1 modulo 2^32
  return _mm512_srai_epi32(_mm512_mullo_epi32(x, ninth), 6);
}

// The magnitude up to which results are exact.
constexpr int64_t kLargestResult = (1 << 25) - 1;

MX_LEAF_END
#endif
