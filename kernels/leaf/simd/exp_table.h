// exp of floats by table, where a lookup among 32 values is one instruction.
#pragma once
#include "leaf/simd/vec.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// clang-format off
// 2^(i / 32)
alignas(64) inline constexpr float kExpTable[32] = {
    1, 1.0218972f, 1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f, 1.13878858f, 1.1637249f,
    1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f, 1.35425556f,
    1.38390994f, 1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f, 1.5759809f,
    1.61049032f, 1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f, 1.8340081f,
    1.87416768f, 1.91520655f, 1.95714414f,
};
// Relative error of these floats: by how much they are too small
alignas(64) inline constexpr float kExpTableRest[32] = {
    0, -4.708e-08f, 4.629e-08f, -5.56e-08f, -1.199e-08f, -4.878e-08f, 4.73e-08f, -3.481e-08f,
    3.193e-08f, -2.689e-08f, 3.621e-08f, 1.118e-09f, -3.099e-08f, -2.638e-08f, -7.475e-09f,
    -4.246e-08f, 1.711e-08f, 2.3e-08f, -3.048e-08f, -1.654e-08f, 5.233e-09f, -3.592e-08f,
    6.108e-09f, -3.114e-08f, -1.472e-08f, -2.822e-08f, -5.259e-09f, -6.36e-09f, -6.128e-09f,
    -2.488e-08f, 5.141e-09f, -8.697e-09f,
};
// clang-format on

// 2^k exp(r), where k is x / ln(2) rounded to a multiple of 1/32, which the low bits of `shifted`
// encode. Branch-free: only the last instruction overflows, underflows and propagates NaN. Error:
// half an ulp with `closely`, else one.
MX_INLINE VF exp_by_table(VF x, bool closely = false) {
  constexpr float to_32nds = 0x1.8p18f;  // adding it removes finer bits
  // exp(r) - 1 = r + r^2 (a + b r); a is slightly low, because the table's error is mostly upwards.
  constexpr float a = 0.499975f, b = 0.1666676f;
  const VF shifted = fma(x, splat<VF>(0x1.715476p0f), splat<VF>(to_32nds));
  const VF k = shifted - to_32nds;
  VF r = fma(k, splat<VF>(-0x1.7f7d1cp-20f), fma(k, splat<VF>(-0x1.62e4p-1f), x));
  // The bound on |r|, exceeded only if k is no such multiple: for infinities, say.
  r = (VF)_mm512_maskz_range_ps((__mmask16)-1, (__m512)r, (__m512)splat<VF>(0.01095f), 0b0010);
  const auto look_up = [=](const float* row) MX_ALWAYS {
    return (VF)_mm512_permutex2var_ps(_mm512_load_ps(row), (__m512i)shifted,
                                      _mm512_load_ps(row + 16));
  };
  const VF power = look_up(kExpTable), linear = closely ? r + look_up(kExpTableRest) : r;
  const VF grown = fma(r * r, fma(r, splat<VF>(b), splat<VF>(a)), linear);
  return (VF)_mm512_maskz_scalef_ps((__mmask16)-1, (__m512)fma(power, grown, power), (__m512)k);
}

MX_LEAF_END
#endif
