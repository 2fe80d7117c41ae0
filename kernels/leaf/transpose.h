// transpose.h: a matrix transposed in squares that stay in registers.
#pragma once
#include "vec.h"

MX_LEAF_BEGIN

// Squares of 4- and 8-byte elements are kLanes vectors; smaller elements go one by one.
template <class T>
constexpr int64_t kSquare = sizeof(T) >= 4 ? kLanes<T> : 16;

template <class V>
MX_INLINE void interleave(V a, V b, V* low, V* high) {
  constexpr int L = sizeof(V) / sizeof(Element<V>);
  Mask<V> from_low, from_high;
  for (int i = 0; i < L; ++i) {
    from_low[i] = i / 2 + (i % 2) * L;
    from_high[i] = i / 2 + (i % 2) * L + L / 2;
  }
  *low = __builtin_shuffle(a, b, from_low);
  *high = __builtin_shuffle(a, b, from_high);
}

template <class T>
MX_INLINE void transpose_square(T* dst, int64_t dst_step, const T* src, int64_t src_step) {
  constexpr int n = kSquare<T>;
  if constexpr (sizeof(T) < 4) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) dst[i * dst_step + j] = src[j * src_step + i];
  } else {
    // Interleaving the upper with the lower half log2(n) times transposes.
    Vec<T> a[n], b[n];
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) a[i] = load(src + i * src_step);
#pragma GCC unroll 4
    for (int stage = 1; stage < n; stage *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < n / 2; ++i) interleave(a[i], a[i + n / 2], &b[2 * i], &b[2 * i + 1]);
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) a[i] = b[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) store(dst + i * dst_step, a[i]);
  }
}

// dst[i * dst_step + j] = src[j * src_step + i] for i < rows, j < columns.
template <class T>
inline void transpose(T* dst, int64_t dst_step, const T* src, int64_t src_step, int64_t rows,
                      int64_t columns) {
  constexpr int64_t n = kSquare<T>;
  const int64_t whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (int64_t j = 0; j < whole_columns; j += n)
    for (int64_t i = 0; i < whole_rows; i += n)
      transpose_square(dst + i * dst_step + j, dst_step, src + j * src_step + i, src_step);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      dst[i * dst_step + j] = src[j * src_step + i];
}

MX_LEAF_END
