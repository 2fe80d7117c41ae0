// vec.h: one register-wide vector of T, based on GCC's vector extensions, and the few instructions
// that these lack. Everything is generic in the vector type, so that a functor is written once for
// every dtype and ISA level.
#pragma once
#include "intrinsics.h"
#include "leaf/leaf.h"

#define MX_INLINE inline MX_ALWAYS
#define MX_ALWAYS __attribute__((always_inline))  // also for lambdas, or constants are reloaded

MX_LEAF_BEGIN

#if MX_ISA_LEVEL == 4
constexpr int kVecBytes = 64;
#elif MX_ISA_LEVEL == 3
constexpr int kVecBytes = 32;
#else
constexpr int kVecBytes = 16;
#endif

template <class T>
struct VecOf {
  static constexpr int lanes = kVecBytes / (int)sizeof(T);
  typedef T type __attribute__((vector_size(kVecBytes)));
};
template <class T>
using Vec = typename VecOf<T>::type;
template <class T>
constexpr int kLanes = VecOf<T>::lanes;

template <class V>
struct ElementOf {
  template <class T>
  static T strip(T&);
  using type = decltype(strip(*(decltype(&(*(V*)nullptr)[0]))nullptr));
};
// Element type of a vector, and the signed integer vector that its comparisons return.
template <class V>
using Element = typename ElementOf<V>::type;
template <class V>
using Mask = decltype(V{} < V{});

template <int bytes>
struct UnsignedOf {
  using type = uint32_t;
};
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};
// The bits of a vector, as unsigned integers.
template <class V>
using Bits = Vec<typename UnsignedOf<sizeof(Element<V>)>::type>;

typedef Vec<float> VF;
typedef Vec<double> VD;
typedef Mask<VF> VI;  // int32 lanes
typedef Mask<VD> VL;  // int64 lanes

template <class V>
constexpr bool is_real = false;
template <>
constexpr bool is_real<VF> = true;
template <>
constexpr bool is_real<VD> = true;

// Wrapping sums, differences and products of integers, which C++ defines only for unsigned ones.
#define MX_WRAPPING(name, operation)               \
  template <class V>                               \
  MX_INLINE V name(V x, V y) {                     \
    if constexpr (is_real<V>)                      \
      return x operation y;                        \
    else                                           \
      return (V)((Bits<V>)x operation(Bits<V>) y); \
  }
MX_WRAPPING(add, +)
MX_WRAPPING(sub, -)
MX_WRAPPING(mul, *)
#undef MX_WRAPPING
template <class V>
MX_INLINE V negative(V x) {
  if constexpr (is_real<V>)
    return -x;
  else
    return sub(V{}, x);
}

template <class T>
constexpr int32_t dtype_of = -1;
template <>
constexpr int32_t dtype_of<float> = MX_F32;
template <>
constexpr int32_t dtype_of<double> = MX_F64;
template <>
constexpr int32_t dtype_of<uint8_t> = MX_U8;
template <>
constexpr int32_t dtype_of<int8_t> = MX_I8;
template <>
constexpr int32_t dtype_of<int32_t> = MX_I32;
template <>
constexpr int32_t dtype_of<int64_t> = MX_I64;

