// Logarithms of floats by table, where a lookup among 32 values is one instruction.
//
// x = 2^k m with 3/4 <= m < 3/2, and the upper five bits of m's fraction select an interval. Each
// has a constant c near the reciprocal of its centre: log(x) = k ln(2) - log(c) + log(1 + r), r = m
// c - 1. Near x = 1, c is 1. The other c have so few bits that r is exact.
#pragma once
#include "leaf/simd/vec.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// The constants c, then -log(c) as a multiple of 2^-17, so that sums with multiples of the upper
// part of ln(2) are exact, then the remainder of -log(c).
// clang-format off
alignas(64) inline constexpr float kLogTable[3 * 32] = {
    1, 0.953125f, 0.9296875f, 0.8984375f, 0.875f, 0.8515625f, 0.828125f, 0.8125f, 0.7890625f,
    0.7734375f, 0.75f, 0.734375f, 0.71875f, 0.703125f, 0.6875f, 0.671875f, 1.3125f, 1.296875f,
    1.265625f, 1.25f, 1.21875f, 1.203125f, 1.171875f, 1.15625f, 1.125f, 1.109375f, 1.09375f,
    1.078125f, 1.0625f, 1.046875f, 1.03125f, 1,

    0, 0.04801178f, 0.072906494f, 0.10710144f, 0.13352966f, 0.16068268f, 0.188591f, 0.2076416f,
    0.23690796f, 0.25691223f, 0.28768158f, 0.3087387f, 0.33023834f, 0.35221863f, 0.37469482f,
    0.3976822f, -0.2719345f, -0.25995636f, -0.23556519f, -0.22314453f, -0.19782257f,
    -0.18492126f, -0.15860748f, -0.14517975f, -0.11778259f, -0.10379791f, -0.08961487f,
    -0.07522583f, -0.06062317f, -0.045806885f, -0.030769348f, 0,

    0, -2.560599e-06f, 2.766675e-07f, -3.304873e-06f, 1.729539e-06f, -2.965322e-07f,
    1.663896e-07f, -2.236784e-06f, 1.788094e-06f, -1.81766e-06f, 4.928619e-07f, -3.226847e-06f,
    3.344585e-06f, 1.96566e-06f, -1.374777e-06f, 7.777247e-07f, 7.937937e-07f, -1.164574e-06f,
    -8.857659e-07f, 9.799357e-07f, -3.172529e-06f, -1.073846e-06f, 2.452733e-06f,
    -2.261309e-06f, -4.428829e-07f, 1.118916e-06f, 2.709474e-06f, 2.408841e-06f, -1.452871e-06f,
    -2.651266e-06f, -2.310522e-06f, 0,
};
// clang-format on

MX_INLINE VF exponent_of(VF x) { return (VF)_mm512_maskz_getexp_ps((__mmask16)-1, (__m512)x); }
// log(x), or log(x + *low_part), where x + *low_part rounds to x. Zero, infinity, negative numbers
// and NaN need no special treatment: the instructions that decompose a float give exponents and
// fractions that lead to the right limits.
MX_INLINE VF log_by_table(VF x, const VF* low_part = nullptr) {
  // log(1 + r) = r + r^2 (a + b r + d r^2).
  constexpr float a = -0.5000012f, b = 0.33338493f, d = -0.24465203f;
  const VF m = (VF)_mm512_maskz_getmant_ps((__mmask16)-1, (__m512)x, _MM_MANT_NORM_p75_1p5,
                                           _MM_MANT_SIGN_nan);
  const VF minus_k = exponent_of(m) - exponent_of(x);
  const __m512i interval = (__m512i)((VI)m >> 18);
  const auto look_up = [=](int row) MX_ALWAYS {
    return (VF)_mm512_permutex2var_ps(_mm512_load_ps(kLogTable + 32 * row), interval,
                                      _mm512_load_ps(kLogTable + 32 * row + 16));
  };
  const VF c = look_up(0);
  const VF r = fma(m, c, splat<VF>(-1));
  const VF high = fma(minus_k, splat<VF>(-0x1.62e4p-1f), look_up(1));
  VF low = fma(minus_k, splat<VF>(-0x1.7f7d1cp-20f), look_up(2));
  if (low_part) {  // times c / (1 + r)
    const VF small = (VF)_mm512_maskz_scalef_ps((__mmask16)-1, (__m512)*low_part, (__m512)minus_k);
    low = fma(small, fma(-r, c, c), low);
  }
  const VF tail = fma(fma(r, splat<VF>(d), splat<VF>(b)), r, splat<VF>(a));
  return high + (r + fma(r * r, tail, low));
}

MX_LEAF_END
#endif
