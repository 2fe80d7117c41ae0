// Training-mode batch normalisation of blocked arrays (batch, channels / B, spatial..., B), shared
// by the forward pass and its gradient.
//
// Data, output and their gradients are float32 or bfloat16 (T), everything else is float32. Each
// plane (one block of one image) is summed separately, in chunks, and planes are added in order, so
// results do not depend on the number of threads.
#pragma once
#include <type_traits>

#include "core/memory/scratch.h"
#include "leaf/fused/block.h"
#include "leaf/norm/limits.h"
#include "leaf/queries.h"
#include "leaf/simd/stream.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace blocked_norm {

constexpr int B = kBlockLanes;
constexpr int64_t kChunk = 256;  // pixels summed in float while they are in the cache

MX_INLINE void write_block(float* p, const VB& x) { store_block(p, x); }
MX_INLINE void write_block(bf16* p, const VB& x) {
  const UB bits = (UB)x, rounded = bits + 0x7fffu + ((bits >> 16) & 1u);  // ties to even
  const HB narrow = __builtin_convertvector((x != x ? bits | 0x400000u : rounded) >> 16, HB);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}

typedef std::conditional_t<B == 16, uint16_t, uint8_t> LaneBits;  // one for each lane of a block

// Which lanes are positive.
MX_INLINE LaneBits positive_lanes(const VB& x) {
#if MX_ISA_LEVEL == 4
  return _mm512_cmp_ps_mask((__m512)x, __m512{}, _CMP_GT_OQ);
#elif MX_ISA_LEVEL == 3
  return (LaneBits)_mm256_movemask_ps((__m256)(x > 0));
#else
  LaneBits bits = 0;
  for (int c = 0; c < B; ++c) bits = (LaneBits)(bits | (x[c] > 0) << c);
  return bits;
#endif
}

// Keep the lanes whose bits are set.
MX_INLINE VB keep_lanes(LaneBits bits, const VB& x) {
  UB lanes;
  for (int c = 0; c < B; ++c) lanes[c] = 1u << c;
  return ((lanes & (uint32_t)bits) != 0) ? x : VB{};
}

// Write a block, past the caches if `streams`; call `end_streams` afterwards.
template <bool streams, class T>
MX_INLINE void put_block(T* p, const VB& x) {
  if constexpr (streams) {
    stream((char*)p, (const char*)&x);
  } else {
    write_block(p, x);
  }
}

// Whether an output is too large for the caches, and can be written past them.
template <class T>
bool can_stream(const mx_tensor& out) {
  return sizeof(T) * B == kVecBytes && beyond_caches(out) && (uintptr_t)out.data % kVecBytes == 0;
}

struct Shape {
  const mx_batch_norm_params& p;
  int64_t images, blocks, pixels;
  double count;  // elements per channel

  explicit Shape(const mx_call* call)
      : p(*(const mx_batch_norm_params*)call->params),
        images(p.outer),
        blocks(p.channels / B),
        pixels(p.inner),
        count((double)(p.outer * p.inner > 0 ? p.outer * p.inner : 1)) {}
  int64_t place(int64_t image, int64_t block) const {
    return (image * blocks + block) * pixels * B;
  }
};

// Call first(image, block) for all planes, then between(block), then last(image, block). Threads
// divide blocks, whose planes then stay in their caches, or planes if there are too few blocks.
template <class First, class Between, class Last>
void in_passes(int threads, const Shape& s, const First& first, const Between& between,
               const Last& last) {
  if (ceil_div(s.blocks, threads) * threads * 4 <= s.blocks * 5) {
    parallel_for(threads, s.blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        for (int64_t image = 0; image < s.images; ++image) first(image, block);
        between(block);
        for (int64_t image = s.images; image-- > 0;) last(image, block);
      }
    });
    return;
  }
  const auto planes = [&](const auto& body) {
    parallel_for(threads, s.blocks * s.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i % s.images, i / s.images);
    });
  };
  planes(first);
  parallel_for(threads, s.blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) between(block);
  });
  planes(last);
}

inline void widen(const VB& from, double* to) {
  float numbers[B];
  store_block(numbers, from);
  for (int c = 0; c < B; ++c) to[c] = numbers[c];
}

// Kernels accept arrays of this CPU's block size.
inline int64_t query(const mx_call* call, int32_t what) {
  const auto& p = *(const mx_batch_norm_params*)call->params;
  const mx_tensor& blocked = call->in[0];
  if (p.channels % B || blocked.ndim < 1 || blocked.shape[blocked.ndim - 1] != B)
    return refused("blocked_batch_norm", "the data is not blocked by this CPU's block size", what);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;
}

}  // namespace blocked_norm
MX_LEAF_END
