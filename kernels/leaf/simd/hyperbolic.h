// hyperbolic.h: hyperbolic functions and their inverses.
#pragma once
#include "leaf/simd/exponential.h"
#include "leaf/simd/tanh_table.h"

MX_LEAF_BEGIN

// e / (e + 2) with e = exp(2 |x|) - 1, corrected for the rounding error of the sum.
MX_INLINE VD tanh(VD x) {
  const VD e = expm1(min(splat<VD>(40), abs(x + x))), below = e + 2, y = e / below;
  const VD better = y - y * (1 - y) * 0.5 * (e - (below - 2));  // (1 - y) / 2 is 1 / below
  return copysign(min(splat<VD>(1), better), x);
}
// 1 - 2 / (exp(2 |x|) + 1); x + x^3 p(x^2) for small x. A short exponential with a simple scaling
// suffices, because the quotient is a correction and its range is known.
MX_INLINE VF tanh(VF x) {
#if MX_ISA_LEVEL == 4
  return tanh_by_table(x);
#else
  using R = Real<VF>;
  static constexpr float series[] = {
      1, 2, 1.999999737f, 1.333321632f, 0.6666942501f, 0.2677998447f, 0.08841313285f};  // exp(2 r)
  static constexpr float tail[] = {-0.3333294661f, 0.1332072466f, -0.0526717922f, 0.0164375454f};
  const VF a = min(splat<VF>(9.02f), abs(x)), z = a * a;  // the result rounds to 1 there
  const VF shifted = fma(a, splat<VF>(2 * R::log2_e), splat<VF>(R::to_integer + R::bias));
  const VF k = shifted - (R::to_integer + R::bias), power = (VF)((VI)shifted << R::mantissa);
  const VF r = fma(k, splat<VF>(-0x1.62e43p-2f), a);
  const VF large = 1 - 2 / fma(power, polynomial(r, series), splat<VF>(1));
  const VF y = a < 0.55f ? fma(a * z, polynomial(z, tail), a) : large;
  return (VF)((VI)y | ((VI)x & (VI)splat<VF>(-0.0f)));
#endif
}
template <class V>
MX_INLINE V sinh(V x) {
  const V a = abs(x), e = expm1(a), small = (e + e / (e + 1)) * Element<V>(0.5);
  return copysign(a > 20 ? half_exp(a) : small, x);
}
template <class V>
MX_INLINE V cosh(V x) {
  const V e = half_exp(abs(x));
  return e + Element<V>(0.25) / e;
}
template <class V>
MX_INLINE V asinh(V x) {
  const V a = abs(x), square = a * a, y = log1p(a + square / (sqrt(square + 1) + 1));
  const V large = log(a) + Element<V>(0.69314718055994531);
  return copysign(a > Real<V>::square_is_all ? large : y, x);
}
template <class V>
MX_INLINE V acosh(V x) {
  const V t = x - 1, y = log1p(t + sqrt(t * t + 2 * t));
  const V large = log(x) + Element<V>(0.69314718055994531);
  return x > Real<V>::square_is_all ? large : x < 1 ? splat<V>(__builtin_nan("")) : y;
}
template <class V>
MX_INLINE V atanh(V x) {
  const V a = abs(x);
  return copysign(log1p(2 * a / (1 - a)) * Element<V>(0.5), x);
}

MX_LEAF_END
