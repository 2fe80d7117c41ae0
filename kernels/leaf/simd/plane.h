// Blocks of storage elements in their computation type: 16-bit dtypes are copied to float and back,
// others are used in place. And the part of a row that a window sees.
#pragma once
#include "leaf/simd/half.h"

MX_LEAF_BEGIN

// The type in which elements of storage type S are computed and summed.
template <class S>
struct SumOf {
  typedef S type;
};
template <>
struct SumOf<f16> {
  typedef float type;
};
template <>
struct SumOf<bf16> {
  typedef float type;
};
template <class S>
using Sum = typename SumOf<S>::type;

// One element, a vector, or the first n lanes of one, of a storage type S as T.
template <class T, class S>
inline Vec<T> load_first_as(const S* src, int n) {
  if constexpr (is_half<S>) {
    decltype(narrow(S{}, Vec<T>{})) bits = {};
    __builtin_memcpy(&bits, src, n * sizeof(S));
    return widen(S{}, bits);
  } else {
    return load_first(src, n);
  }
}
template <class T, class S>
inline Vec<T> load_as(const S* src) {
  if constexpr (is_half<S>) {
    decltype(narrow(S{}, Vec<T>{})) bits;
    __builtin_memcpy(&bits, src, sizeof bits);
    return widen(S{}, bits);
  } else {
    return load(src);
  }
}
template <class T, class S>
inline T scalar_as(S x) {
  if constexpr (is_half<S>) {
    return load_first_as<T>(&x, 1)[0];
  } else {
    return (T)x;
  }
}
template <class S>
inline void store_as(S* dst, Vec<Sum<S>> x) {
  if constexpr (is_half<S>) {
    const VH bits = narrow(S{}, x);
    __builtin_memcpy(dst, &bits, sizeof bits);
  } else {
    store(dst, x);
  }
}
template <class S>
inline void store_first_as(S* dst, Vec<Sum<S>> x, int n) {
  if constexpr (is_half<S>) {
    const VH bits = narrow(S{}, x);
    __builtin_memcpy(dst, &bits, n * sizeof(S));
  } else {
    store_first(dst, x, n);
  }
}
template <class S>
inline void store_scalar(S* dst, Sum<S> x) {
  if constexpr (is_half<S>) {
    narrow_row(dst, &x, 1);
  } else {
    *dst = x;
  }
}

// The first n <= kLanes elements in their computation type; whole vectors need no masks.
template <class S>
MX_INLINE Vec<Sum<S>> load_lanes(const S* src, int n) {
  return n == kLanes<Sum<S>> ? load_as<Sum<S>>(src) : load_first_as<Sum<S>>(src, n);
}
template <class S>
MX_INLINE void store_lanes(S* dst, Vec<Sum<S>> x, int n) {
  n == kLanes<Sum<S>> ? store_as(dst, x) : store_first_as(dst, x, n);
}

// Call body(offset, number of lanes) for the vectors of a run, the last of which may be partial.
template <class T, class Body>
MX_INLINE void each_vector(int64_t n, Body body) {
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L) body(i, L);
  if (i < n) body(i, (int)(n - i));
}

// n elements to read: in place, or their converted copy.
template <class S>
inline const Sum<S>* open_block(const S* block, Sum<S>* copy, int64_t n) {
  if constexpr (is_half<S>) {
    widen_row(copy, block, n);
    return copy;
  } else {
    return block;
  }
}

// n elements to compute, initialised to `value` (or, if results are added, to the previous contents
// plus `value`): in place, or in `copy`, which close_block then writes or adds.
template <class S>
inline Sum<S>* start_block(S* block, Sum<S>* copy, int64_t n, bool add, Sum<S> value) {
  Sum<S>* sums;
  if constexpr (is_half<S>) {
    sums = copy;
    add = false;
  } else {
    sums = block;
  }
  for (int64_t i = 0; i < n; ++i) sums[i] = add ? sums[i] + value : value;
  return sums;
}
template <class S>
inline void close_block(S* block, const Sum<S>* sums, int64_t n, bool add) {
  if constexpr (is_half<S>) {
    if (!add) return narrow_row(block, sums, n);
    for (int64_t i = 0; i < n; ++i) store_scalar(block + i, sums[i] + scalar_as<float>(block[i]));
  }
}

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// A window sliding over a row: the positions (of `target`) whose column `offset + position *
// stride` lies in the source.
struct Span {
  int64_t low, high;
  Span(int64_t offset, int64_t stride, int64_t source, int64_t target) {
    low = offset >= 0 ? 0 : stride == 1 ? -offset : (stride - 1 - offset) / stride;
    const int64_t remaining = source - offset;
    high =
        remaining <= 0 ? 0 : least(target, stride == 1 ? remaining : ceil_div(remaining, stride));
    if (low >= high) low = high = least(low, target);
  }
};

MX_LEAF_END
