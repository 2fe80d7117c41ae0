// A row of a csr array times a dense matrix: a weighted sum of matrix rows, vectorised over
// columns.
#pragma once
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN

// Values of type S, or implicit ones; a matrix of type X with `width` columns. Sums are in the
// accumulation type of S.
template <class S, class X, bool weighted = true>
struct RowProduct {
  typedef Sum<S> T;
  // kBlock: vectors at once; kAhead: entries prefetched ahead.
  static constexpr int L = kLanes<T>, kBlock = 8, kAhead = 6;
  const S* values;
  const int64_t* indices;
  const X* matrix;
  int64_t width, stored;

  // dst = the sum over entries [begin, end), whose indices are rows of the matrix.
  template <class O>
  void operator()(O* dst, int64_t begin, int64_t end) const {
    if (width == 1) return store_scalar(dst, dot(begin, end));
    int64_t at = 0;
    for (; at + kBlock * L <= width; at += kBlock * L) block<kBlock>(dst + at, at, begin, end);
    switch ((width - at) / L) {
#define MX_BLOCK(n)                     \
  case n:                               \
    block<n>(dst + at, at, begin, end); \
    at += n * L;                        \
    break;
      MX_BLOCK(1) MX_BLOCK(2) MX_BLOCK(3) MX_BLOCK(4) MX_BLOCK(5) MX_BLOCK(6) MX_BLOCK(7)
#undef MX_BLOCK
    }
    if (at < width) last(dst + at, at, (int)(width - at), begin, end);
  }

 private:
  MX_INLINE T value(int64_t k) const {
    if constexpr (weighted) return scalar_as<T>(values[k]);
    return 1;
  }
  MX_INLINE Vec<T> step(int64_t k, Vec<T> row, Vec<T> sum) const {
    if constexpr (weighted) return fma(splat<Vec<T>>(value(k)), row, sum);
    return sum + row;
  }

  // Prefetch rows needed soon. Nothing is read, so the indices need no check.
  template <int n>
  MX_INLINE void fetch(int64_t entry, int64_t at) const {
    if (entry >= stored) return;
    const uintptr_t row = (uintptr_t)matrix + ((uint64_t)indices[entry] * width + at) * sizeof(X);
    for (size_t byte = 0; byte < n * L * sizeof(X); byte += 64)
      __builtin_prefetch((const char*)(row + byte));
  }

  template <int n, class O>
  MX_INLINE void block(O* dst, int64_t at, int64_t begin, int64_t end) const {
    Vec<T> sum[n] = {};
    const X* column = matrix + at;
    for (int64_t k = begin; k < end; ++k) {
      fetch<n>(k + kAhead, at);
      const X* row = column + indices[k] * width;
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) sum[i] = step(k, load_as<T>(row + i * L), sum[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) store_as(dst + i * L, sum[i]);
  }

  template <class O>
  void last(O* dst, int64_t at, int rest, int64_t begin, int64_t end) const {
    Vec<T> sum = {};
    for (int64_t k = begin; k < end; ++k) {
      sum = step(k, load_first_as<T>(matrix + at + indices[k] * width, rest), sum);
    }
    store_first_as(dst, sum, rest);
  }

  T dot(int64_t begin, int64_t end) const {
    T sum[4] = {};
    int64_t k = begin;
    for (; k + 4 <= end; k += 4)
      for (int i = 0; i < 4; ++i) sum[i] += value(k + i) * scalar_as<T>(matrix[indices[k + i]]);
    for (; k < end; ++k) sum[0] += value(k) * scalar_as<T>(matrix[indices[k]]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

MX_LEAF_END
