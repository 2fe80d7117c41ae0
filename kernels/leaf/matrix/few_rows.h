// Products of up to kFewRows rows with a matrix whose rows are contiguous along k, as in dense
// layers of small batches: one pass over the matrix, in the order of memory, without packing it.
//
// A register holds the partial sums of one element of C, so those of a vector's width of rows of B
// are transposed and added up at the end.
#pragma once
#include "leaf/simd/transpose.h"

MX_LEAF_BEGIN

constexpr int kFewRows = 8;

// C (M x n) = alpha * A B^T + beta * C for the rows of B from `begin` to `end`.
template <class T, int M>
void few_rows(int64_t begin, int64_t end, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
              int64_t ldb, T beta, T* c, int64_t ldc) {
  constexpr int L = kLanes<T>, kSums = M == 1 ? 4 : M == 2 ? 2 : 1;  // to overlap multiply-adds
  constexpr int kAhead =
      32;  // vectors; more multiply-adds leave the processor less time to run ahead
  const int64_t block = M == 1 ? k : 8192 / M;  // of k: its rows of A stay in the L1 cache
  for (int64_t j = begin; j < end; j += L) {
    const int rows = (int)least(L, end - j);
    Vec<T> sums[M][L] = {};
    for (int64_t p0 = 0; p0 < k; p0 += block) {
      const int64_t depth = least(block, k - p0);
      for (int r = 0; r < rows; ++r) {
        const T *right = b + (j + r) * ldb + p0, *left = a + p0;
        Vec<T> acc[M][kSums] = {};
        int64_t p = 0;
        for (; p + kSums * L <= depth; p += kSums * L) {
#pragma GCC unroll 4
          for (int s = 0; s < kSums; ++s) {
            const Vec<T> v = load(right + p + s * L);
            if (M > 1) __builtin_prefetch(right + p + (s + kAhead) * L);
#pragma GCC unroll 8
            for (int m = 0; m < M; ++m) {
              acc[m][s] = fma(load(left + m * lda + p + s * L), v, acc[m][s]);
            }
          }
        }
        for (; p < depth; p += L) {
          const int some = (int)least(L, depth - p);
          const Vec<T> v = load_first(right + p, some);
#pragma GCC unroll 8
          for (int m = 0; m < M; ++m) {
            acc[m][0] = fma(load_first(left + m * lda + p, some), v, acc[m][0]);
          }
        }
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
          for (int s = 1; s < kSums; ++s) acc[m][0] += acc[m][s];
          sums[m][r] += acc[m][0];
        }
      }
    }
    for (int m = 0; m < M; ++m) {
      transpose_registers<T>(sums[m]);
      for (int half = L / 2; half; half /= 2) {
        for (int e = 0; e < half; ++e) sums[m][e] += sums[m][e + half];
      }
      T* to = c + m * ldc + j;
      Vec<T> total = splat<Vec<T>>(alpha) * sums[m][0];
      if (beta != 0) total += splat<Vec<T>>(beta) * load_first(to, rows);
      store_first(to, total, rows);
    }
  }
}

// The same for all n rows of B on a team, for m rows of A, up to kFewRows.
template <class T>
void few_rows(int threads, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
              const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  typedef void (*Run)(int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, T, T*,
                      int64_t);
  constexpr Run runs[kFewRows] = {few_rows<T, 1>, few_rows<T, 2>, few_rows<T, 3>, few_rows<T, 4>,
                                  few_rows<T, 5>, few_rows<T, 6>, few_rows<T, 7>, few_rows<T, 8>};
  parallel_for(threads, n, kLanes<T>, [&](int64_t begin, int64_t end) {
    runs[m - 1](begin, end, k, alpha, a, lda, b, ldb, beta, c, ldc);
  });
}

MX_LEAF_END
