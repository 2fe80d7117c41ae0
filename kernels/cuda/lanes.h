// What streams did and when, for the profiler: lanes of the trace beside the rows of threads.
//
// Events of the device go before and after what a stream is given. They are asked for their times
// when somebody reads what the profiler knows.
#pragma once
#include <string>

#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Something that a stream is given while the profiler listens.
class Span {
 public:
  // An event before it.
  void begin(int32_t device, Stream stream);
  // One after it, under a name; does nothing without a beginning.
  void end(const char* category, const std::string& name, const std::string& args = "");
  // The same with name and arguments of a source of the profiler's.
  void end(int32_t source);

 private:
  int32_t device_ = 0;
  Stream stream_ = nullptr;
  Event begin_ = nullptr;
};

}  // namespace cuda
}  // namespace mx
