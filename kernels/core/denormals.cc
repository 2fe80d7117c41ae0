// The bits of MXCSR that make denormal numbers zero: each thread has its own.
#include "mxcy_denormals.h"

#include <xmmintrin.h>

#include <atomic>

// Results that are too small become zero, and so do operands. New threads inherit the bits.
static constexpr uint32_t kFlush = 0x8040;
static std::atomic<int32_t> g_flush{0};
static thread_local int32_t t_flush = (_mm_getcsr() & kFlush) != 0;

extern "C" void mx_match_denormals(void) {
  const int32_t wanted = g_flush.load(std::memory_order_relaxed);
  if (wanted == t_flush) return;
  _mm_setcsr(wanted ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush);
  t_flush = wanted;
}

extern "C" int32_t mx_flush_denormals(int32_t flush) {
  const int32_t before = g_flush.exchange(flush != 0);
  mx_match_denormals();
#pragma omp parallel num_threads(mx_threads())
  mx_match_denormals();
  return before;
}
