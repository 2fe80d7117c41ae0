// special.h: error and gamma functions, activations, and MXNet's variants of rounding and division.
#pragma once
#include "leaf/simd/erf_table.h"
#include "leaf/simd/math.h"

MX_LEAF_BEGIN

// --- error function ---------------------------------------------------------------------------
MX_INLINE VD erf(VD x) {
  return each_lane(x, [](double a) { return ::erf(a); });
}
MX_INLINE VF erf(VF x) {
#if MX_ISA_LEVEL == 4
  return erf_by_table(x);
#else
  // erf(x) / x - 1 in x^2 up to 7/8, and log(1 - erf(x)) up to where erf rounds to 1.
  static constexpr float near[] = {0.1283791669f,   -0.3761263607f,  0.11283733f,
                                   -0.02686158477f, 0.005206747581f, -0.0008211105638f,
                                   8.675398975e-5f};
  static constexpr float far[] = {0.0001620244423f, -1.12945316f,    -0.6334734744f,
                                  -0.1081390296f,   0.02502714335f,  -0.004135645567f,
                                  0.0004270831801f, -2.045138316e-5f};
  const VF a = abs(x), small = fma(x, polynomial(x * x, near), x);
  const VF large = 1 - exp(polynomial(clamp(a, 0, 3.95f), far));
  return a < 0.875f ? small : copysign(large, x);
#endif
}

// A rational initial guess in w = -log(1 - x^2), good to six digits, then Newton's method on erfc.
inline double erfinv_one(double x) {
  static constexpr double near[] = {1.50140918,      0.2466414209,    -0.004176258697,
                                    -0.001254631481, 0.0002173359854, -4.094205691e-6,
                                    -3.18587861e-6,  3.156342293e-7};
  static constexpr double far[] = {4.849906816,      1.010310903,    -0.0001390540454,
                                   -0.0002444588494, 6.608288754e-5, -2.708568392e-6,
                                   1.429672933e-5,   -4.482752472e-7};
  const double a = ::fabs(x);
  if (!(a < 1)) return a == 1 ? ::copysign(__builtin_inf(), x) : __builtin_nan("");
  const double w = -::log1p(-a * a), shift = w < 5 ? w - 2.5 : ::sqrt(w) - 5;
  double y = 0;
  for (int i = 7; i >= 0; --i) y = y * shift + (w < 5 ? near : far)[i];
  if (w < 5) y *= a;
  for (int i = 0; i < 2; ++i) {
    const double error = a < 0.5 ? ::erf(y) - a : (1 - a) - ::erfc(y);
    const double step = error / (1.1283791670955126 * ::exp(-y * y));
    y -= step / (1 + y * step);  // Halley's variant
  }
  return ::copysign(y, x);
}
template <class V>
MX_INLINE V erfinv(V x) {
  return each_lane(x, [](Element<V> a) { return (Element<V>)erfinv_one(a); });
}

// --- gamma function ---------------------------------------------------------------------------
template <class V>
MX_INLINE V gamma(V x) {
  return each_lane(x, [](Element<V> a) { return (Element<V>)::tgamma((double)a); });
}
template <class V>
MX_INLINE V gammaln(V x) {
  return each_lane(x, [](Element<V> a) {
    int sign;  // thread-safe, unlike lgamma's global variable
    return (Element<V>)::lgamma_r(a, &sign);
  });
}
inline double digamma_one(double x) {
  if (x <= 0 && x == ::floor(x)) return __builtin_inf();  // as in MXNet, including -inf
  if (x < 0) return digamma_one(1 - x) - M_PI / ::tan(M_PI * (x - ::floor(x)));
  double shift = 0;
  for (; x < 10; ++x) shift -= 1 / x;
  // The asymptotic series: Bernoulli numbers over even powers.
  static constexpr double series[] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                      1. / 132, -691. / 32760, 1. / 12};
  const double z = 1 / (x * x);
  double correction = 0;
  for (int i = 6; i >= 0; --i) correction = (correction + series[i]) * z;
  return shift + ::log(x) - 0.5 / x - correction;
}
template <class V>
MX_INLINE V digamma(V x) {
  return each_lane(x, [](Element<V> a) { return (Element<V>)digamma_one(a); });
}

