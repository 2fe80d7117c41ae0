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

#if MX_ISA_LEVEL >= 3
MX_LEAF_BEGIN

constexpr int kSide = 4, kReach = 6;          // outputs and inputs of a tile in one dimension
constexpr int kPoints = kReach * kReach;      // products per tile, channel and filter
constexpr int kNarrow = 2;                    // outputs of a narrow tile
constexpr int64_t kBroad = kLanes<uint16_t>;  // channels per register

// Whether narrow tiles have a point.
inline bool has_narrow(int point) { return point < 3 || point == kReach - 1; }

// B^T d in one dimension. Narrow tiles' other points are undefined.
template <bool narrow>
MX_INLINE void data_points(const Shorts (&d)[kReach], Shorts (&to)[kReach]) {
  const Shorts odd = d[3] - d[1], twice = odd + odd;
  if (narrow) {
    const Shorts sum = d[1] + d[2], difference = d[1] - d[2];
    to[0] = (d[0] - d[2]) << 2;
    to[1] = -(sum + (sum + sum));
    to[2] = difference + (difference + difference);
    to[5] = twice;
    return;
  }
  const Shorts even = d[4] - d[2];
  const Shorts far = d[4] - (d[2] << 2), near = d[3] - (d[1] << 2);
  to[0] = even + ((d[0] - d[2]) << 2);
  to[1] = far + near;
  to[2] = far - near;
  to[3] = even + twice;
  to[4] = even - twice;
  to[5] = d[5] - d[3] - (odd << 2);
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
MX_INLINE void result_points(const Sums (&m)[kReach], Sums (&to)[kSide]) {
  const Sums sum = m[1] + m[2], difference = m[1] - m[2];
  if (narrow) {
    to[0] = m[0] + sum;
    to[1] = difference + m[5];
    return;
  }
  const Sums wide = m[3] + m[4], gap = (m[3] - m[4]) << 1;
  to[0] = m[0] + (sum + wide);
  to[1] = difference + gap;
  to[2] = sum + (wide << 2);
  to[3] = difference + (gap << 2) + (m[5] << 1);
}

// Divide by 24 x 24 what is a multiple of it modulo 2^32; the quotient has 26 bits.
MX_INLINE Sums unscaled(const Sums& x) {
  const Sums ninth = splat<Sums>(0x38e38e39);  // times 9 is 1 modulo 2^32
  return (Sums)((VI)(x * ninth) >> 6);
}

// The magnitude up to which results are exact.
constexpr int64_t kLargestResult = (1 << 25) - 1;

MX_LEAF_END
#endif
