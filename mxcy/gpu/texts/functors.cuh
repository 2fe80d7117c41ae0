// Scalar definitions for the lines of elemwise.def, which follow this text.
namespace mx {
template <class V> using Element = V;
template <class V> struct Real { static constexpr V infinity = (V)kInfinity; };
template <class V, class T> __device__ inline V splat(T x) { return (V)x; }
template <class V> __device__ inline V truth(bool b) { return b ? V(1) : V(0); }
template <class V> struct Mask {
  bool sign;
  __device__ explicit Mask(float x) : sign(__builtin_bit_cast(unsigned, x) >> 31) {}
  __device__ explicit Mask(double x) : sign(__builtin_bit_cast(unsigned long long, x) >> 63) {}
  __device__ bool operator<(int) const { return sign; }
};
template <class V> struct Unsigned { typedef unsigned long long type; };
template <> struct Unsigned<int> { typedef unsigned type; };
template <> struct Unsigned<signed char> { typedef unsigned char type; };
template <> struct Unsigned<unsigned char> { typedef unsigned char type; };

#define MX_F template <class V> __device__ inline V
#define MX_OWN(name) MX_F name(V x) { return ::name(x); }
MX_OWN(sqrt) MX_OWN(cbrt) MX_OWN(exp) MX_OWN(expm1) MX_OWN(log) MX_OWN(log1p) MX_OWN(log2)
MX_OWN(log10) MX_OWN(sin) MX_OWN(cos) MX_OWN(tan) MX_OWN(asin) MX_OWN(acos) MX_OWN(atan)
MX_OWN(sinh) MX_OWN(cosh) MX_OWN(tanh) MX_OWN(asinh) MX_OWN(acosh) MX_OWN(atanh) MX_OWN(erf)
MX_OWN(erfinv) MX_OWN(ceil) MX_OWN(floor) MX_OWN(trunc) MX_OWN(nearbyint)
MX_F negative(V x) {
  if constexpr (Is<V>::real) return -x;
  return (V)(0 - (typename Unsigned<V>::type)x);
}
MX_F abs(V x) {
  if constexpr (Is<V>::real) return ::fabs(x);
  return x < 0 ? negative(x) : x;
}
MX_F copysign(V x, V y) { return ::copysign(x, y); }
MX_F gamma(V x) { return (V)::tgamma((double)x); }
MX_F gammaln(V x) { return ::lgamma(x); }
MX_F sign(V x) { return V((x > 0) - (x < 0)); }
MX_F round(V x) {
  return trunc(x + ::copysign(sizeof(V) == 4 ? V(0x1.fffffep-2) : V(0x1.fffffffffffffp-2), x));
}
MX_F rint(V x) { return x - floor(x) <= V(0.5) ? floor(x) : ceil(x); }
#define MX_WRAPS(name, sign)                                                  \
  MX_F name(V x, V y) {                                                       \
    if constexpr (Is<V>::real) return x sign y;                               \
    typedef typename Unsigned<V>::type U;                                     \
    return (V)((U)x sign (U)y);                                               \
  }
MX_WRAPS(add, +) MX_WRAPS(sub, -) MX_WRAPS(mul, *)
template <class V> constexpr bool is_signed = V(-1) < V(0);
MX_F divide(V x, V y) {
  if constexpr (Is<V>::real) return x / y;
  if (y == 0) return sizeof(V) < 4 ? V(0) : (V)(1ull << (8 * sizeof(V) - 1));
  return is_signed<V> && y == V(-1) ? negative(x) : V(x / y);
}
MX_F remainder(V x, V y) {
  if constexpr (Is<V>::real)
    return ::fmod(x, y);
  else
    return y == 0 || (is_signed<V> && y == V(-1)) ? V(0) : V(x % y);
}
MX_F modulo(V x, V y) {
  const V r = remainder(x, y);
  return y == 0 ? V(0) : r != 0 && (r < 0) != (y < 0) ? V(r + y) : r;
}
MX_F truncated_mod(V x, V y) {
  if constexpr (Is<V>::real)
    return y == 0 || abs(x) == (V)kInfinity ? (V)kNaN : remainder(x, y);
  return remainder(x, y);
}
MX_F floor_mod(V x, V y) {
  const V r = truncated_mod(x, y);
  if constexpr (Is<V>::real) if (r == 0) return copysign(V(0), y);
  return r != 0 && (r < 0) != (y < 0) ? V(r + y) : r;
}
MX_F floor_divide(V x, V y) {
  if constexpr (Is<V>::real) {
    const V quotient = (x - floor_mod(x, y)) / y, below = floor(quotient);
    if (y == 0 || abs(x) == (V)kInfinity) return x / y;
    if (abs(y) == (V)kInfinity && abs(x) < (V)kInfinity)
      return x != 0 && (x < 0) != (y < 0) ? V(-1) : copysign(V(0), x / y);
    if (quotient == 0) return copysign(V(0), x / y);
    return quotient - below > V(0.5) ? below + 1 : below;
  }
  const V rest = remainder(x, y);
  return y == 0 ? V(0) : sub(divide(x, y), V(rest != 0 && (rest < 0) != (y < 0)));
}
MX_F pow(V x, V y) { return ::pow(x, y); }
MX_F hypot(V x, V y) { return ::hypot(x, y); }
MX_F maximum(V x, V y) { return x != x ? x : y != y ? y : x > y ? x : y; }
MX_F minimum(V x, V y) { return x != x ? x : y != y ? y : x < y ? x : y; }
MX_F arctan2(V x, V y) { return ::atan2(x, y); }
MX_F next_after(V x, V y) { return ::nextafter(x, y); }
MX_F logaddexp(V x, V y) {
  if (x == y) return x + V(0.69314718055994531);
  return x != x || y != y ? x + y : (x > y ? x : y) + log1p(exp(-abs(x - y)));
}
MX_F scaled_by_power(V x, V y) { return x * (V)::exp2((double)y); }
MX_F relu(V x) { return x <= 0 ? V(0) : x; }
MX_F sigmoid(V x) {
  const V e = exp(-abs(x));
  return (x >= 0 ? V(1) : e) / (e + 1);
}
MX_F softplus(V x) { return (x > 0 ? x : V(0)) + log1p(exp(-abs(x))); }
MX_F mish(V x) { return x * tanh(softplus(x)); }
MX_F gelu_erf(V x) { return x * V(0.5) * (erf(x * V(0.70710678118654752)) + 1); }
MX_F gelu_tanh(V x) {
  return x * V(0.5) * (tanh(V(0.79788456080286536) * (x + V(0.044715) * (x * x * x))) + 1);
}
MX_F smooth_l1(V x, V s) {
  const V square = s * s;
  return abs(x) > 1 / square ? abs(x) - V(0.5) / square : x * x * square * V(0.5);
}
MX_F square_of(V x) { return x * x; }
MX_F clamp(V x, double low, double high) { return x < V(low) ? V(low) : x > V(high) ? V(high) : x; }
MX_F gelu_erf_slope(V x) {
  return (erf(x * V(0.70710678118654752)) + 1) * V(0.5) +
         x * V(0.39894228040143268) * exp(x * x * V(-0.5));
}
MX_F gelu_tanh_slope(V x) {
  const V c = V(0.79788456080286536), t = tanh(c * (x + V(0.044715) * (x * x * x)));
  return V(0.5) * (1 + t) + V(0.5) * x * (1 - t * t) * c * (1 + V(3 * 0.044715) * x * x);
}
MX_F digamma(V given) {  // recurrence up to 10, then the asymptotic series
  double x = (double)given, sum = 0;
  if (x <= 0 && x == ::floor(x)) return (V)kInfinity;
  if (x < 0) {
    const double pi = 3.14159265358979323846;
    sum = -pi / ::tan(pi * (x - ::floor(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double i = 1 / x, q = i * i;
  const double tail = 1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q / 132)));
  return (V)(sum + ::log(x) - 0.5 * i - q * tail);
}
MX_F shift_left(V x, V y) {
  return y < 0 || y >= V(8 * sizeof(V)) ? V(0) : (V)((typename Unsigned<V>::type)x << y);
}
MX_F shift_right(V x, V y) {
  if (y < 0 || y >= V(8 * sizeof(V))) return x < 0 ? V(-1) : V(0);
  return (V)(x >> y);
}
MX_F gcd(V x, V y) {
  for (x = abs(x), y = abs(y); y != 0;) {
    const V rest = remainder(x, y);
    x = y;
    y = rest;
  }
  return x;
}
MX_F lcm(V x, V y) {
  const V common = gcd(x, y);
  return mul(divide(abs(x), common == 0 ? V(1) : common), abs(y));
}
MX_F integer_power(V x, V y) {
  if (y < 0) return x == V(1) ? V(1) : is_signed<V> && x == V(-1) ? V(y % 2 ? -1 : 1) : V(0);
  unsigned long long power = 1, base = (unsigned long long)x;
  for (unsigned long long n = (unsigned long long)y; n; n >>= 1) {
    if (n & 1) power *= base;
    base *= base;
  }
  return (V)power;
}

#define MX_UNARY(name, types, ...) MX_F k_##name(V x) { return __VA_ARGS__; }
#define MX_UNARY_TEST(name, types, ...) MX_F k_##name(V x) { return truth<V>(__VA_ARGS__); }
#define MX_UNARY2(name, types, ...) MX_F k_##name(V x, V p, V q) { return __VA_ARGS__; }
#define MX_BINARY(name, types, ...) MX_F k_##name(V x, V y) { return __VA_ARGS__; }
#define MX_BINARY_TEST(name, types, ...) MX_F k_##name(V x, V y) { return truth<V>(__VA_ARGS__); }
#define MX_BINARY_R(name, types, ...) MX_BINARY(name, types, __VA_ARGS__)
#define MX_GRAD(name, types, ...) MX_BINARY(name, types, __VA_ARGS__)
MX_F k_copy(V x) { return x; }
MX_F k_where(V condition, V x, V y) { return condition != 0 ? x : y; }
