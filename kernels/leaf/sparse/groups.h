// Grouping of ids: radix sort, or a bit set if the range is small enough.
#pragma once
#include "core/memory/scratch.h"
#include "leaf/simd/cast.h"
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN

struct Numbered {
  int64_t id, at;
};

// Stable sort of n ids from [0, extent). Returns the sorted array: `ids` or `spare`.
inline Numbered* sort_ids(Numbered* ids, Numbered* spare, int64_t n, int64_t extent) {
  constexpr int kMaxDigit = 11;
  const int width = n < 4096 ? 8 : kMaxDigit;
  uint32_t starts[1 << kMaxDigit];
  for (int shift = 0; shift < 63 && (extent - 1) >> shift > 0; shift += width) {
    const auto digit = [&](int64_t id) { return (id >> shift) & ((1 << width) - 1); };
    memset(starts, 0, sizeof starts);
    for (int64_t i = 0; i < n; ++i) ++starts[digit(ids[i].id)];
    uint32_t start = 0;
    for (int d = 0; d < 1 << width; ++d) {
      const uint32_t size = starts[d];
      starts[d] = start;
      start += size;
    }
    for (int64_t i = 0; i < n; ++i) spare[starts[digit(ids[i].id)]++] = ids[i];
    Numbered* sorted = spare;
    spare = ids;
    ids = sorted;
  }
  return ids;
}

// Read the ids of a tensor of any dtype; ids outside of [0, extent) are clipped, or rejected with
// an error text.
inline bool read_ids(int64_t* ids, const mx_tensor& from, int64_t extent, bool clips) {
  const int64_t n = count(from);
  if (n && !extent) {
    mx_fail("indices: cannot take elements of a dimension of size 0");
    return false;
  }
  if (from.dtype == MX_I64)
    memcpy(ids, from.data, (size_t)n * sizeof *ids);
  else
    cast_row(MX_I64, from.dtype)(ids, from.data, n);
  if (within(ids, n, extent)) return true;
  if (!clips) {
    mx_fail("indices: out of bounds for a dimension of size %lld", (long long)extent);
    return false;
  }
  for (int64_t i = 0; i < n; ++i) ids[i] = ids[i] < 0 ? 0 : ids[i] < extent ? ids[i] : extent - 1;
  return true;
}

// Whether a bit set is worth its size for n ids.
inline bool suits_bits(int64_t n, int64_t extent) { return extent / 128 <= n + 512; }

// A set of ids from [0, extent), in the calling thread's scratch memory.
class IdSet {
 public:
  explicit IdSet(int64_t extent) : words_((extent + 63) / 64) {
    bits_ = (uint64_t*)scratch(kTempSlot, (size_t)(words_ + 1) * sizeof *bits_);
    if (bits_) memset(bits_, 0, (size_t)words_ * sizeof *bits_);
  }
  bool ready() const { return bits_; }
  void add(const int64_t* ids, int64_t n) {
    for (int64_t i = 0; i < n; ++i) bits_[ids[i] >> 6] |= 1ull << (ids[i] & 63);
  }
  // Write them in ascending order and return their number.
  int64_t list(int64_t* ids) const {
    int64_t n = 0;
    for (int64_t word = 0; word < words_; ++word)
      for (uint64_t bits = bits_[word]; bits; bits &= bits - 1)
        ids[n++] = word * 64 + __builtin_ctzll(bits);
    return n;
  }

 private:
  int64_t words_;
  uint64_t* bits_;
};

MX_LEAF_END
