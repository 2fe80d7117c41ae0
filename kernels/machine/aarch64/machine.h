// What the core asks of an AArch64 processor by instructions of its own.
#pragma once
#include <cstdint>

namespace mx::machine {

// Whether the processor runs the build of the leaf kernels for a level: there is one, for NEON,
// whose vectors are as long as those of level 2 of x86-64.
inline bool runs(int32_t level) { return level == 2; }

// Leave the core to its other thread for a moment.
inline void pause() { asm volatile("yield"); }

// Take the line around an address out of all caches.
inline void evict(const char* address) { asm volatile("dc civac, %0" ::"r"(address) : "memory"); }

// Whether results that are too small become zero, and such operands count as zero, in this thread.
constexpr uint64_t kFlush = 1 << 24;
inline uint64_t floating_control() {
  uint64_t bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
inline bool flushes_denormals() { return (floating_control() & kFlush) != 0; }
inline void flush_denormals(bool flush) {
  const uint64_t bits = flush ? floating_control() | kFlush : floating_control() & ~kFlush;
  asm volatile("msr fpcr, %0" ::"r"(bits));
}

}  // namespace mx::machine
