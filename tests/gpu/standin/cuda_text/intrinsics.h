// CUDA's mathematical functions and bit operations that C++ lacks or names differently.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <cmath>

using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
using std::signbit;

// glibc declares functions of these names, so they are macros.
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)

static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

// The root of erf(y) = x by Newton's method from Winitzki's approximation; erfc near the ends.
static inline double erfinv(double x) {
  if (!(fabs(x) < 1)) return fabs(x) == 1 ? copysign(HUGE_VAL, x) : NAN;
  constexpr double kA = 0.147, kTwoOverSqrtPi = 1.1283791670955126;
  const double l = log1p(-x * x), half = 2 / (M_PI * kA) + l / 2;
  double y = copysign(sqrt(sqrt(half * half - l / kA) - half), x);
  for (int i = 0; i < 4; ++i) {
    const double error = x > 0 ? 1 - x - erfc(y) : erf(y) - x;
    y -= error / (kTwoOverSqrtPi * exp(-y * y));
  }
  return y;
}
static inline float erfinvf(float x) { return (float)erfinv(x); }
static inline double erfcinv(double x) { return -erfinv(x - 1); }
static inline double normcdf(double x) { return erfc(-x * M_SQRT1_2) / 2; }
static inline float normcdff(float x) { return (float)normcdf(x); }
static inline double rcbrt(double x) { return 1 / cbrt(x); }

static inline int __popc(uint32_t x) { return __builtin_popcount(x); }
static inline int __popcll(uint64_t x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((uint32_t)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline uint32_t __umulhi(uint32_t x, uint32_t y) {
  return (uint32_t)((uint64_t)x * y >> 32);
}
static inline uint64_t __umul64hi(uint64_t x, uint64_t y) {
  return (uint64_t)((unsigned __int128)x * y >> 64);
}
static inline uint32_t __brev(uint32_t x) {
  uint32_t reversed = 0;
  for (int i = 0; i < 32; ++i) reversed = reversed << 1 | (x >> i & 1);
  return reversed;
}

template <class To, class From>
static inline To cuda_text_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "");
  To bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline int __float_as_int(float x) { return cuda_text_bits<int>(x); }
static inline float __int_as_float(int x) { return cuda_text_bits<float>(x); }
static inline uint32_t __float_as_uint(float x) { return cuda_text_bits<uint32_t>(x); }
static inline float __uint_as_float(uint32_t x) { return cuda_text_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return cuda_text_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return cuda_text_bits<double>(x); }

static inline int __float2int_rn(float x) { return (int)nearbyintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __double2int_rn(double x) { return (int)nearbyint(x); }

// float16 by its bits
static inline unsigned short __float2half_rn(float x) {
  return cuda_text_bits<unsigned short>((_Float16)x);
}
static inline float __half2float(unsigned short bits) {
  return (float)cuda_text_bits<_Float16>(bits);
}

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
void __stcg(T* address, T value) {
  *address = value;
}
