// exponential.h: exponentials and logarithms.
#pragma once
#include "leaf/simd/exp_table.h"
#include "leaf/simd/log_table.h"
#include "leaf/simd/real.h"

MX_LEAF_BEGIN

// --- exponentials -----------------------------------------------------------------------------

// x = k ln 2 + r with integral k: returns r, and k through the reference. The low bits of `shifted`
// hold k as an integer.
template <class V>
MX_INLINE V reduce_exp(V x, V& k, V& shifted) {
  using R = Real<V>;
  shifted = fma(x, splat<V>(R::log2_e), splat<V>(R::to_integer));
  k = shifted - R::to_integer;
  return fma(k, splat<V>(-R::ln2_lo), fma(k, splat<V>(-R::ln2_hi), x));
}
template <class V>
MX_INLINE V reduce_exp(V x, V& k) {
  V shifted;
  return reduce_exp(x, k, shifted);
}
// exp(r) - 1 for |r| <= ln(2) / 2.
template <class V>
MX_INLINE V expm1_reduced(V r) {
  return fma(r * r, polynomial(r, Real<V>::exp_tail), r);
}
template <class V>
MX_INLINE V clamp(V x, Element<V> low, Element<V> high) {  // NaN passes
  return min(splat<V>(high), max(splat<V>(low), x));
}
// exp(r) for |r| <= ln(2) / 2.
template <class V>
MX_INLINE V exp_reduced(V r) {
  return fma(r, fma(r, polynomial(r, Real<V>::exp_tail), splat<V>(1)), splat<V>(1));
}
template <class V>
MX_INLINE V exp(V x) {
  using R = Real<V>;
  V k, shifted;
#if MX_ISA_LEVEL == 4
  if constexpr (sizeof(x[0]) == 4) return exp_by_table(x);
#else
  // Without a scaling instruction it is cheaper to check whether k may simply be added to the
  // exponent.
  if (__builtin_expect(!any(~(abs(x) <= R::exp_simple)), 1)) {
    const V r = reduce_exp(x, k, shifted);
    return (V)((Mask<V>)exp_reduced(r) + ((Mask<V>)shifted << R::mantissa));
  }
#endif
  const V r = reduce_exp(clamp(x, R::exp_min, R::exp_max), k, shifted);
  return scale(exp_reduced(r), k);
}
// exp(x) / 2, finite wherever sinh and cosh are.
template <class V>
MX_INLINE V half_exp(V x) {
  V k;
  const V r = reduce_exp(clamp(x, Real<V>::exp_min, Real<V>::exp_max + 1), k);
  return scale(expm1_reduced(r) + 1, k - 1);
}
template <class V>
MX_INLINE V expm1(V x) {
  V k;
  const V r = reduce_exp(clamp(x, Real<V>::expm1_min, Real<V>::exp_max), k);
  const V inverse = power_of_two<V>(-(k > 64 ? splat<V>(64) : k));  // 2^-k, as long as it matters
  const V y = scale(expm1_reduced(r) + (1 - inverse), k);
  return x == 0 ? x : y;
}

// --- logarithms -------------------------------------------------------------------------------

// Positive finite x = 2^k (1 + f) with integral k and sqrt(1/2) <= 1 + f < sqrt(2): f, and k.
template <class V>
MX_INLINE V split_log(V x, V& k) {
  using R = Real<V>;
  const Mask<V> is_denormal = x < R::tiny;
  x = is_denormal ? x * R::denormal_scale : x;
  const Bits<V> shifted = (Bits<V>)x + (R::one_bits - R::sqrt_half_bits);
  const Bits<V> exponent = shifted >> R::mantissa;
  const Bits<V> fraction = shifted - (exponent << R::mantissa) + R::sqrt_half_bits;
  const Element<V> base = R::denormal_scale;  // its low bits are those of an integer
  k = (V)(exponent | (Bits<V>)splat<V>(base)) - (base + R::bias);
  k = is_denormal ? k - R::mantissa : k;
  return (V)fraction - 1;
}
// log(1 + f) - f.
MX_INLINE VF log_rest(VF f) {
  const VF square = f * f;
  return fma(square * f, polynomial(f, Real<VF>::log_tail), square * -0.5f);
}
MX_INLINE VD log_rest(VD f) {
  const VD s = f / (f + 2), z = s * s, half_square = f * f * 0.5;
  return s * fma(z, polynomial(z, Real<VD>::log_tail), half_square) - half_square;
}
// y where x is positive and finite, the limits of the logarithm elsewhere.
template <class V>
MX_INLINE V log_limits(V x, V y) {
  const V infinity = splat<V>(Real<V>::infinity);
  y = x < infinity ? y : x;
  const V outside = x == 0 ? -infinity : x < 0 ? splat<V>(__builtin_nan("")) : x;
  return x > 0 ? y : outside;
}
template <class V>
MX_INLINE V log(V x) {
  using R = Real<V>;
#if MX_ISA_LEVEL == 4
  if constexpr (sizeof(x[0]) == 4) return log_by_table(x);
#endif
  V k;
  const V f = split_log(x, k);
  return log_limits(x, k * R::ln2_hi + (f + fma(k, splat<V>(R::ln2_lo), log_rest(f))));
}
template <class V>
MX_INLINE V log1p(V x) {
  using R = Real<V>;
  const V u = x + 1;
#if MX_ISA_LEVEL == 4
  if constexpr (sizeof(x[0]) == 4) {
    const V lost = x - (u - 1);
    return x == 0 ? x : log_limits(u, log_by_table(u, &lost));
  }
#endif
  V k;
  const V f = split_log(u, k), lost = (x - (u - 1)) / u;
  const V y = k * R::ln2_hi + (f + (log_rest(f) + fma(k, splat<V>(R::ln2_lo), lost)));
  // Where 1 + x == x nothing is lost, or the correction would be inf - inf.
  const V large = k * R::ln2_hi + (f + fma(k, splat<V>(R::ln2_lo), log_rest(f)));
  return x == 0 ? x : log_limits(u, x > R::denormal_scale ? large : y);
}
// log(x) times a constant given in two parts, plus k times another.
template <class V>
MX_INLINE V log_scaled(V f, V factor, V factor_lo) {
  const V tail = log_rest(f), high = f * factor;
  return high + fma(tail, factor, fma(f, factor_lo, fma(f, factor, -high)));
}
template <class V>
MX_INLINE V log2(V x) {
  using R = Real<V>;
  V k;
  const V f = split_log(x, k);
  return log_limits(x, k + log_scaled(f, splat<V>(R::log2_e), splat<V>(R::log2_e_lo)));
}
template <class V>
MX_INLINE V log10(V x) {
  using R = Real<V>;
  V k;
  const V f = split_log(x, k);
  const V y = log_scaled(f, splat<V>(R::log10_e), splat<V>(R::log10_e_lo));
  return log_limits(x, k * R::log10_2_hi + fma(k, splat<V>(R::log10_2_lo), y));
}

MX_LEAF_END
