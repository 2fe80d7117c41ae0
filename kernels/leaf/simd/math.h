// math.h: elementary functions on vectors of float and double, written once for both.
//
// NaN, infinities, denormals and signed zeros come out as in C's <math.h>; how far results may be
// off, in units in the last place, is data: tests/data/ulp_limits.csv. Coefficients are minimax
// fits of our own. special.h goes on from here with erf, gamma and activations.
#pragma once
#include <math.h>

#include "leaf/simd/exp_table.h"
#include "leaf/simd/log_table.h"
#include "leaf/simd/pow_table.h"
#include "leaf/simd/tanh_table.h"

MX_LEAF_BEGIN

// What differs between float and double.
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
  static constexpr float square_is_all = 1e5;  // above it x^2 + 1 is x^2
  // (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2
  static constexpr float exp_tail[] = {0.49999993447560f, 0.16666520629439f, 0.04166838809270f,
                                       0.00836871709086f, 0.00138145963823f};
  static constexpr float exp_simple = 87;  // below it exp(x) and exp(-x) are normal numbers
  // (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2)
  static constexpr float log_tail[] = {0.333333126f,   -0.2500000959f, 0.2000211868f,
                                       -0.1666799631f, 0.142195523f,   -0.1240558141f,
                                       0.1188815564f,  -0.11675691f,   0.06746699997f};
  static constexpr float log2_e_lo = 0x1.4ae0cp-26f, log10_e = 0x1.bcb7b2p-2f,
                         log10_e_lo = -0x1.5b235ep-27f, log10_2_hi = 0x1.344p-2f,
                         log10_2_lo = 0x1.3509f8p-18f;

  // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4
  static constexpr float sin_tail[] = {-0.1666666664f, 0.008333329385f, -0.0001983933444f,
                                       2.718307743e-6f};
  static constexpr float cos_tail[] = {0.04166664568f, -0.001388731598f, 2.443312457e-5f};
  // (atan(t) - t) / t^3 in t^2 for t <= sqrt(2) - 1; (asin(t) - t) / t^3 for t <= 1/2
  static constexpr float atan_tail[] = {-0.333333155f, 0.1999848892f, -0.1424383819f, 0.1059591826f,
                                        -0.06083230028f};
  static constexpr float asin_tail[] = {0.1666665987f,  0.07500510938f, 0.04451571704f,
                                        0.03181763605f, 0.01440251897f, 0.03756531792f};
  // Three fused products reduce arguments to here; without fused products, none.
  static constexpr float trig_limit = MX_ISA_LEVEL >= 3 ? 30000 : 0;
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
  // (log(1 + f) - 2 s) / (s z) for s = f / (2 + f), z = s^2
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

// --- tools ------------------------------------------------------------------------------------

// c[0] + c[1] x + c[2] x^2 + ...
template <class V, int N>
MX_INLINE V polynomial(V x, const Element<V> (&c)[N]) {
  V y = splat<V>(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) y = fma(y, x, splat<V>(c[i]));
  return y;
}

// Apply a function of doubles to floats: for functions whose float form would lose digits.
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

// --- exponentials -----------------------------------------------------------------------------

// x = k ln 2 + r with integral k: r, and k through the reference. The integer k also stands in the
// low bits of `shifted`.
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
// exp(r) - 1 for |r| <= ln(2) / 2
template <class V>
MX_INLINE V expm1_reduced(V r) {
  return fma(r * r, polynomial(r, Real<V>::exp_tail), r);
}
template <class V>
MX_INLINE V clamp(V x, Element<V> low, Element<V> high) {  // NaN passes
  return min(splat<V>(high), max(splat<V>(low), x));
}
// exp(r) for |r| <= ln(2) / 2
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
  // Without an instruction that scales, it is cheaper to look whether k may just be added to the
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
  const V inverse = power_of_two<V>(-(k > 64 ? splat<V>(64) : k));  // 2^-k, while it matters
  const V y = scale(expm1_reduced(r) + (1 - inverse), k);
  return x == 0 ? x : y;
}

// --- logarithms -------------------------------------------------------------------------------

// positive finite x = 2^k (1 + f) with integral k and sqrt(1/2) <= 1 + f < sqrt(2): f, and k
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
// log(1 + f) - f
MX_INLINE VF log_rest(VF f) {
  const VF square = f * f;
  return fma(square * f, polynomial(f, Real<VF>::log_tail), square * -0.5f);
}
MX_INLINE VD log_rest(VD f) {
  const VD s = f / (f + 2), z = s * s, half_square = f * f * 0.5;
  return s * fma(z, polynomial(z, Real<VD>::log_tail), half_square) - half_square;
}
// y where x is positive and finite, the limits of the logarithm elsewhere
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
  // Where 1 + x is x there may be nothing lost, or inf - inf.
  const V large = k * R::ln2_hi + (f + fma(k, splat<V>(R::ln2_lo), log_rest(f)));
  return x == 0 ? x : log_limits(u, x > R::denormal_scale ? large : y);
}
// log(x) times a constant given in two parts, plus k times another
template <class V>
MX_INLINE V log_scaled(V f, V factor, V factor_lo) {
  const V rest = log_rest(f), high = f * factor;
  return high + fma(rest, factor, fma(f, factor_lo, fma(f, factor, -high)));
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

// --- powers -----------------------------------------------------------------------------------

// Squares, cubes and roots, the usual powers, when all lanes ask for the same.
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
// Of the magnitude of x by table or through double logarithms, then with C's special cases.
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
// A step of Halley's towards the cube root of x, which makes of an error its cube.
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
// By z = 1 / cbrt(x), whose bits are a constant without a third of those of x to 4 %. Steps make of
// the error h of x z^3 its cube and its square; what the root's cube exceeds x by is told exactly.
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

// --- trigonometry -----------------------------------------------------------------------------

// x = k pi/2 + r: r, and k through the reference. Constants in parts keep the products exact.
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
// sine and cosine of r, and the number of quarter turns before it
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
// Beyond trig_limit floats go through double, doubles to libm.
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
// With |x| > 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
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

// --- hyperbolic functions ---------------------------------------------------------------------
// e / (e + 2) with e = exp(2 |x|) - 1, put right by what rounding added to the sum.
MX_INLINE VD tanh(VD x) {
  const VD e = expm1(min(splat<VD>(40), abs(x + x))), below = e + 2, y = e / below;
  const VD better = y - y * (1 - y) * 0.5 * (e - (below - 2));  // (1 - y) / 2 is 1 / below
  return copysign(min(splat<VD>(1), better), x);
}
// 1 - 2 / (exp(2 |x|) + 1); x + x^3 p(x^2) for small x. The exponential may be short and its power
// of two simple, because the quotient is a correction and its range is known.
MX_INLINE VF tanh(VF x) {
#if MX_ISA_LEVEL == 4
  return tanh_by_table(x);
#else
  using R = Real<VF>;
  static constexpr float series[] = {
      1, 2, 1.999999737f, 1.333321632f, 0.6666942501f, 0.2677998447f, 0.08841313285f};  // exp(2 r)
  static constexpr float tail[] = {-0.3333294661f, 0.1332072466f, -0.0526717922f, 0.0164375454f};
  const VF a = min(splat<VF>(9.02f), abs(x)), z = a * a;  // rounds to 1 there
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
