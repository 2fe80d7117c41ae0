// real.h: constants that differ between float and double, for functions written once for both.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

// Constants and coefficients of an element type.
template <class V>
struct Real;
template <>
struct Real<VF> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float to_integer = 0x1.8p23f;  // adding it leaves an integer in the low bits
  static constexpr float tiny = 0x1p-126f, denormal_scale = 0x1p23f, infinity = __builtin_inff();
  static constexpr int32_t sqrt_half_bits = 0x3f3504f3, one_bits = 0x3f800000;

  static constexpr float log2_e = 0x1.715476p0f, ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float exp_max = 89, exp_min = -104, expm1_min = -18;
  static constexpr float square_is_all = 1e5;  // above it x^2 + 1 rounds to x^2
  // (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.
  static constexpr float exp_tail[] = {0.49999993447560f, 0.16666520629439f, 0.04166838809270f,
                                       0.00836871709086f, 0.00138145963823f};
  static constexpr float exp_simple = 87;  // below it exp(x) and exp(-x) are normal numbers
  // (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2).
  static constexpr float log_tail[] = {0.333333126f,   -0.2500000959f, 0.2000211868f,
                                       -0.1666799631f, 0.142195523f,   -0.1240558141f,
                                       0.1188815564f,  -0.11675691f,   0.06746699997f};
  static constexpr float log2_e_lo = 0x1.4ae0cp-26f, log10_e = 0x1.bcb7b2p-2f,
                         log10_e_lo = -0x1.5b235ep-27f, log10_2_hi = 0x1.344p-2f,
                         log10_2_lo = 0x1.3509f8p-18f;

  // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4.
  static constexpr float sin_tail[] = {-0.1666666664f, 0.008333329385f, -0.0001983933444f,
                                       2.718307743e-6f};
  static constexpr float cos_tail[] = {0.04166664568f, -0.001388731598f, 2.443312457e-5f};
  // (atan(t) - t) / t^3 in t^2 for t <= sqrt(2) - 1; (asin(t) - t) / t^3 for t <= 1/2.
  static constexpr float atan_tail[] = {-0.333333155f, 0.1999848892f, -0.1424383819f, 0.1059591826f,
                                        -0.06083230028f};
  static constexpr float asin_tail[] = {0.1666665987f,  0.07500510938f, 0.04451571704f,
                                        0.03181763605f, 0.01440251897f, 0.03756531792f};
  // Largest argument reduced by three fused products; without these, none.
  static constexpr float trig_limit = MX_FUSED ? 30000 : 0;
  static constexpr float half_pi = 0x1.921fb6p0f, half_pi_lo = -0x1.777a5cp-25f;
};
template <>
struct Real<VD> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double tiny = 0x1p-1022, denormal_scale = 0x1p52, infinity = __builtin_inf();
  static constexpr int64_t sqrt_half_bits = 0x3fe6a09e667f3bcd, one_bits = 0x3ff0000000000000;

  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_hi = 0x1.62e42fefa3p-1,
                          ln2_lo = 0x1.3de6af278ece6p-42;
  static constexpr double exp_max = 710, exp_min = -746, expm1_min = -38;
  static constexpr double square_is_all = 1e9;
  static constexpr double exp_tail[] = {
      0.50000000000000000085,   0.16666666666666676548,   0.041666666666666508041,
      0.0083333333333216536591, 0.0013888888888962652117, 0.00019841269886074689631,
      2.4801587172151132102e-5, 2.7557244253005210566e-6, 2.7557402834195154419e-7,
      2.5109024856644031725e-8, 2.0875312848163049301e-9};
  static constexpr double exp_simple = 708;
  // (log(1 + f) - 2 s) / (s z) for s = f / (2 + f), z = s^2.
  static constexpr double log_tail[] = {
      0.6666666666666734411, 0.3999999999941469018, 0.2857142874238469446, 0.2222219857348477217,
      0.1818356431121819956, 0.1531405090730758688, 0.1479594644293856064};
  static constexpr double log2_e_lo = 0x1.777d0ffda0d24p-56, log10_e = 0x1.bcb7b1526e50ep-2,
                          log10_e_lo = 0x1.95355baaafad3p-57, log10_2_hi = 0x1.34413509f6p-2,
                          log10_2_lo = 0x1.9fef311f12b36p-42;

  static constexpr double sin_tail[] = {-0.1666666666666663205,    0.008333333333322418766,
                                        -0.0001984126982981206787, 2.755731369344849378e-6,
                                        -2.505075836343733703e-8,  1.589681054167664244e-10};
  static constexpr double cos_tail[] = {0.04166666666666659288,    -0.001388888888887304844,
                                        0.00002480158728884653104, -2.755731417775089048e-7,
                                        2.087570062548294992e-9,   -1.135852500863966279e-11};
  static constexpr double atan_tail[] = {
      -0.3333333333333332758, 0.1999999999999769108,   -0.1428571428539076462,
      0.1111111108834982323,  -0.09090908150745213913, 0.07692282899454621458,
      -0.0666622883977358984, 0.05877042221466807642,  -0.05218536061553718847,
      0.04504085661592132705, -0.03348696037892121041, 0.01520787196686512751};
  static constexpr double asin_tail[] = {
      0.1666666666666676243,   0.07499999999970262635, 0.04464285717512014025,
      0.03038194268365548208,  0.02237221565906028208, 0.01735160011652515189,
      0.01398096113412962683,  0.01139777870648167396, 0.01078651336989184294,
      0.003683102180157055098, 0.02176335163875353724, -0.02107708332016077021,
      0.03267675961141856178};
  static constexpr double trig_limit = 500000;
  static constexpr double half_pi = 0x1.921fb54442d18p0, half_pi_lo = 0x1.1a62633145c07p-54;
};

// c[0] + c[1] x + c[2] x^2 + ...
template <class V, int N>
MX_INLINE V polynomial(V x, const Element<V> (&c)[N]) {
  V y = splat<V>(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) y = fma(y, x, splat<V>(c[i]));
  return y;
}

// Apply a function of doubles to floats: for functions that would lose precision in float.
typedef float HalfVF __attribute__((vector_size(kVecBytes / 2)));
template <class F>
MX_INLINE VF via_double(VF x, F f) {
  HalfVF part[2];
  __builtin_memcpy(part, &x, sizeof x);
  for (HalfVF& p : part) p = __builtin_convertvector(f(__builtin_convertvector(p, VD)), HalfVF);
  __builtin_memcpy(&x, part, sizeof x);
  return x;
}
template <class F>
MX_INLINE VF via_double(VF x, VF y, F f) {
  HalfVF part[2], other[2];
  __builtin_memcpy(part, &x, sizeof x);
  __builtin_memcpy(other, &y, sizeof y);
  for (int i = 0; i < 2; ++i)
    part[i] = __builtin_convertvector(
        f(__builtin_convertvector(part[i], VD), __builtin_convertvector(other[i], VD)), HalfVF);
  __builtin_memcpy(&x, part, sizeof x);
  return x;
}

// 2^k for integral k in the range of normal numbers.
template <class V>
MX_INLINE V power_of_two(V k) {
  using R = Real<V>;
  return (V)((Mask<V>)(k + (R::to_integer + R::bias)) << R::mantissa);
}

// x 2^k with one rounding, for integral k up to twice the range of normal exponents.
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

MX_LEAF_END
