// Powers of floats by table, where a lookup among 32 values is one instruction.
//
// log2(x) as a sum of two floats, as in log_table.h; times y; then 2^t as in exp_table.h. The sum
// has about 32 significant bits, since a power loses as many bits as its logarithm has before the
// point.
#pragma once
#include "leaf/simd/exp_table.h"
#include "leaf/simd/log_table.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// -log2(c) for the constants c of kLogTable: multiples of 2^-15, then the remainders.
// clang-format off
alignas(64) inline constexpr float kLog2Table[2 * 32] = {
    0, 0.069274902f, 0.10519409f, 0.15451050f, 0.19265747f, 0.23181152f, 0.27209473f, 0.29956055f,
    0.34179688f, 0.37063599f, 0.41503906f, 0.44540405f, 0.47644043f, 0.50814819f, 0.54055786f,
    0.57373047f, -0.39230347f, -0.37503052f, -0.33984375f, -0.32192993f, -0.28540039f,
    -0.26678467f, -0.22882080f, -0.20944214f, -0.16992188f, -0.14974976f, -0.12927246f,
    -0.10852051f, -0.087463379f, -0.066101074f, -0.044403076f, 0,

    0, -1.2239907e-05f, -1.1855105e-05f, -5.4899124e-07f, -1.2392761e-05f, 4.1517856e-06f,
    -1.5181125e-05f, -2.650161e-07f, -8.3577515e-06f, 7.393592e-06f, -1.5632212e-06f,
    7.095588e-06f, -2.3857444e-06f, -1.2896891e-06f, 1.0520034e-05f, 4.776548e-06f,
    -1.3955982e-05f, -8.913768e-06f, -6.2528848e-06f, 1.8367533e-06f, -1.8282373e-06f,
    -1.8727261e-06f, 2.1102853e-06f, -1.1226957e-05f, -3.1264424e-06f, 2.6363548e-06f,
    -1.0556007e-05f, -3.9489655e-06f, 5.376559e-07f, 1.1883761e-05f, 8.956814e-06f, 0,
};
// clang-format on

// x^y for positive x. Only the last instruction overflows, underflows and propagates NaN. Powers of
// 0 and infinity, whose logarithms are infinite, and 1^inf are NaN as well.
MX_INLINE VF pow_by_table(VF x, VF y) {
  constexpr float log2_e = 0x1.715476p0f, log2_e_lo = 0x1.4ae0cp-26f;
  // log2(1 + r) = r / ln(2) + r^2 (q[0] + q[1] r + ...).
  constexpr float q[] = {-0.72134751f, 0.48090053f, -0.36073446f, 0.28096732f};
  const auto look_up = [](const float* row, __m512i place) MX_ALWAYS {
    return (VF)_mm512_permutex2var_ps(_mm512_load_ps(row), place, _mm512_load_ps(row + 16));
  };
  const VF m = (VF)_mm512_maskz_getmant_ps((__mmask16)-1, (__m512)x, _MM_MANT_NORM_p75_1p5,
                                           _MM_MANT_SIGN_nan);
  const VF k = exponent_of(x) - exponent_of(m);
  const __m512i interval = (__m512i)((VI)m >> 18);
  const VF r = fma(m, look_up(kLogTable, interval), splat<VF>(-1));
  const VF square = r * r;
  const VF ends = fma(square, splat<VF>(q[2]), splat<VF>(q[0])),
           odd = fma(square, splat<VF>(q[3]), splat<VF>(q[1]));
  const VF whole = k + look_up(kLog2Table, interval), high = fma(r, splat<VF>(log2_e), whole);
  const VF correction = fma(r, splat<VF>(log2_e_lo), look_up(kLog2Table + 32, interval));
  const VF low =
      fma(r, splat<VF>(log2_e), whole - high) + fma(square, fma(odd, r, ends), correction);

  // 2^(n + s), where n is the product rounded to a multiple of 1/32.
  constexpr float to_32nds = 0x1.8p18f, ln2 = 0x1.62e430p-1f, a = 0.240215f, b = 0.0555042f;
  const VF shifted = fma(y, high + low, splat<VF>(to_32nds)), n = shifted - to_32nds;
  VF s = fma(y, low, fma(y, high, -n));
  s = (VF)_mm512_maskz_range_ps((__mmask16)-1, (__m512)s, (__m512)splat<VF>(0.0158f), 0b0010);
  const VF power = look_up(kExpTable, (__m512i)shifted);
  const VF grown = fma(s * s, fma(s, splat<VF>(b), splat<VF>(a)),
                       fma(s, splat<VF>(ln2), look_up(kExpTableRest, (__m512i)shifted)));
  return (VF)_mm512_maskz_scalef_ps((__mmask16)-1, (__m512)fma(power, grown, power), (__m512)n);
}

MX_LEAF_END
#endif
