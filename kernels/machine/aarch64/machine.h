// AArch64 instructions used by the core.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mx::machine {

// Whether the processor can run the leaf kernels' build for a level: there is only one, for NEON,
// whose vectors are as long as those of x86-64 level 2.
inline bool runs(int32_t level) { return level == 2; }

// Hint that the core is spinning.
inline void pause() { asm volatile("yield"); }

// Flush the cache line of an address from all caches.
inline void evict(const char* address) { asm volatile("dc civac, %0" ::"r"(address) : "memory"); }

// Copy memory that other cores read next; caches are coherent at a lower cost than on x86-64.
inline void stream(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
inline void order_streams() { asm volatile("dmb ishst" ::: "memory"); }

// Control bit that flushes denormal results and operands to zero in this thread.
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
