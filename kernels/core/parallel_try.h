// parallel_try: parallel_for whose body may fail, for want of memory or for wrong values.
#pragma once
#include "core/threads.h"

namespace mx {

// The first failure in a team. Error texts belong to threads: that of a team's thread has to become
// the text of the thread that reports it.
class TeamFailure {
 public:
  // Keep the calling thread's error text, unless another thread failed before.
  void keep();
  // After the team: 0, or -1 with the kept text as that of the calling thread.
  int status() const;

 private:
  int failed_ = 0;
  char text_[1024];
};

// As parallel_for, with a body that returns whether it succeeded, and has set the error text if
// not. 0, or -1 with the text of the first failure.
template <class Body>
inline int parallel_try(int threads, int64_t n, int64_t grain, const Body& body) {
  TeamFailure failure;
  parallel_for(threads, n, grain, [&](int64_t begin, int64_t end) {
    if (!body(begin, end)) failure.keep();
  });
  return failure.status();
}

}  // namespace mx