// --- memory -----------------------------------------------------------------------------------
template <class T>
MX_INLINE Vec<T> load(const T* p) {
  Vec<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
MX_INLINE void store(T* p, Vec<T> v) {
  __builtin_memcpy(p, &v, sizeof v);
}

#if MX_ISA_LEVEL == 3
// All bits set in the first n lanes of sizeof(T) bytes, 4 or 8.
template <class T>
MX_INLINE __m256i first_lanes(int n) {
  if constexpr (sizeof(T) == 4) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  } else {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
}
#endif

// The first n lanes, 0 < n <= kLanes<T>; the others are taken from `others`.
template <class T>
MX_INLINE Vec<T> load_first(const T* p, int n, Vec<T> others = Vec<T>{}) {
#if MX_ISA_LEVEL == 4
  return (Vec<T>)_mm512_mask_loadu_epi8((__m512i)others, _bzhi_u64(~0ull, n * sizeof(T)), p);
#else
#if MX_ISA_LEVEL == 3
  if constexpr (sizeof(T) >= 4) {
    const __m256i lanes = first_lanes<T>(n);
    const __m256i loaded = sizeof(T) == 4 ? _mm256_maskload_epi32((const int*)p, lanes)
                                          : _mm256_maskload_epi64((const long long*)p, lanes);
    return (Vec<T>)_mm256_blendv_epi8((__m256i)others, loaded, lanes);
  }
#endif
  __builtin_memcpy(&others, p, n * sizeof(T));
  return others;
#endif
}
template <class T>
MX_INLINE void store_first(T* p, Vec<T> v, int n) {
#if MX_ISA_LEVEL == 4
  _mm512_mask_storeu_epi8(p, _bzhi_u64(~0ull, n * sizeof(T)), (__m512i)v);
#else
#if MX_ISA_LEVEL == 3
  if constexpr (sizeof(T) == 4) {
    return _mm256_maskstore_epi32((int*)p, first_lanes<T>(n), (__m256i)v);
  } else if constexpr (sizeof(T) == 8) {
    return _mm256_maskstore_epi64((long long*)p, first_lanes<T>(n), (__m256i)v);
  }
#endif
  __builtin_memcpy(p, &v, n * sizeof(T));
#endif
}

// --- values -----------------------------------------------------------------------------------
template <class V>
MX_INLINE V splat(Element<V> x) {
  return x - V{};
}
template <class V>
MX_INLINE V select(Mask<V> where, V yes, V no) {
  return where ? yes : no;
}
template <class V>
MX_INLINE V truth(Mask<V> where) {
  return where ? splat<V>(1) : V{};
}
template <class V>
MX_INLINE bool any(V mask) {
#if MX_ISA_LEVEL == 4
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif MX_ISA_LEVEL == 3
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  return !_mm_testz_si128((__m128i)mask, (__m128i)mask);
#endif
}

// A libm function lane by lane, for functions too rare to be vectorised.
template <class V, class F>
MX_INLINE V each_lane(V x, F f) {
#pragma GCC unroll 1
  for (unsigned i = 0; i < sizeof x / sizeof x[0]; ++i) x[i] = f(x[i]);
  return x;
}
template <class V, class F>
MX_INLINE V each_lane(V x, V y, F f) {
#pragma GCC unroll 1
  for (unsigned i = 0; i < sizeof x / sizeof x[0]; ++i) x[i] = f(x[i], y[i]);
  return x;
}

// --- instructions -----------------------------------------------------------------------------
#define MX_ROUNDING(V, name, direction) \
  MX_INLINE V name(V x) { return MX_ROUND(V, x, direction | _MM_FROUND_NO_EXC); }
#define MX_ROUNDINGS(V)                        \
  MX_ROUNDING(V, floor, _MM_FROUND_TO_NEG_INF) \
  MX_ROUNDING(V, ceil, _MM_FROUND_TO_POS_INF)  \
  MX_ROUNDING(V, trunc, _MM_FROUND_TO_ZERO)    \
  MX_ROUNDING(V, nearbyint, _MM_FROUND_TO_NEAREST_INT)
#define MX_FMA(V, R, prefix, suffix) \
  MX_INLINE V fma(V a, V b, V c) { return (V)prefix##_fmadd_##suffix((R)a, (R)b, (R)c); }

// min and max return b where either is NaN.
template <class V>
MX_INLINE V min(V a, V b) {
  return a < b ? a : b;
}
template <class V>
MX_INLINE V max(V a, V b) {
  return a > b ? a : b;
}
// Masked forms where the plain intrinsic makes GCC 12 warn about its own undefined operand.
#if MX_ISA_LEVEL == 4
MX_INLINE VF sqrt(VF x) { return (VF)_mm512_maskz_sqrt_ps((__mmask16)-1, (__m512)x); }
MX_INLINE VD sqrt(VD x) { return (VD)_mm512_maskz_sqrt_pd((__mmask8)-1, (__m512d)x); }
MX_INLINE VF min(VF a, VF b) {
  return (VF)_mm512_maskz_min_ps((__mmask16)-1, (__m512)a, (__m512)b);
}
MX_INLINE VF max(VF a, VF b) {
  return (VF)_mm512_maskz_max_ps((__mmask16)-1, (__m512)a, (__m512)b);
}
MX_INLINE VD min(VD a, VD b) {
  return (VD)_mm512_maskz_min_pd((__mmask8)-1, (__m512d)a, (__m512d)b);
}
MX_INLINE VD max(VD a, VD b) {
  return (VD)_mm512_maskz_max_pd((__mmask8)-1, (__m512d)a, (__m512d)b);
}
#define MX_ROUND(V, x, mode)                                                             \
  (sizeof(x[0]) == 4 ? (V)_mm512_maskz_roundscale_ps((__mmask16) - 1, (__m512)(x), mode) \
                     : (V)_mm512_maskz_roundscale_pd((__mmask8) - 1, (__m512d)(x), mode))
MX_FMA(VF, __m512, _mm512, ps)
MX_FMA(VD, __m512d, _mm512, pd)
#elif MX_ISA_LEVEL == 3
MX_INLINE VF sqrt(VF x) { return (VF)_mm256_sqrt_ps((__m256)x); }
MX_INLINE VD sqrt(VD x) { return (VD)_mm256_sqrt_pd((__m256d)x); }
MX_INLINE VF min(VF a, VF b) { return (VF)_mm256_min_ps((__m256)a, (__m256)b); }
MX_INLINE VF max(VF a, VF b) { return (VF)_mm256_max_ps((__m256)a, (__m256)b); }
MX_INLINE VD min(VD a, VD b) { return (VD)_mm256_min_pd((__m256d)a, (__m256d)b); }
MX_INLINE VD max(VD a, VD b) { return (VD)_mm256_max_pd((__m256d)a, (__m256d)b); }
#define MX_ROUND(V, x, mode)                                 \
  (sizeof(x[0]) == 4 ? (V)_mm256_round_ps((__m256)(x), mode) \
                     : (V)_mm256_round_pd((__m256d)(x), mode))
MX_FMA(VF, __m256, _mm256, ps)
MX_FMA(VD, __m256d, _mm256, pd)
#else
MX_INLINE VF sqrt(VF x) { return (VF)_mm_sqrt_ps((__m128)x); }
MX_INLINE VD sqrt(VD x) { return (VD)_mm_sqrt_pd((__m128d)x); }
MX_INLINE VF min(VF a, VF b) { return (VF)_mm_min_ps((__m128)a, (__m128)b); }
MX_INLINE VF max(VF a, VF b) { return (VF)_mm_max_ps((__m128)a, (__m128)b); }
MX_INLINE VD min(VD a, VD b) { return (VD)_mm_min_pd((__m128d)a, (__m128d)b); }
MX_INLINE VD max(VD a, VD b) { return (VD)_mm_max_pd((__m128d)a, (__m128d)b); }
#define MX_ROUND(V, x, mode) \
  (sizeof(x[0]) == 4 ? (V)_mm_round_ps((__m128)(x), mode) : (V)_mm_round_pd((__m128d)(x), mode))
#if MX_FUSED
MX_FMA(VF, __m128, _mm, ps)
MX_FMA(VD, __m128d, _mm, pd)
#else  // two roundings, which every caller must tolerate
MX_INLINE VF fma(VF a, VF b, VF c) { return a * b + c; }
MX_INLINE VD fma(VD a, VD b, VD c) { return a * b + c; }
#endif
#endif
MX_ROUNDINGS(VF)
MX_ROUNDINGS(VD)

// --- comparisons and signs, for floating and integer vectors --------------------------------
template <class V>
MX_INLINE Mask<V> isnan(V x) {
  return x != x;
}
// NaN wins, as in MXNet's maximum and minimum.
template <class V>
MX_INLINE V maximum(V a, V b) {
  if constexpr (is_real<V>) return a != a ? a : max(a, b);
  return max(a, b);
}
template <class V>
MX_INLINE V minimum(V a, V b) {
  if constexpr (is_real<V>) return a != a ? a : min(a, b);
  return min(a, b);
}
template <class V>
MX_INLINE V abs(V x) {
  if constexpr (is_real<V>) return (V)((Mask<V>)x & ~(Mask<V>)splat<V>(-0.0));
  return x < 0 ? negative(x) : x;
}
// Magnitude of x, sign of s.
template <class V>
MX_INLINE V copysign(V x, V s) {
  const Mask<V> sign = (Mask<V>)splat<V>(-0.0);
  return (V)(((Mask<V>)x & ~sign) | ((Mask<V>)s & sign));
}

MX_LEAF_END
