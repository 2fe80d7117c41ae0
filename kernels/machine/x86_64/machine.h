// x86-64 instructions used by the core.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

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

// Copy memory that other cores read next, past this core's caches: to write to lines that other
// caches hold takes several times as long. `order_streams` precedes any signal to readers.
inline void stream(void* to, const void* from, size_t bytes) {
  constexpr size_t kVector = 16, kLine = 64, kLeast = 16 * kLine;
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const size_t begin = -reinterpret_cast<uintptr_t>(out) % kLine;
  if ((begin || bytes % kLine) && bytes < kLeast) {  // to stream a part of a line is slow
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, begin);
  size_t at = begin;
  for (; at + kLine <= bytes; at += kLine)
    for (size_t i = at; i < at + kLine; i += kVector)
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
  std::memcpy(out + at, in + at, bytes - at);
}
inline void order_streams() { _mm_sfence(); }

// Control bits that flush denormal results and operands to zero in this thread.
constexpr uint32_t kFlush = 0x8040;
inline bool flushes_denormals() { return (_mm_getcsr() & kFlush) != 0; }
inline void flush_denormals(bool flush) {
  _mm_setcsr(flush ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush);
}

}  // namespace mx::machine
