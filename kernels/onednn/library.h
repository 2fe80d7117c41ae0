// The oneDNN library, opened once, when one of its kernels is looked up.
#pragma once
#include <atomic>

#include "onednn/dnnl.h"

namespace mx {
namespace onednn {

struct Library {
  Api api;
  dnnl_engine* engine;
  dnnl_stream* stream;  // in order and stateless, so that all threads share it
  int threads;          // the team for which weights are laid out
  int tags[2][2];       // of blocks of 8 and 16 channels, with two and three spatial dimensions
};

// The library, opened from the offered paths if necessary, which registers its kernels; NULL if
// there is none.
const Library* library();
// The open library; set whenever kernels run.
extern std::atomic<const Library*> g_library;
inline const Library& opened() { return *g_library.load(std::memory_order_relaxed); }
inline const Api& api() { return opened().api; }

// Whether a status is 0; otherwise sets an error text about `what`.
bool ok(int status, const char* what);

// Sets the number of threads that oneDNN uses on this thread, within the scope. oneDNN follows
// OpenMP's setting for the calling thread; changing it is a store, as teams are only created by
// parallel regions.
class Team {
 public:
  explicit Team(int threads);
  ~Team();

 private:
  int before_, threads_;
};

}  // namespace onednn
}  // namespace mx
