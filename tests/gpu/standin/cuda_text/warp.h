// Barriers, votes and shuffles, identified by the line of the call.
#pragma once
#include "block.h"

#define CUDA_TEXT_LINE int line = __builtin_LINE()

static inline void __syncthreads(CUDA_TEXT_LINE) { cuda_text::meet_at_barrier(line, false); }
static inline int __syncthreads_count(int predicate, CUDA_TEXT_LINE) {
  return cuda_text::meet_at_barrier(line, predicate != 0);
}
static inline int __syncthreads_or(int predicate, CUDA_TEXT_LINE) {
  return cuda_text::meet_at_barrier(line, predicate != 0) != 0;
}
static inline int __syncthreads_and(int predicate, CUDA_TEXT_LINE) {
  return cuda_text::meet_at_barrier(line, predicate == 0) == 0;
}

static inline void __syncwarp(uint32_t mask = ~0u, CUDA_TEXT_LINE) {
  cuda_text::exchange(mask, 0, line);
}

namespace cuda_text {
inline uint32_t vote(uint32_t mask, bool predicate, int line) {
  const auto* slots = exchange(mask, (int)predicate, line);
  uint32_t votes = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    int predicate_of_lane = 0;
    if (mask >> i & 1) memcpy(&predicate_of_lane, slots[i], sizeof predicate_of_lane);
    votes |= (uint32_t)predicate_of_lane << i;
  }
  return votes;
}

template <class T>
T shuffle(uint32_t mask, T value, int source, int line) {
  T received;
  memcpy(&received, exchange(mask, value, line)[source & (kWarpSize - 1)], sizeof received);
  return received;
}

// A lane whose source is outside of its group of `width` lanes keeps its value.
template <class T>
T shuffle_within(uint32_t mask, T value, int source, int width, int line) {
  const bool outside = source < 0 || source / width != lane() / width;
  return shuffle(mask, value, outside ? lane() : source, line);
}
}  // namespace cuda_text

static inline uint32_t __ballot_sync(uint32_t mask, int predicate, CUDA_TEXT_LINE) {
  return cuda_text::vote(mask, predicate != 0, line);
}
static inline int __any_sync(uint32_t mask, int predicate, CUDA_TEXT_LINE) {
  return cuda_text::vote(mask, predicate != 0, line) != 0;
}
static inline int __all_sync(uint32_t mask, int predicate, CUDA_TEXT_LINE) {
  return cuda_text::vote(mask, predicate != 0, line) == mask;
}
static inline uint32_t __activemask() {
  return ~cuda_text::block.warp[cuda_text::running->number / cuda_text::kWarpSize].returned;
}

template <class T>
T __shfl_sync(uint32_t mask, T value, int source, int width = 32, CUDA_TEXT_LINE) {
  const int group = cuda_text::lane() & ~(width - 1);
  return cuda_text::shuffle(mask, value, group + (source & (width - 1)), line);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int flip, int width = 32, CUDA_TEXT_LINE) {
  return cuda_text::shuffle_within(mask, value, cuda_text::lane() ^ flip, width, line);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, unsigned distance, int width = 32, CUDA_TEXT_LINE) {
  return cuda_text::shuffle_within(mask, value, cuda_text::lane() + (int)distance, width, line);
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, unsigned distance, int width = 32, CUDA_TEXT_LINE) {
  return cuda_text::shuffle_within(mask, value, cuda_text::lane() - (int)distance, width, line);
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
[[noreturn]] static inline void __trap() { cuda_text::fail("__trap()"); }
