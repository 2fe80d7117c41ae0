// math.h: elementary functions on vectors of float and double, written once for both.
//
// NaN, infinities, denormals and signed zeros come out as in C's <math.h>; how far results may be
// off, in units in the last place, is data: tests/data/ulp_limits.csv. Coefficients are minimax
// fits of our own. Integer vectors get the few functions that make sense on them.
#pragma once
#include <math.h>

#include "vec.h"

MX_LEAF_BEGIN

// What differs between float and double.
template <class V>
struct Real;
template <>
struct Real<VF> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float to_integer = 0x1.8p23f;  // adding it leaves an integer in the low bits
  static constexpr float log2_e = 0x1.715476p0f, ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float exp_max = 89, exp_min = -104;
  // (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2
  static constexpr float exp_tail[] = {0.500000008104f,    0.166666667567f,    0.0416662398591f,
                                       0.00833328593148f, 0.00139486406372f, 0.000199076379953f};
};
template <>
struct Real<VD> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_hi = 0x1.62e42fefa3p-1,
                          ln2_lo = 0x1.3de6af278ece6p-42;
  static constexpr double exp_max = 710, exp_min = -746;
  static constexpr double exp_tail[] = {
      0.50000000000000000085,   0.16666666666666676548,    0.041666666666666508041,
      0.0083333333333216536591, 0.0013888888888962652117,  0.00019841269886074689631,
      2.4801587172151132102e-5, 2.7557244253005210566e-6,  2.7557402834195154419e-7,
      2.5109024856644031725e-8, 2.0875312848163049301e-9};
};

// c[0] + c[1] x + c[2] x^2 + ...
template <class V, int N>
MX_INLINE V polynomial(V x, const Element<V> (&c)[N]) {
  V y = splat<V>(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) y = fma(y, x, splat<V>(c[i]));
  return y;
}

// 2^k for integral k in the range of normal numbers.
template <class V>
MX_INLINE V power_of_two(V k) {
  using R = Real<V>;
  return (V)((Mask<V>)(k + (R::to_integer + R::bias)) << R::mantissa);
}

// x 2^k with one rounding, for integral k at most twice as far from 0 as normal exponents go.
template <class V>
MX_INLINE V scale(V x, V k) {
#if MX_ISA_LEVEL == 4
  if constexpr (sizeof(x[0]) == 4)
    return (V)_mm512_maskz_scalef_ps((__mmask16)-1, (__m512)x, (__m512)k);
  else
    return (V)_mm512_maskz_scalef_pd((__mmask8)-1, (__m512d)x, (__m512d)k);
#else
  const V half = floor(k * Element<V>(0.5));  // 2^k itself may be infinite or denormal
  return x * power_of_two<V>(half) * power_of_two<V>(k - half);
#endif
}

// --- exponential family -----------------------------------------------------------------------

// x = k ln 2 + r with integral k: r, and k through the reference.
template <class V>
MX_INLINE V reduce_exp(V x, V &k) {
  using R = Real<V>;
  k = nearbyint(x * R::log2_e);
  return fma(k, splat<V>(-R::ln2_lo), fma(k, splat<V>(-R::ln2_hi), x));
}
// exp(r) - 1 for |r| <= ln(2) / 2
template <class V>
MX_INLINE V expm1_reduced(V r) {
  return fma(r * r, polynomial(r, Real<V>::exp_tail), r);
}
template <class V>
MX_INLINE V clamp_exp(V x) {  // NaN passes
  const V low = splat<V>(Real<V>::exp_min), high = splat<V>(Real<V>::exp_max);
  x = x < low ? low : x;
  return x > high ? high : x;
}
template <class V>
MX_INLINE V exp(V x) {
  V k;
  const V r = reduce_exp(clamp_exp(x), k);
  return scale(expm1_reduced(r) + 1, k);
}

// --- simple functions, integers included ------------------------------------------------------
template <class V>
MX_INLINE V sign(V x) {
  return truth<V>(x > 0) - truth<V>(x < 0);
}
template <class V>
MX_INLINE V relu(V x) {  // keeps NaN
  return x <= 0 ? V{} : x;
}
// Integers: dividing by zero gives what a conversion of infinity gives, dividing the smallest
// number by -1 wraps; neither may trap.
template <class V>
MX_INLINE V divide(V x, V y) {
  if constexpr (is_real<V>) {
    return x / y;
  } else {
    using T = Element<V>;
    constexpr bool is_signed = T(-1) < T(0);
    constexpr T infinite = sizeof(T) < 4 ? T(0) : T(1) << (8 * sizeof(T) - 1);
    V quotient = x / select<V>((y == 0) | (y == T(-1)), splat<V>(1), y);
    if constexpr (is_signed) quotient = y == T(-1) ? -x : quotient;
    else quotient = y == T(-1) ? truth<V>(x == T(-1)) : quotient;
    return y == 0 ? splat<V>(infinite) : quotient;
  }
}

MX_LEAF_END
