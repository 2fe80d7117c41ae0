// bf16.h: AVX512-BF16 instructions on blocks of channels. In assembly, because level 4 does not
// include them; callers check `multiplies_bf16` first.
#pragma once
#include "leaf/fused/block.h"

MX_LEAF_BEGIN
#if MX_ISA_LEVEL >= 4

inline bool multiplies_bf16() { return __builtin_cpu_supports("avx512bf16"); }

MX_INLINE void store_block(bf16* p, const VB& x) {
  HB bits;
  asm("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(x));
  __builtin_memcpy(p, &bits, sizeof bits);
}

// 16 pairs of elements.
typedef uint32_t Pairs __attribute__((vector_size(64)));
MX_INLINE Pairs load_pairs(const bf16* p) {
  Pairs pairs;
  __builtin_memcpy(&pairs, p, sizeof pairs);
  return pairs;
}

// sum += dot product of the pair at `left` with each pair of `right`.
MX_INLINE void add_products(VB& sum, const bf16* left, const Pairs& right) {
  typedef const uint32_t Pair __attribute__((may_alias, aligned(2)));
  asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(right), "m"(*(Pair*)left));
}

#endif
MX_LEAF_END
