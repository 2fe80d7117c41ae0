// The few 16-byte vector instructions that kernels call by their x86 names, implemented with NEON.
// NaN and zeros are handled as on x86.
#pragma once
#include <arm_neon.h>

#define MX_FUSED 1  // whether a multiply-add is one instruction
#define MX_NEON static inline __attribute__((always_inline))

typedef float32x4_t __m128;
typedef float64x2_t __m128d;
typedef int64x2_t __m128i;

enum { _MM_FROUND_TO_NEAREST_INT, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF };
enum { _MM_FROUND_TO_ZERO = 3, _MM_FROUND_NO_EXC = 8 };

// --- floating-point numbers
// -------------------------------------------------------------------------
MX_NEON __m128 _mm_sqrt_ps(__m128 x) { return vsqrtq_f32(x); }
MX_NEON __m128d _mm_sqrt_pd(__m128d x) { return vsqrtq_f64(x); }
MX_NEON __m128 _mm_fmadd_ps(__m128 a, __m128 b, __m128 c) { return vfmaq_f32(c, a, b); }
MX_NEON __m128d _mm_fmadd_pd(__m128d a, __m128d b, __m128d c) { return vfmaq_f64(c, a, b); }
MX_NEON __m128 _mm_min_ps(__m128 a, __m128 b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
MX_NEON __m128 _mm_max_ps(__m128 a, __m128 b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
MX_NEON __m128d _mm_min_pd(__m128d a, __m128d b) { return vbslq_f64(vcltq_f64(a, b), a, b); }
MX_NEON __m128d _mm_max_pd(__m128d a, __m128d b) { return vbslq_f64(vcgtq_f64(a, b), a, b); }
MX_NEON __m128 _mm_cmpunord_ps(__m128 a, __m128 b) {
  return (__m128) ~(vceqq_f32(a, a) & vceqq_f32(b, b));
}
MX_NEON __m128d _mm_cmpunord_pd(__m128d a, __m128d b) {
  return (__m128d) ~(vceqq_f64(a, a) & vceqq_f64(b, b));
}
MX_NEON __m128 _mm_round_ps(__m128 x, int mode) {
  switch (mode & 3) {
    case _MM_FROUND_TO_NEG_INF:
      return vrndmq_f32(x);
    case _MM_FROUND_TO_POS_INF:
      return vrndpq_f32(x);
    case _MM_FROUND_TO_ZERO:
      return vrndq_f32(x);
    default:
      return vrndnq_f32(x);
  }
}
MX_NEON __m128d _mm_round_pd(__m128d x, int mode) {
  switch (mode & 3) {
    case _MM_FROUND_TO_NEG_INF:
      return vrndmq_f64(x);
    case _MM_FROUND_TO_POS_INF:
      return vrndpq_f64(x);
    case _MM_FROUND_TO_ZERO:
      return vrndq_f64(x);
    default:
      return vrndnq_f64(x);
  }
}

// --- lanes ----------------------------------------------------------------------------------
MX_NEON __m128 _mm_unpacklo_ps(__m128 a, __m128 b) { return vzip1q_f32(a, b); }
MX_NEON __m128 _mm_unpackhi_ps(__m128 a, __m128 b) { return vzip2q_f32(a, b); }
MX_NEON __m128 _mm_movelh_ps(__m128 a, __m128 b) {
  return vcombine_f32(vget_low_f32(a), vget_low_f32(b));
}
MX_NEON __m128 _mm_movehl_ps(__m128 a, __m128 b) {
  return vcombine_f32(vget_high_f32(b), vget_high_f32(a));
}
MX_NEON __m128i _mm_packs_epi32(__m128i a, __m128i b) {
  return (__m128i)vcombine_s16(vqmovn_s32((int32x4_t)a), vqmovn_s32((int32x4_t)b));
}
MX_NEON __m128i _mm_packs_epi16(__m128i a, __m128i b) {
  return (__m128i)vcombine_s8(vqmovn_s16((int16x8_t)a), vqmovn_s16((int16x8_t)b));
}

// --- bits -----------------------------------------------------------------------------------
MX_NEON int _mm_testz_si128(__m128i a, __m128i b) { return vmaxvq_u32((uint32x4_t)(a & b)) == 0; }
MX_NEON int _mm_movemask_epi8(__m128i x) {
  const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bits = vcltzq_s8((int8x16_t)x) & places;
  return vaddv_u8(vget_low_u8(bits)) | vaddv_u8(vget_high_u8(bits)) << 8;
}

// --- memory ---------------------------------------------------------------------------------
MX_NEON __m128 _mm_loadu_ps(const float* from) { return vld1q_f32(from); }
MX_NEON void _mm_stream_si128(__m128i* to, __m128i x) { *to = x; }
MX_NEON void _mm_sfence() { __atomic_thread_fence(__ATOMIC_RELEASE); }

#undef MX_NEON
