// Order between the streams of a device. Memory carries marks: the stream and operation that wrote
// it last, and those that have read it since. A stream waits for the marks of others that it has
// not waited for yet. While a device has one stream, no marks are kept.
#pragma once
#include <vector>

#include "cuda/driver.h"

namespace mx {
namespace cuda {

struct Use {
  const void* memory;  // any address within
  bool writes;
};

// Make this thread's stream on a device wait until it may use memory.
bool await_turn(int32_t device, const std::vector<Use>& uses);
// Mark memory as used by the last operation of this thread's stream.
bool leave_marks(int32_t device, const std::vector<Use>& uses);
// Whether a device has several streams; if not, neither of these is needed.
bool has_order(int32_t device);

// A stream that belongs to no thread, for the lifetime of this object: for copies between host and
// device, which then wait for users of the memory alone, and for captures.
class LentStream {
 public:
  explicit LentStream(int32_t device);
  ~LentStream();
  LentStream(const LentStream&) = delete;

  Stream get() const { return stream_; }  // NULL with an error text
  // Make it wait until it may use memory.
  bool await_turn(const Use& use);

 private:
  const int32_t device_;
  int32_t line_ = -1;
  Stream stream_ = nullptr;
};

// Register memory after allocation, and unregister it before it is freed.
void note_memory(int32_t device, const void* memory, size_t bytes);
void forget_memory(int32_t device, const void* memory);
// The first byte of the registered memory that contains an address, or NULL.
const void* chunk_begin(int32_t device, const void* memory);

}  // namespace cuda
}  // namespace mx
