// Packing masks of wide elements into bytes.
#pragma once
#include "leaf/simd/lanes.h"

MX_LEAF_BEGIN

#if MX_ISA_LEVEL == 4
#define MX_PACK(bits, a, b) (VI) _mm512_packs_epi##bits((__m512i)(a), (__m512i)(b))
#elif MX_ISA_LEVEL == 3
#define MX_PACK(bits, a, b) (VI) _mm256_packs_epi##bits((__m256i)(a), (__m256i)(b))
#else
#define MX_PACK(bits, a, b) (VI) _mm_packs_epi##bits((__m128i)(a), (__m128i)(b))
#endif

// The lower 16-bit words of the 32-bit words of a, then of b.
MX_INLINE VI low_words(VI a, VI b) { return __builtin_shuffle(a, b, lane_numbers<VI>() * 2); }

// A vector of booleans from the necessary number of masks of T: mask(i) is the i-th of sizeof(T).
template <class T, class M>
MX_INLINE Vec<uint8_t> packed(const M& mask) {
  typedef Vec<uint8_t> Bytes;
  const Bytes one = splat<Bytes>(1);
  if constexpr (sizeof(T) == 1) {
    return (Bytes)mask(0) & one;
  } else {
    VI words[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(T) == 8)
        words[i] = low_words((VI)mask(2 * i), (VI)mask(2 * i + 1));
      else
        words[i] = mask(i);
    }
    constexpr int parts = kVecBytes / 16;  // of a register, each packed separately
    const VI lane = lane_numbers<VI>(), order = lane % parts * 4 + lane / parts;
    const VI low = MX_PACK(32, words[0], words[1]), high = MX_PACK(32, words[2], words[3]);
    return (Bytes)__builtin_shuffle(MX_PACK(16, low, high), order) & one;
  }
}
#undef MX_PACK

MX_LEAF_END
