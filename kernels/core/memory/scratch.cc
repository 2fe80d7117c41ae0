// Scratch memory of the calling thread.
#include "core/memory/scratch.h"

#include "core/integers.h"
#include "mxcy.h"

namespace mx {
namespace {

// Large blocks are whole huge pages, which mx_system_alloc takes from two pages on: panels in
// scattered small pages displace each other from the second cache.
constexpr size_t kHuge = (size_t)2 << 20, kLarge = kHuge / 4;

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
      bytes = (size_t)round_up((int64_t)(bytes < 2 * kHuge ? 2 * kHuge : bytes), (int64_t)kHuge);
    block.data = mx_system_alloc(bytes);
    if (block.data) block.bytes = bytes;
  }
  return block.data;
}

}  // namespace mx