// --- activations ------------------------------------------------------------------------------
template <class V>
MX_INLINE V relu(V x) {  // NaN passes
  return x <= 0 ? V{} : x;
}
template <class V>
MX_INLINE V sigmoid(V x) {
  // e <= 1: no overflow, small results keep their precision.
  const V e = exp(-abs(x)), below = e + 1;
  const Mask<V> positive = x >= 0;
  const V y = (positive ? splat<V>(1) : e) / below;
  // 1 / below is y or 1 - y: correct it for the rounding error of `below`.
  return y - y * (positive ? y : 1 - y) * (e - (below - 1));
}
template <class V>
MX_INLINE V swish(V x) {
  return x * sigmoid(x);
}
template <class V>
MX_INLINE V softplus(V x) {
  return (x > 0 ? x : V{}) + log1p(exp(-abs(x)));
}
#if MX_ISA_LEVEL == 4
// The same without a division: one Newton step from a 14-bit approximation.
MX_INLINE VF sigmoid(VF x) {
  const VF e = exp_by_table(-abs(x), true), below = e + 1, above = x >= 0 ? splat<VF>(1) : e;
  const VF guess = (VF)_mm512_maskz_rcp14_ps((__mmask16)-1, (__m512)below), y = above * guess;
  return fma(fma(-y, e, above - y), guess, y);
}
// x / (1 + exp(-x)), with a relative error of 6e-7, of 2e-6 below -30; below -87, where it is
// smaller than 2e-36, its value at -87.
MX_INLINE VF swish(VF x) {
  constexpr float to_32nds = 0x1.8p18f, log2_e = 0x1.715476p0f;
  // 2^r - 1 = r (a + b r) for |r| <= 1/64
  constexpr float a = 0.693157387f, b = 0.240228459f;
  // Bounded in magnitude; NaN returns through the factor `above`.
  const VF near = (VF)_mm512_maskz_range_ps((__mmask16)-1, (__m512)x, (__m512)splat<VF>(87), 2);
  const VF above = max(splat<VF>(-87), x);
  const VF shifted = fma(near, splat<VF>(-log2_e), splat<VF>(to_32nds)), k = shifted - to_32nds;
  const VF r = fma(near, splat<VF>(-log2_e), -k);
  const VF power = (VF)_mm512_permutex2var_ps(_mm512_load_ps(kExpTable), (__m512i)shifted,
                                              _mm512_load_ps(kExpTable + 16));
  const VF grown = fma(power, r * fma(r, splat<VF>(b), splat<VF>(a)), power);
  const VF below = (VF)_mm512_maskz_scalef_ps((__mmask16)-1, (__m512)grown, (__m512)k) + 1;
  const VF guess = (VF)_mm512_maskz_rcp14_ps((__mmask16)-1, (__m512)below);
  return above * fma(fma(-below, guess, splat<VF>(1)), guess, guess);
}
MX_INLINE VF softplus(VF x) {
  const VF e = exp_by_table(-abs(x), true), sum = e + 1, lost = e - (sum - 1);
  return max(x, VF{}) + log_by_table(sum, &lost);
}
#endif
template <class V>
MX_INLINE V gelu_erf(V x) {
  const V half = x * Element<V>(0.5);
  return half * (erf(x * Element<V>(0.70710678118654752)) + 1);
}
template <class V>
MX_INLINE V gelu_tanh(V x) {
  const V inner = Element<V>(0.79788456080286536) * (x + Element<V>(0.044715) * (x * x * x));
  return x * Element<V>(0.5) * (tanh(inner) + 1);
}
template <class V>
MX_INLINE V mish(V x) {
  return x * tanh(softplus(x));
}
template <class V>
MX_INLINE V smooth_l1(V x, V sigma) {
  const V square = sigma * sigma, a = abs(x);
  return a > 1 / square ? a - Element<V>(0.5) / square : x * x * square * Element<V>(0.5);
}
template <class V>
MX_INLINE V square_of(V x) {
  return x * x;
}
// Derivative of gelu_erf.
template <class V>
MX_INLINE V gelu_erf_slope(V x) {
  const V area = (erf(x * Element<V>(0.70710678118654752)) + 1) * Element<V>(0.5);
  return area + x * Element<V>(0.39894228040143268) * exp(x * x * Element<V>(-0.5));
}

