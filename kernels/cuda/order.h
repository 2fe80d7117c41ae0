// Order between the streams of a device. Memory carries marks: which stream wrote it last, which
// read it since, and as which of that stream's operations. A stream waits for the marks of others
// that it has not waited for yet. While a device has one stream, nothing of this is noted.
#pragma once
#include <vector>

#include "cuda/driver.h"

namespace mx {
namespace cuda {

struct Use {
  const void* memory;  // any address of it
  bool writes;
};

// Have this thread's stream on a device wait until it may use memory.
bool await_turn(int32_t device, const std::vector<Use>& uses);
// Tell that what this thread's stream was given since uses memory.
bool leave_marks(int32_t device, const std::vector<Use>& uses);
// Whether a device has several streams; else there is no need for either.
bool has_order(int32_t device);

// A stream beside those of threads, lent while one lives. It is for a copy between the host and a
// device, which so waits for what uses the memory and for nothing else; or for a capture.
class LentStream {
 public:
  explicit LentStream(int32_t device);
  ~LentStream();
  LentStream(const LentStream&) = delete;

  Stream get() const { return stream_; }  // NULL with an error text
  // Have it wait until it may use memory.
  bool await_turn(const Use& use);

 private:
  const int32_t device_;
  int32_t line_ = -1;
  Stream stream_ = nullptr;
};

// Memory that was taken from a device or is about to go back.
void note_memory(int32_t device, const void* memory, size_t bytes);
void forget_memory(int32_t device, const void* memory);
// The first byte of the memory that an address lies in, NULL if it was not noted.
const void* chunk_begin(int32_t device, const void* memory);

}  // namespace cuda
}  // namespace mx
