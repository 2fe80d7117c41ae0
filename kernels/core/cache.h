// Sizes of this machine's caches.
#pragma once
#include <cstdint>

namespace mx {

// Bytes of a core's own second-level cache; a cautious guess where the system does not tell.
int64_t second_cache();

}  // namespace mx
