// Scratch memory of the calling thread.
#include "core/memory/scratch.h"

#include "mxcy.h"

namespace mx {
namespace {

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
    block.data = mx_system_alloc(bytes);
    if (block.data) block.bytes = bytes;
  }
  return block.data;
}

}  // namespace mx
