// The oneDNN library in use: opened once, when a kernel of it is looked for.
#pragma once
#include <atomic>

#include "onednn/dnnl.h"

namespace mx {
namespace onednn {

struct Library {
  Api api;
  dnnl_engine* engine;
  dnnl_stream* stream;  // in order and without state, so that all threads share it
  int threads;          // the team for which weights are laid out
  int tags[2][2];       // of blocks of 8 and 16 channels, with two and three spatial dimensions
};

// The library, opened from what is on offer if need be, which registers its kernels; NULL when
// there is none.
const Library* library();
// The library that is open; kernels run only when one is.
extern std::atomic<const Library*> g_library;
inline const Library& opened() { return *g_library.load(std::memory_order_relaxed); }
inline const Api& api() { return opened().api; }

// Whether a status is 0; else the error text names what failed.
bool ok(int status, const char* what);

// How many threads oneDNN uses on this thread, within the scope. oneDNN follows OpenMP's setting
// for the calling thread; changing that is a store, teams are only made by regions.
class Team {
 public:
  explicit Team(int threads);
  ~Team();

 private:
  int before_, threads_;
};

}  // namespace onednn
}  // namespace mx
