// Aligned allocation, with the hook through which memory pools take over.
#include <cstdlib>

#include "mxcy.h"

static mx_alloc_hook g_hook = {nullptr, nullptr};

extern "C" void* mx_system_alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  if (bytes > (size_t)1 << 62 || posix_memalign(&data, 64, bytes) != 0) {
    mx_fail("out of memory: cannot allocate %zu bytes", bytes);
    return nullptr;
  }
  return data;
}

extern "C" void mx_system_free(void* data) { free(data); }

extern "C" void* mx_alloc(size_t bytes) {
  return g_hook.alloc ? g_hook.alloc(bytes) : mx_system_alloc(bytes);
}

extern "C" void mx_free(void* data, size_t bytes) {
  if (!data) return;
  if (g_hook.free) return g_hook.free(data, bytes);
  mx_system_free(data);
}

extern "C" void mx_set_alloc_hook(const mx_alloc_hook* hook) {
  g_hook = hook ? *hook : mx_alloc_hook{nullptr, nullptr};
}
