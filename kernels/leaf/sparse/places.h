// Lookup of ids in a sorted list of them.
#pragma once
#include "core/memory/scratch.h"
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN

class Places {
 public:
  explicit Places(const mx_tensor& list) : ids_(data<int64_t>(list)), n_(count(list)) {}

  // Prepare for `questions` lookups; false with an error text if the list is not sorted. Lookups
  // are correct in any case, so a list much longer than the number of lookups is not checked. A
  // table is built if it is small enough to pay off; it is in the calling thread's shared scratch
  // memory, until that is used again.
  bool ready(int64_t questions) {
    const bool is_long = n_ / 8 > questions + 512;
    if (!is_long && (!ascending(ids_, n_) || (n_ && ids_[0] < 0))) {
      mx_fail("indices: must be sorted, distinct and not negative");
      return false;
    }
    extent_ = n_ ? ids_[n_ - 1] + 1 : 0;
    if (is_long || extent_ == n_ || extent_ / 16 > questions + n_ || n_ > INT32_MAX) return true;
    table_ = (int32_t*)scratch(kSharedSlot, (size_t)extent_ * sizeof *table_);
    if (!table_) return false;
    memset(table_, -1, (size_t)extent_ * sizeof *table_);
    for (int64_t i = 0; i < n_; ++i) table_[ids_[i]] = (int32_t)i;
    return true;
  }

  // Position of any id, or -1.
  MX_INLINE int64_t of(int64_t id) const {
    if ((uint64_t)id >= (uint64_t)extent_) return -1;
    if (table_) return table_[id];
    const int64_t place = extent_ == n_ ? id : first_from(ids_, n_, id);  // all ids may be present
    return place < n_ && ids_[place] == id ? place : -1;
  }

 private:
  const int64_t* ids_;
  int64_t n_, extent_ = 0;
  int32_t* table_ = nullptr;
};

MX_LEAF_END
