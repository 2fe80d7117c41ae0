// Sizes of this machine's caches.
#include "core/cache.h"

#include <unistd.h>

namespace mx {

int64_t first_cache() {
  static const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return bytes > 0 ? bytes : 32 << 10;
}

int64_t second_cache() {
  static const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : 512 << 10;
}

int64_t third_cache() {
  static const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : 0;
}

}  // namespace mx
