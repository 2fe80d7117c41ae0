// Scratch memory of the calling thread: grow-only, freed when the thread ends.
#pragma once
#include <cstddef>

namespace mx {

// At least `bytes` bytes, 64-byte aligned, uninitialised; NULL with an error text if memory is
// exhausted. Separate slots allow nesting: panels of a matrix product, a thread's own intermediate
// results, and data shared by the whole team.
enum Slot { kPackSlot, kTempSlot, kSharedSlot, kSlots };
void* scratch(Slot slot, size_t bytes);

}  // namespace mx
