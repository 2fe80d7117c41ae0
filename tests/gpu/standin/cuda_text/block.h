// One block of a grid: threads, shared memory, and synchronisation points.
//
// All threads are fibers of one OS thread, so runs are deterministic. Their order can be chosen; a
// kernel whose result depends on it lacks a barrier. What CUDA leaves undefined is an error here:
// barriers that only some threads reach or that are on different lines, masks with lanes that have
// returned, addresses out of bounds.
#pragma once
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "fibers.h"
#include "launch_spec.h"
#include "vectors.h"

namespace cuda_text {

constexpr int kWarpSize = 32, kMaxThreads = 1024, kMaxWarps = kMaxThreads / kWarpSize;

struct Thread {
  uint3 index;
  int number;
  bool finished;
  void* stack_pointer;
  const uint64_t* awaited;  // waits until this differs from `generation`
  uint64_t generation;
};

// The lanes of a mask exchange values here; two rounds of slots, for fast lanes are one ahead.
struct Warp {
  uint32_t arrived, returned;
  uint64_t generation;
  int line;
  alignas(16) unsigned char slots[2][kWarpSize][16];
};

struct Barrier {
  int arrived, votes, last_votes, line;
  uint64_t generation;
};

struct Block {
  uint3 index;
  dim3 size, grid;
  int threads, live;
  bool fibers;  // false: no synchronisation, one fiber runs all threads
  bool failed;
  Barrier barrier;
  Thread thread[kMaxThreads];
  Warp warp[kMaxWarps];
  void* scheduler;  // its stack pointer
  char *stacks, *shared;
  void (*body)(void*);
  void* arguments;
  uint64_t random;
  char* error;
};

inline Block block;
inline Thread* running;

inline void suspend() { cuda_text_switch(&running->stack_pointer, block.scheduler); }

template <class... Words>
[[noreturn]] void fail(const char* format, Words... words) {
  const uint3 b = block.index, t = running->index;
  const int n = snprintf(block.error, sizeof(LaunchSpec::error),
                         "block %u,%u,%u, thread %u,%u,%u: ", b.x, b.y, b.z, t.x, t.y, t.z);
  snprintf(block.error + n, sizeof(LaunchSpec::error) - n, format, words...);
  block.failed = true;
  suspend();
  __builtin_unreachable();
}

inline void sleep_until_changed(const uint64_t* awaited) {
  if (!block.fibers) fail("it waits for other threads, which nothing in the text has announced");
  running->awaited = awaited, running->generation = *awaited;
  suspend();
}

inline void open_barrier() {
  Barrier& barrier = block.barrier;
  barrier.arrived = 0, barrier.last_votes = barrier.votes, barrier.votes = 0;
  ++barrier.generation;
}

// The number of votes.
inline int meet_at_barrier(int line, bool vote) {
  Barrier& barrier = block.barrier;
  if (barrier.arrived && barrier.line != line)
    fail("it is at the barrier of line %d, others wait at that of line %d", line, barrier.line);
  barrier.line = line, barrier.votes += vote;
  if (++barrier.arrived == block.live)
    open_barrier();
  else
    sleep_until_changed(&barrier.generation);
  return barrier.last_votes;
}

inline int lane() { return running->number % kWarpSize; }

// Wait for all lanes of a mask; returns their values.
template <class T>
const unsigned char (*exchange(uint32_t mask, T value, int line))[16] {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable<T>::value,
                "too large for a register");
  Warp& warp = block.warp[running->number / kWarpSize];
  const uint32_t own = 1u << lane();
  if (!(mask & own)) fail("line %d: the mask %08x lacks the calling lane", line, mask);
  if (warp.returned & mask)
    fail("line %d: the mask %08x names lanes that have returned", line, mask);
  if (warp.arrived && warp.line != line)
    fail("lanes of one warp meet at the lines %d and %d", warp.line, line);
  warp.line = line;
  auto* slots = warp.slots[warp.generation % 2];
  memcpy(slots[lane()], &value, sizeof value);
  warp.arrived |= own;
  if (warp.arrived == mask)
    warp.arrived = 0, ++warp.generation;
  else
    sleep_until_changed(&warp.generation);
  return slots;
}

inline void return_from_kernel() {
  running->finished = true;
  block.warp[running->number / kWarpSize].returned |= 1u << lane();
  block.live -= block.fibers ? 1 : block.threads;
  if (block.live && block.barrier.arrived == block.live) open_barrier();
  suspend();
}

inline void fiber_entry() {
  const int threads = block.fibers ? 1 : block.threads;
  for (int i = 0; i < threads; ++i) {
    if (!block.fibers) running = &block.thread[i];
    block.body(block.arguments);
  }
  return_from_kernel();
}

}  // namespace cuda_text
