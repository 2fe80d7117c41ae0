// Scratch memory of the calling thread: grow-only, kept until the thread ends.
#pragma once
#include <cstddef>

namespace mx {

// At least `bytes` bytes, 64-byte aligned, uninitialised; NULL (with an error text) when memory is
// out. Two slots, so that a caller may hold one block while what it calls uses the other.
enum Slot { kPackSlot = 0, kTempSlot = 1 };
void *scratch(Slot slot, size_t bytes);

}  // namespace mx
