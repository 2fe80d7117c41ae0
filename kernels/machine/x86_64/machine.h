// x86-64 instructions used by the core.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace mx::machine {

// Whether the processor can run the leaf kernels' build for a level: 2, 3 or 4 of x86-64.
inline bool runs(int32_t level) {
  __builtin_cpu_init();
  switch (level) {
    case 2:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case 3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
    case 4:
      return runs(3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512cd");
    default:
      return false;
  }
}

// Hint that the core is spinning.
inline void pause() { _mm_pause(); }

// Flush the 64-byte cache line of an address from all caches.
inline void evict(const char* address) { _mm_clflush(address); }

// Control bits that flush denormal results and operands to zero in this thread.
constexpr uint32_t kFlush = 0x8040;
inline bool flushes_denormals() { return (_mm_getcsr() & kFlush) != 0; }
inline void flush_denormals(bool flush) {
  _mm_setcsr(flush ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush);
}

}  // namespace mx::machine
