// Odd functions of floats by table, where a lookup among 32 values is one instruction.
//
// The intervals of |x| are quarter octaves, so that upper bits of the float select the interval:
// the first one begins at 0, the last one ends where the function rounds to 1. Each has a point
// whose function value is nearly a float, and a polynomial of degree 5 around it. A table holds the
// points, then the coefficients, lowest first; these are our own minimax fits.
#pragma once
#include "leaf/simd/vec.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// `first`: upper half of the float a quarter octave below the second interval. `end`: the function
// is 1 from there on. `less_y`: the table is of the function minus the distance from the point,
// because its slope at 0 is not close enough to a float.
MX_INLINE VF odd_by_table(VF x, const float* table, int first, float end, bool less_y = false) {
  const VI sign = (VI)splat<VF>(-0.0f);
  const VF a = min(splat<VF>(end), (VF)((VI)x & ~sign));  // NaN passes
  // Subtract the bits of `first`, saturating at 0; the lower half vanishes.
  const __m512i above = _mm512_subs_epu16((__m512i)a, _mm512_set1_epi32(first << 16 | 0xffff));
  const __m512i interval = (__m512i)((Bits<VF>)above >> 21);
  const auto look_up = [=](int row) MX_ALWAYS {
    return (VF)_mm512_permutex2var_ps(_mm512_load_ps(table + 32 * row), interval,
                                      _mm512_load_ps(table + 32 * row + 16));
  };
  const VF y = a - look_up(0);
  VF sum = look_up(6);
#pragma GCC unroll 5
  for (int row = 5; row >= 1; --row) sum = fma(sum, y, look_up(row));
  if (less_y) sum += y;
  return (VF)((VI)sum | ((VI)x & sign));
}

MX_LEAF_END
#endif