// Derivative of gelu_tanh.
template <class V>
MX_INLINE V gelu_tanh_slope(V x) {
  using T = Element<V>;
  const V square = x * x, inner = x * (T(0.79788456080286536) + T(0.035677408136300125) * square);
  const V t = tanh(inner), steepness = T(0.79788456080286536) + T(0.10703222440890037) * square;
  return (t + 1 + x * steepness * (1 - t * t)) * T(0.5);
}

// --- signs, rounding, division; integers included ---------------------------------------------
template <class V>
MX_INLINE V sign(V x) {
  return truth<V>(x > 0) - truth<V>(x < 0);
}
// Half away from zero: adding the float just below 1/2 never carries a smaller fraction over.
template <class V>
MX_INLINE V round(V x) {
  const Element<V> half = sizeof(Element<V>) == 4 ? 0x1.fffffep-2f : 0x1.fffffffffffffp-2;
  return trunc(x + copysign(splat<V>(half), x));
}
// MXNet's rint: half down.
template <class V>
MX_INLINE V rint(V x) {
  const V below = floor(x);
  return x - below <= Element<V>(0.5) ? below : ceil(x);
}

template <class T>
constexpr bool is_signed = T(-1) < T(0);

// Integers: division by zero gives the conversion of infinity, and the minimum divided by -1 wraps;
// neither may trap.
template <class V>
MX_INLINE V divide(V x, V y) {
  if constexpr (is_real<V>) {
    return x / y;
  } else {
    using T = Element<V>;
    constexpr T infinite = sizeof(T) < 4 ? T(0) : T(1) << (8 * sizeof(T) - 1);
    const Mask<V> is_minus = (y == T(-1)) & is_signed<T>;
    const V quotient = is_minus ? negative(x) : x / ((y == 0) | is_minus ? splat<V>(1) : y);
    return y == 0 ? splat<V>(infinite) : quotient;
  }
}

// The remainder with the dividend's sign.
MX_INLINE VD remainder(VD x, VD y) {
  return each_lane(x, y, [](double a, double b) { return ::fmod(a, b); });
}
MX_INLINE VF remainder(VF x, VF y) {
  if (__builtin_expect(any(abs(x) > abs(y) * 0x1p28f) || any(abs(x) == __builtin_inff()) ||
                           any(abs(y) == __builtin_inff()),
                       0))
    return each_lane(x, y, [](float a, float b) { return ::fmodf(a, b); });
  // A quotient below 2^28 is exact enough in double, and its product is exact.
  const VF r = via_double(x, y, [](VD a, VD b) { return a - trunc(a / b) * b; });
  return copysign(r, x);
}
template <class V>
MX_INLINE V remainder(V x, V y) {
  using T = Element<V>;
  const V divisor = (y == 0) | ((y == T(-1)) & is_signed<T>) ? splat<V>(1) : y;
  return x - x / divisor * divisor;
}
// MXNet's mod: the sign of the divisor, 0 for divisor 0.
template <class V>
MX_INLINE V modulo(V x, V y) {
  const V r = remainder(x, y);
  const V moved = (r != 0) & ((r < 0) != (y < 0)) ? r + y : r;
  return y == 0 ? V{} : moved;
}

// --- division as in the array API ----------------------------------------------------------------
// The remainder with the dividend's sign; division by zero gives NaN, or 0 for integers.
template <class V>
MX_INLINE V truncated_mod(V x, V y) {
  if constexpr (is_real<V>) {
    const V r = remainder(x, y);
    return (y == 0) | (abs(x) == Real<V>::infinity) ? splat<V>(__builtin_nanf("")) : r;
  } else {
    return y == 0 ? V{} : remainder(x, y);
  }
}
// The remainder with the divisor's sign, also for a zero.
template <class V>
MX_INLINE V floor_mod(V x, V y) {
  const V r = truncated_mod(x, y);
  const V moved = (r != 0) & ((r < 0) != (y < 0)) ? r + y : r;
  if constexpr (is_real<V>) return r == 0 ? copysign(V{}, y) : moved;
  return moved;
}
// Floor division; integers give 0 for a division by zero.
template <class V>
MX_INLINE V floor_divide(V x, V y) {
  if constexpr (is_real<V>) {
    const V r = floor_mod(x, y), quotient = (x - r) / y, below = floor(quotient);
    // The rounding error of the difference can be close to 1.
    const V whole = quotient - below > Element<V>(0.5) ? below + 1 : below;
    const V exact = quotient == 0 ? copysign(V{}, x / y) : whole;
    const V infinite = (x != 0) & ((x < 0) != (y < 0)) ? splat<V>(-1) : copysign(V{}, x / y);
    const V result =
        (abs(y) == Real<V>::infinity) & (abs(x) < Real<V>::infinity) ? infinite : exact;
    return (y == 0) | (abs(x) == Real<V>::infinity) ? x / y : result;
  } else {
    const V quotient = divide(x, y), residue = remainder(x, y);
    // Both arms are evaluated, so select the step: the minimum has no predecessor.
    const V step = (residue != 0) & ((residue < 0) != (y < 0)) ? splat<V>(1) : V{};
    return y == 0 ? V{} : quotient - step;
  }
}

