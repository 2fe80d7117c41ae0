// Flushing of denormal numbers to zero, a per-thread setting that new threads inherit.
#include "mxcy_denormals.h"

#include <atomic>

#include "machine.h"

static std::atomic<int32_t> g_flush{0};
static thread_local int32_t t_flush = mx::machine::flushes_denormals();

extern "C" void mx_match_denormals(void) {
  const int32_t wanted = g_flush.load(std::memory_order_relaxed);
  if (wanted == t_flush) return;
  mx::machine::flush_denormals(wanted != 0);
  t_flush = wanted;
}

extern "C" int32_t mx_flush_denormals(int32_t flush) {
  const int32_t before = g_flush.exchange(flush != 0);
  mx_match_denormals();
#pragma omp parallel num_threads(mx_threads())
  mx_match_denormals();
  return before;
}
