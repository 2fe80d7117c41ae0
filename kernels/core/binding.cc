// Threads that escape the CPU binding of the OpenMP runtime.
#include "core/binding.h"

#include <sched.h>

#include <vector>

#include "core/fork.h"
#include "mxcy_binding.h"

namespace {

mx::ForkSafeMutex g_lock;
std::vector<int32_t> g_cpus;

}  // namespace

extern "C" void mx_keep_cpus(const int32_t* cpus, int32_t n) {
  std::lock_guard<std::mutex> guard(g_lock);
  g_cpus.assign(cpus, cpus + n);
}

extern "C" int32_t mx_keeps_cpus(void) {
  std::lock_guard<std::mutex> guard(g_lock);
  return !g_cpus.empty();
}

void mx::unbind_thread() {
  std::lock_guard<std::mutex> guard(g_lock);
  if (g_cpus.empty()) return;
  int32_t most = 0;
  for (int32_t cpu : g_cpus) most = cpu > most ? cpu : most;
  cpu_set_t* set = CPU_ALLOC(most + 1);
  if (!set) return;  // the thread then shares a CPU: slower, but correct
  const size_t bytes = CPU_ALLOC_SIZE(most + 1);
  CPU_ZERO_S(bytes, set);
  for (int32_t cpu : g_cpus) CPU_SET_S(cpu, bytes, set);
  sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}
