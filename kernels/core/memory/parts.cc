// Gathering copies of scattered memory, for messages between processes.
#include <cstring>

#include "mxcy_parts.h"

extern "C" void mx_copy_parts(int64_t count, const int64_t* targets, const int64_t* sources,
                              const int64_t* sizes) {
  for (int64_t i = 0; i < count; ++i)
    if (sizes[i])
      std::memcpy(reinterpret_cast<void*>(targets[i]), reinterpret_cast<const void*>(sources[i]),
                  static_cast<size_t>(sizes[i]));
}
