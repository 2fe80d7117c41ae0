// Borrowing of temporary space.
#include "core/memory/temp_space.h"

#include "core/memory/pool.h"

namespace mx {

TempSpace::Buffer* TempSpace::idle_buffer(bool wait) {
  std::unique_lock<std::mutex> guard(lock_);
  for (;;) {
    for (Buffer& buffer : buffers_) {
      if (!buffer.idle()) continue;
      buffer.borrower = forks();
      return &buffer;
    }
    if (!wait) return nullptr;
    returned_.wait(guard);
  }
}

void* TempSpace::take(size_t bytes, bool wait) {
  if (bytes == 0) return nullptr;
  Buffer* buffer = idle_buffer(wait);
  if (!buffer) return pool_.from_source(bytes, pool_.rounded(bytes));
  if (buffer->bytes < bytes) {  // this borrower has it to itself
    const Buffer small = *buffer;
    {
      std::lock_guard<std::mutex> guard(lock_);
      buffer->data = nullptr;
      buffer->bytes = 0;
    }
    pool_.to_source(small.data, small.bytes);
    const size_t size = pool_.rounded(bytes);
    void* data = pool_.from_source(bytes, size);
    std::lock_guard<std::mutex> guard(lock_);
    buffer->data = data;
    buffer->bytes = data ? size : 0;
    if (!data) {
      buffer->borrower = kNobody;
      returned_.notify_one();
    }
  }
  return buffer->data;
}

void TempSpace::give(void* data, size_t bytes) {
  if (!data) return;
  {
    std::lock_guard<std::mutex> guard(lock_);
    for (Buffer& buffer : buffers_) {
      if (buffer.data != data) continue;
      buffer.borrower = kNobody;
      returned_.notify_one();
      return;
    }
  }
  pool_.to_source(data, pool_.rounded(bytes));
}

void TempSpace::drop_idle() {
  std::lock_guard<std::mutex> guard(lock_);
  for (Buffer& buffer : buffers_) {
    if (!buffer.idle()) continue;
    pool_.to_source(buffer.data, buffer.bytes);
    buffer = Buffer();
  }
}

void TempSpace::stats(int32_t* copies, int32_t* used, size_t* bytes) {
  std::lock_guard<std::mutex> guard(lock_);
  *copies = (int32_t)buffers_.size();
  *used = 0;
  *bytes = 0;
  for (const Buffer& buffer : buffers_) {
    *used += buffer.data != nullptr;
    *bytes += buffer.bytes;
  }
}

}  // namespace mx
