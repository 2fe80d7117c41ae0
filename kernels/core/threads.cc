// The thread policy: a process uses two team sizes, 1 and N; thresholds are branches.
#include "mxcy.h"

static int32_t g_threads = 1;
static int64_t g_parallel_size = 200000;

extern "C" int32_t mx_threads(void) { return g_threads; }
extern "C" void mx_set_threads(int32_t threads) { g_threads = threads < 1 ? 1 : threads; }
extern "C" int64_t mx_parallel_size(void) { return g_parallel_size; }
extern "C" void mx_set_parallel_size(int64_t elements) {
  g_parallel_size = elements < 1 ? 1 : elements;
}
extern "C" int32_t mx_threads_for(int64_t work) { return work < g_parallel_size ? 1 : g_threads; }
