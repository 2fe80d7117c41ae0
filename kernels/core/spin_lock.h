// A one-byte lock for critical sections of a few instructions: cheaper than a mutex.
#pragma once
#include <sched.h>

#include <atomic>

#include "machine.h"

namespace mx {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; busy_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries < 64)
        machine::pause();
      else
        sched_yield();  // the owner may be waiting for this core
    }
  }
  bool try_lock() { return !busy_.exchange(true, std::memory_order_acquire); }
  void unlock() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> busy_{false};
};

}  // namespace mx
