// trigonometric.h: sine, cosine, tangent and their inverses.
#pragma once
#include <math.h>

#include "leaf/simd/real.h"

MX_LEAF_BEGIN

// x = k pi/2 + r: returns r, and k through the reference. Constants in parts keep the products
// exact.
MX_INLINE VD reduce_trig(VD x, VD& k) {
  k = nearbyint(x * 0x1.45f306dc9c883p-1);
  const VD r = fma(k, splat<VD>(-0x1.0b4611a6p-34), x - k * 0x1.921fb544p0);
  return fma(k, splat<VD>(-0x1.3198a2e037073p-69), r);
}
MX_INLINE VF reduce_trig(VF x, VF& k) {
  k = nearbyint(x * 0x1.45f306p-1f);
  const VF r = fma(k, splat<VF>(0x1.777a5cp-25f), fma(k, splat<VF>(-0x1.921fb6p0f), x));
  return fma(k, splat<VF>(0x1.ee59dap-50f), r);
}
// Sine and cosine of r, and the number of quarter turns.
template <class V>
MX_INLINE Mask<V> sine_and_cosine(V x, V& sine, V& cosine) {
  using R = Real<V>;
  V k;
  const V r = reduce_trig(x, k), z = r * r, half_z = z * Element<V>(0.5), top = 1 - half_z;
  sine = x == 0 ? x : fma(r * z, polynomial(z, R::sin_tail), r);
  cosine = top + fma(z * z, polynomial(z, R::cos_tail), (1 - top) - half_z);
  return (Mask<V>)(k + R::to_integer);
}
template <class V>
MX_INLINE V pick_quarter(Mask<V> quarter, V even, V odd) {
  const V y = (quarter & 1) == 1 ? odd : even;
  return (V)((Mask<V>)y ^ ((quarter & 2) << (8 * sizeof(Element<V>) - 2)));
}
// Beyond trig_limit floats are computed in double, doubles by libm.
#define MX_TRIG(name)                                                            \
  MX_INLINE VD name(VD x) {                                                      \
    if (__builtin_expect(any(abs(x) > Real<VD>::trig_limit), 0))                 \
      return each_lane(x, [](double a) { return ::name(a); });                   \
    return name##_near(x);                                                       \
  }                                                                              \
  MX_INLINE VF name(VF x) {                                                      \
    if (__builtin_expect(any(abs(x) > Real<VF>::trig_limit), MX_ISA_LEVEL == 2)) \
      return via_double(x, [](VD a) { return name(a); });                        \
    return name##_near(x);                                                       \
  }
template <class V>
MX_INLINE V sin_near(V x) {
  V s, c;
  const Mask<V> quarter = sine_and_cosine(x, s, c);
  return pick_quarter(quarter, s, c);
}
template <class V>
MX_INLINE V cos_near(V x) {
  V s, c;
  const Mask<V> quarter = sine_and_cosine(x, s, c);
  return pick_quarter(quarter + 1, s, c);
}
template <class V>
MX_INLINE V tan_near(V x) {
  V s, c;
  const Mask<V> odd = (sine_and_cosine(x, s, c) & 1) == 1;
  return (odd ? -c : s) / (odd ? s : c);
}
MX_TRIG(sin)
MX_TRIG(cos)
MX_TRIG(tan)

template <class V>
MX_INLINE V atan(V x) {
  using R = Real<V>;
  const V a = abs(x), one = splat<V>(1);
  const Mask<V> far = a > Element<V>(2.414213562373095), mid = a > Element<V>(0.41421356237309503);
  const V t = (far ? -one : mid ? a - 1 : a) / (far ? a : mid ? a + 1 : one), z = t * t;
  const Element<V> full = R::half_pi, full_lo = R::half_pi_lo;
  const V base = far ? splat<V>(full) : mid ? splat<V>(full / 2) : V{};
  const V base_lo = far ? splat<V>(full_lo) : mid ? splat<V>(full_lo / 2) : V{};
  return copysign(base + (t + fma(t * z, polynomial(z, R::atan_tail), base_lo)), x);
}
// For |x| > 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
template <class V>
MX_INLINE V asin(V x) {
  using R = Real<V>;
  const V a = abs(x);
  const Mask<V> large = a > Element<V>(0.5);
  const V z = large ? (1 - a) * Element<V>(0.5) : a * a, t = large ? sqrt(z) : a;
  const V y = fma(t * z, polynomial(z, R::asin_tail), t);
  return copysign(large ? R::half_pi - (2 * y - R::half_pi_lo) : y, x);
}
template <class V>
MX_INLINE V acos(V x) {
  using R = Real<V>;
  const V a = abs(x);
  const Mask<V> large = a > Element<V>(0.5);
  const V z = large ? (1 - a) * Element<V>(0.5) : a * a, t = large ? sqrt(z) : x;
  const V y = fma(t * z, polynomial(z, R::asin_tail), t);
  const V twice = 2 * y, from_back = 2 * R::half_pi - (twice - 2 * R::half_pi_lo);
  return large ? (x < 0 ? from_back : twice) : R::half_pi - (y - R::half_pi_lo);
}

MX_LEAF_END
