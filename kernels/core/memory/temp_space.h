// Temporary space of a device: a few buffers that operators borrow while they run.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fork.h"

namespace mx {

class Pool;

class TempSpace {
 public:
  TempSpace(Pool& pool, int32_t copies) : pool_(pool), buffers_(copies) {}

  // Programs that run one operator at a time use only the first buffer, which stays in the cache.
  void* take(size_t bytes, bool wait);
  void give(void* data, size_t bytes);
  void drop_idle();
  void stats(int32_t* copies, int32_t* used, size_t* bytes);

 private:
  static constexpr int kNobody = -1;
  struct Buffer {
    void* data = nullptr;
    size_t bytes = 0;
    int borrower = kNobody;  // forks() at that time: a child has none of its parent's threads
    bool idle() const { return borrower != forks(); }
  };
  Buffer* idle_buffer(bool wait);

  Pool& pool_;
  ForkSafeMutex lock_;
  std::condition_variable returned_;
  std::vector<Buffer> buffers_;
};

}  // namespace mx
