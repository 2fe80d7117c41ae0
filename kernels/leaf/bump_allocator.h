// bump_allocator.h: splits one block of memory into arrays; without memory it only counts bytes.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

template <class T>
class BumpAllocator {
 public:
  explicit BumpAllocator(void* data) : data_((T*)data) {}
  // `count` elements, with room for a vector load at the last one.
  T* take(int64_t count) {
    T* taken = data_ ? data_ + used_ : nullptr;
    used_ += round_up(count + kLanes<T>, 64 / (int64_t)sizeof(T));
    return taken;
  }
  int64_t bytes() const { return used_ * (int64_t)sizeof(T); }

 private:
  T* data_;
  int64_t used_ = 0;
};

MX_LEAF_END
