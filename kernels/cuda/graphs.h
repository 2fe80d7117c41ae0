// Recorded launches: what this thread's stream is given while a CUDA graph is captured.
#pragma once
#include <vector>

#include "cuda/order.h"

namespace mx {
namespace cuda {

struct Capture {
  Stream stream = nullptr;  // no thread's, or others would record events in the midst of it
  int64_t launches = 0;
  std::vector<Use> uses;  // of memory, in the order of the launches
};

// The capture of this thread, NULL without one. Streams are not ordered during it: what the graph
// uses has its turn before it is launched.
Capture* capturing();

}  // namespace cuda
}  // namespace mx
