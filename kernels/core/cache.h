// Sizes of this machine's caches.
#pragma once
#include <cstdint>

namespace mx {

// Bytes of a core's L1 data cache; a conservative guess if the system does not report it.
int64_t first_cache();
// Bytes of a core's private L2 cache; a conservative guess if the system does not report it.
int64_t second_cache();
// Bytes of the L3 cache, which cores share; 0 if the system does not report it.
int64_t third_cache();

}  // namespace mx
