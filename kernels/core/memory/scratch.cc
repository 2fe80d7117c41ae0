// Scratch memory of the calling thread.
#include "core/memory/scratch.h"

#include <algorithm>

#include "core/integers.h"
#include "core/memory/huge_pages.h"
#include "mxcy.h"

namespace mx {
namespace {

// Large blocks are whole huge pages, at least two: panels in blocks of just their size, which share
// huge pages with others, displace each other from the second cache.
constexpr size_t kLarge = kHugePage / 4;

struct Block {
  void* data = nullptr;
  size_t bytes = 0;
  ~Block() { mx_system_free(data); }
};
thread_local Block g_blocks[kSlots];

}  // namespace

void* scratch(Slot slot, size_t bytes) {
  Block& block = g_blocks[slot];
  if (block.bytes < bytes) {
    mx_system_free(block.data);
    block.bytes = 0;
    if (bytes >= kLarge)
      bytes = (size_t)round_up((int64_t)std::max(bytes, 2 * kHugePage), (int64_t)kHugePage);
    block.data = mx_system_alloc(bytes);
    if (block.data) block.bytes = bytes;
  }
  return block.data;
}

}  // namespace mx
