// State of a CUDA graph capture on this thread.
#pragma once
#include <vector>

#include "cuda/order.h"

namespace mx {
namespace cuda {

struct Capture {
  Stream stream = nullptr;  // not a thread's stream, on which others might record events
  int64_t launches = 0;
  std::vector<Use> uses;  // in the order of the launches
};

// This thread's capture, or NULL. Streams are not ordered during a capture but before each launch
// of the graph.
Capture* capturing();

}  // namespace cuda
}  // namespace mx
