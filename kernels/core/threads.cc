// The thread policy: a process uses two team sizes, 1 and N; thresholds are branches.
#include "core/threads.h"

#include <sched.h>

#include <atomic>

#include "core/fork.h"
#include "mxcy.h"
#include "mxcy_binding.h"

static std::atomic<int32_t> g_threads{1};  // set by one thread while workers read it
static std::atomic<int64_t> g_parallel_size{200000};

// Number of concurrent threads among which the team is divided.
static thread_local int32_t t_share __attribute__((tls_model("initial-exec"))) = 1;

void mx::divide_team(int32_t share) { t_share = share < 1 ? 1 : share; }

void mx::leave_cpu(int cpu) {
  static thread_local cpu_set_t everywhere;
  static thread_local bool known = false;
  if (mx_keeps_cpus()) return;
  if (!known && sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) return;
  known = true;
  cpu_set_t others = everywhere;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

extern "C" int32_t mx_threads(void) {
  const int32_t threads = g_threads.load(std::memory_order_relaxed) / t_share;
  return threads < 1 ? 1 : threads;
}
extern "C" void mx_set_threads(int32_t threads) {
  g_threads = threads < 1 || mx::forked() ? 1 : threads;
}
extern "C" int64_t mx_parallel_size(void) {
  return g_parallel_size.load(std::memory_order_relaxed);
}
extern "C" void mx_set_parallel_size(int64_t elements) {
  g_parallel_size = elements < 1 ? 1 : elements;
}
extern "C" int32_t mx_threads_for(int64_t work) {
  return work < mx_parallel_size() ? 1 : mx_threads();
}
extern "C" int32_t mx_threads_up_to(int32_t most) {
  const int32_t threads = mx_threads();
  return most < threads ? most : threads;
}
