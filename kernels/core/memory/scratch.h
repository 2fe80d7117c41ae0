// Scratch memory of the calling thread: grow-only, kept until the thread ends.
#pragma once
#include <cstddef>

namespace mx {

// At least `bytes` bytes, 64-byte aligned, uninitialised; NULL (with an error text) when memory is
// out. Several slots, so that a caller may hold one block while what it calls uses another: the
// panels of a matrix product, a thread's own intermediate, and what a whole team reads.
enum Slot { kPackSlot, kTempSlot, kSharedSlot, kSlots };
void* scratch(Slot slot, size_t bytes);

}  // namespace mx
