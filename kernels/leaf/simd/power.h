// power.h: powers, roots and hypotenuses.
#pragma once
#include <math.h>

#include "leaf/simd/exponential.h"
#include "leaf/simd/pow_table.h"

MX_LEAF_BEGIN

// Fast paths for squares, cubes and roots, if all lanes have the same exponent.
template <class V>
MX_INLINE bool usual_power(V x, V y, V* z) {
  const auto bits = [](Element<V> number) MX_ALWAYS { return ((Mask<V>)splat<V>(number))[0]; };
  const auto first = ((Mask<V>)y)[0];
  if (first != bits(2) && first != bits(3) && first != bits(0.5)) return false;
  if (!any(y != 2)) {
    *z = x * x;
  } else if (!any(y != 3)) {
    *z = x * x * x;
  } else if (!any((y != Element<V>(0.5)) | ~(x > 0))) {
    *z = sqrt(x);
  } else {
    return false;
  }
  return true;
}
MX_INLINE VD pow(VD x, VD y) {
  VD usual;
  if (usual_power(x, y, &usual)) return usual;
  return each_lane(x, y, [](double a, double b) { return ::pow(a, b); });
}
// |x|^y by table or through logarithms in double, then C's special cases.
MX_INLINE VF pow(VF x, VF y) {
  VF usual;
  if (usual_power(x, y, &usual)) return usual;
  const VF infinity = splat<VF>(__builtin_inff());
#if MX_ISA_LEVEL == 4
  const VF a = abs(x);
  VF z = pow_by_table(a, y);
  if (!any(~((x > 0) & (z == z)))) return z;
  const VI unlimited = ((a == 0) | (a == infinity)) & (y == y);
  z = unlimited ? ((a == 0) ^ (y < 0) ? VF{} : infinity) : z;
#else
  VF z = via_double(abs(x), y, [](VD a, VD b) { return exp(b * log(a)); });
#endif
  const VF whole = trunc(y), half = y * 0.5f;
  const VI is_odd = (whole == y) & (trunc(half) != half);
  z = is_odd ? copysign(z, x) : z;
  z = (x < 0) & (x > -infinity) & (whole != y) & (abs(y) < infinity) ? splat<VF>(__builtin_nanf(""))
                                                                     : z;
  return (x == 1) | (y == 0) | ((x == -1) & (abs(y) == infinity)) ? splat<VF>(1) : z;
}
// A step of Halley's method for the cube root of x, which cubes the error.
MX_INLINE VD closer_cbrt(VD x, VD y) {
  const VD cube = y * y * y;
  return y + y * (x - cube) / (2 * cube + x);
}
// x = 2^(3 k) (1 + f) 2^r with r of -1, 0, 1.
MX_INLINE VD cbrt(VD x) {
  static constexpr double series[] = {1, 0.3333, -0.1097, 0.0513};  // cbrt(1 + f)
  const VD a = abs(x);
  VD power;
  const VD f = split_log(a, power), k = nearbyint(power * (1 / 3.)), r = power - 3 * k;
  const VD scaled = (f + 1) * (r < 0 ? splat<VD>(0.5) : r + 1);
  const VD root = r < 0 ? splat<VD>(0.7937) : r > 0 ? splat<VD>(1.2599) : splat<VD>(1);
  const VD y = closer_cbrt(scaled, closer_cbrt(scaled, root * polynomial(f, series)));
  return (a > 0) & (a < Real<VD>::infinity) ? copysign(y * power_of_two<VD>(k), x) : x;
}
// Through z = 1 / cbrt(x), whose bits are a constant minus a third of those of x, to 4 %. Two steps
// reduce the error h of x z^3 to its cube and then its square; the error of the root's cube is
// computed exactly.
MX_INLINE VF cbrt(VF x) {
  const VF a = abs(x);
  const VI is_small = a < 0x1p-60f;
  const VF scaled = is_small ? a * 0x1p60f : a;
  const VF third = __builtin_convertvector((VI)scaled, VF) * (1 / 3.f);
  VF z = (VF)(0x54a21d2a - __builtin_convertvector(third, VI));
  VF h = 1 - scaled * z * (z * z);
  z = fma(z * h, fma(h, splat<VF>(2 / 9.f), splat<VF>(1 / 3.f)), z);
  h = 1 - scaled * z * (z * z);
  z = fma(z * h, splat<VF>(1 / 3.f), z);
#if MX_ISA_LEVEL > 2
  VF y = scaled * z * z;
  const VF square = y * y, lost = fma(y, y, -square);
  const VF excess = fma(lost, y, fma(square, y, -scaled));
#else
  VF y = scaled * z * z;
  const VF excess = via_double(scaled, y, [](VD s, VD root) { return root * root * root - s; });
#endif
  y = fma(excess * (-1 / 3.f), z * z, y);
  y = is_small ? y * 0x1p-20f : y;
  return (a > 0) & (a < Real<VF>::infinity) ? copysign(y, x) : x;
}
MX_INLINE VF hypot(VF x, VF y) {
  const VF z = via_double(x, y, [](VD a, VD b) { return sqrt(a * a + b * b); });
  const VF infinity = splat<VF>(__builtin_inff());
  return (abs(x) == infinity) | (abs(y) == infinity) ? infinity : z;
}
MX_INLINE VD hypot(VD x, VD y) {
  return each_lane(x, y, [](double a, double b) { return ::hypot(a, b); });
}

MX_LEAF_END
