// half.h: float16 and bfloat16 as storage dtypes; arithmetic is done on blocks of floats.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
template <class T>
constexpr bool is_half = false;
template <>
constexpr bool is_half<f16> = true;
template <>
constexpr bool is_half<bf16> = true;

typedef Vec<uint32_t> VU;
typedef uint16_t VH __attribute__((vector_size(kVecBytes / 2)));  // as many lanes as VF

MX_INLINE VF widen(bf16, VH bits) { return (VF)(__builtin_convertvector(bits, VU) << 16); }

MX_INLINE VH narrow(bf16, VF x) {
  const VU bits = (VU)x;
  const VU rounded = bits + 0x7fffu + ((bits >> 16) & 1u);  // nearest, ties to even
  return __builtin_convertvector(select<VU>(x != x, bits | 0x400000u, rounded) >> 16, VH);
}

#if MX_ISA_LEVEL == 4
MX_INLINE VF widen(f16, VH bits) { return (VF)_mm512_maskz_cvtph_ps((__mmask16)-1, (__m256i)bits); }
MX_INLINE VH narrow(f16, VF x) {
  return (VH)_mm512_maskz_cvtps_ph((__mmask16)-1, (__m512)x, _MM_FROUND_TO_NEAREST_INT);
}
#elif MX_ISA_LEVEL == 3
MX_INLINE VF widen(f16, VH bits) { return (VF)_mm256_cvtph_ps((__m128i)bits); }
MX_INLINE VH narrow(f16, VF x) { return (VH)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT); }
#else
MX_INLINE VF widen(f16, VH bits) {
  const VU wide = __builtin_convertvector(bits, VU);
  const VU magnitude = (wide & 0x7fffu) << 13;
  // The multiplication moves the exponent bias from 15 to 127 and normalises denormals.
  const VU finite = (VU)((VF)magnitude * 0x1p112f);
  const VU special = magnitude | 0x7f800000u;
  return (VF)(select<VU>((wide & 0x7c00u) == 0x7c00u, special, finite) | (wide & 0x8000u) << 16);
}
MX_INLINE VH narrow(f16, VF x) {
  const VU bits = (VU)x, magnitude = bits & 0x7fffffffu;
  const VU normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Adding 0.5 leaves the rounded bits of a denormal half at the end of the mantissa.
  const VU denormal = (VU)((VF)magnitude + 0.5f) - 0x3f000000u;
  VU half = select<VU>(magnitude < 0x38800000u, denormal, normal);
  half = select<VU>(magnitude >= 0x477ff000u, 0x7c00u - VU{}, half);  // rounds to infinity
  half = select<VU>(x != x, 0x7e00u - VU{}, half);
  return __builtin_convertvector(half | ((bits >> 16) & 0x8000u), VH);
}
#endif

// Convert n elements of a half dtype to float and back.
template <class H>
inline void widen_row(float* dst, const H* src, int64_t n) {
  constexpr int L = kLanes<float>;
  VH bits = {};
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    __builtin_memcpy(&bits, src + i, sizeof bits);
    store(dst + i, widen(H{}, bits));
  }
  if (i < n) {
    __builtin_memcpy(&bits, src + i, (n - i) * sizeof(H));
    store_first(dst + i, widen(H{}, bits), (int)(n - i));
  }
}
template <class H>
inline void narrow_row(H* dst, const float* src, int64_t n) {
  constexpr int L = kLanes<float>;
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    const VH bits = narrow(H{}, load(src + i));
    __builtin_memcpy(dst + i, &bits, sizeof bits);
  }
  if (i < n) {
    const VH bits = narrow(H{}, load_first(src + i, (int)(n - i)));
    __builtin_memcpy(dst + i, &bits, (n - i) * sizeof(H));
  }
}

MX_LEAF_END
