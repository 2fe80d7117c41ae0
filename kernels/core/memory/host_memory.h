// How much memory this machine has left for this process.
#pragma once
#include <chrono>
#include <cstddef>

#include "core/fork.h"

namespace mx {

// Reading the figures takes some 50 microseconds, so they are read from time to time only; in
// between, what is taken is subtracted.
class HostMemory {
 public:
  static HostMemory& instance();
  void figures(size_t coming, size_t* free, size_t* total);
  void forget();  // much was given back: read again

 private:
  using Clock = std::chrono::steady_clock;
  ForkSafeMutex lock_;
  size_t free_ = 0, total_ = 0, taken_ = 0;
  size_t left_ = 0;  // bytes that may be taken before the next reading
  Clock::time_point read_at_;
};

}  // namespace mx
