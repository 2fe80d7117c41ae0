// Stream activity for the profiler: a lane of the trace per stream, next to the rows of threads.
//
// Device events are recorded before and after work on a stream. Their times are resolved when the
// profiler's data is read.
#pragma once
#include <string>

#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Work on a stream while the profiler runs.
class Span {
 public:
  // Record the event before it.
  void begin(int32_t device, Stream stream);
  // Record the event after it, with a name; does nothing without a beginning.
  void end(const char* category, const std::string& name, const std::string& args = "");
  // The same with name and arguments of a profiler source.
  void end(int32_t source);

 private:
  int32_t device_ = 0;
  Stream stream_ = nullptr;
  Event begin_ = nullptr;
};

}  // namespace cuda
}  // namespace mx
