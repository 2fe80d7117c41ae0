// Memory that this machine has left for this process.
#pragma once
#include <chrono>
#include <cstddef>

#include "core/fork.h"

namespace mx {

// Reading the figures takes some 50 microseconds, so they are read only occasionally and
// allocations are subtracted in between.
class HostMemory {
 public:
  static HostMemory& instance();
  void figures(size_t coming, size_t* free, size_t* total);
  void forget();  // much memory was freed: read again

 private:
  using Clock = std::chrono::steady_clock;
  ForkSafeMutex lock_;
  size_t free_ = 0, total_ = 0, taken_ = 0;
  size_t left_ = 0;  // bytes that may be allocated before the next reading
  Clock::time_point read_at_;
};

}  // namespace mx