// --- angles, sums of exponentials, powers of two ----------------------------------------------
// The angle of the point (y, x): that of the smaller over the larger coordinate, rotated into
// place.
template <class V>
MX_INLINE V arctan2(V x, V y) {
  using R = Real<V>;
  const V rise = abs(x), run = abs(y);
  const Mask<V> steep = rise > run;
  const V least = steep ? run : rise, most = steep ? rise : run;
  const V slope = most == 0 ? V{} : least == most ? splat<V>(1) : least / most;
  V angle = atan(slope);
  angle = steep ? R::half_pi - (angle - R::half_pi_lo) : angle;
  angle = (Mask<V>)y < 0 ? 2 * R::half_pi - (angle - 2 * R::half_pi_lo) : angle;
  return (x != x) | (y != y) ? x + y : copysign(angle, x);
}
// The next representable number from x towards y.
template <class V>
MX_INLINE V next_after(V x, V y) {
  if constexpr (sizeof(Element<V>) == 4)
    return each_lane(x, y, [](float a, float b) { return ::nextafterf(a, b); });
  else
    return each_lane(x, y, [](double a, double b) { return ::nextafter(a, b); });
}
template <class V>
MX_INLINE V logaddexp(V x, V y) {
  const V result = max(x, y) + log1p(exp(-abs(x - y)));
  return x == y ? x + Element<V>(0.69314718055994531) : (x != x) | (y != y) ? x + y : result;
}
template <class V>
MX_INLINE V scaled_by_power(V x, V y) {
  return each_lane(x, y, [](auto a, auto b) { return a * (decltype(a))::exp2((double)b); });
}

// --- bits and integers -------------------------------------------------------------------
// Shifts by more than the width give 0, or -1 for negative numbers shifted right.
template <class V>
MX_INLINE V shift_left(V x, V y) {
  using T = Element<V>;
  const Mask<V> beyond = (y < 0) | (y >= T(8 * sizeof(T)));
  return beyond ? V{} : (V)((Bits<V>)x << (Bits<V>)(beyond ? V{} : y));
}
template <class V>
MX_INLINE V shift_right(V x, V y) {
  using T = Element<V>;
  const Mask<V> beyond = (y < 0) | (y >= T(8 * sizeof(T)));
  const V most = splat<V>(T(8 * sizeof(T) - 1)), one = splat<V>(1);
  return x >> (beyond ? most : y) >> (beyond & !is_signed<T> ? one : V{});
}
template <class V>
MX_INLINE V gcd(V x, V y) {
  return each_lane(abs(x), abs(y), [](auto a, auto b) {
    while (b != 0) {
      const auto residue = (decltype(a))(a % b);
      a = b;
      b = residue;
    }
    return a;
  });
}
template <class V>
MX_INLINE V lcm(V x, V y) {
  const V common = gcd(x, y);
  return mul(divide(abs(x), common == 0 ? splat<V>(1) : common), abs(y));
}
// By repeated squaring; negative exponents give 0 unless the base is 1 or -1.
template <class V>
MX_INLINE V integer_power(V x, V y) {
  return each_lane(x, y, [](auto a, auto b) {
    using T = decltype(a);
    if (b < 0) return a == 1 ? T(1) : a == T(-1) ? (b % 2 != 0 ? a : T(1)) : T(0);
    uint64_t power = 1, base = (uint64_t)a;
    for (uint64_t n = (uint64_t)b; n != 0; n >>= 1) {
      if (n & 1) power *= base;
      base *= base;
    }
    return (T)power;
  });
}

MX_LEAF_END
