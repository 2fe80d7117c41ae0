// Blocks of memory that share huge pages.
#pragma once
#include <cstddef>
#include <map>

#include "core/fork.h"

namespace mx {

constexpr size_t kHugePage = (size_t)1 << 21;

// Divides regions of huge pages into blocks, by best fit. Complete huge pages between blocks go
// back to the system at once.
class HugePages {
 public:
  static constexpr size_t kGrain = 4096;  // blocks are multiples of it, at multiples of it

  static HugePages& instance();
  void* take(size_t bytes);  // NULL if the system has no memory
  bool give(void* data);     // false if it is not a block from here

 private:
  typedef std::map<char*, size_t> Ranges;  // sizes by address
  typedef Ranges::value_type Range;

  bool add_region();
  Ranges::iterator fitting(size_t size);
  bool touch(const Range& first, const Range& second);
  Ranges::iterator add_free(char* begin, size_t size);

  ForkSafeMutex lock_;
  Ranges regions_, used_, free_;
};

}  // namespace mx
