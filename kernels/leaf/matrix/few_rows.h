// Products of up to kFewRows rows with a matrix whose rows are contiguous along k, as in dense
// layers of small batches: one pass over the matrix, in the order of memory, without packing it.
//
// A register holds the partial sums of one element of C, so those of a vector's width of rows of B
// are added up at the end.
#pragma once
#include "leaf/matrix/gemm.h"

MX_LEAF_BEGIN

constexpr int kFewRows = 8;
// Elements of A at a time: 24 KB in the first cache.
template <class T>
constexpr int64_t kFewBlock = 24 * 1024 / (int64_t)sizeof(T);

// Rows of A in whole aligned vectors, those of all M rows side by side, with zeros after the last.
template <class T, int M>
void pack_few(T* to, const T* a, int64_t lda, int64_t depth) {
  constexpr int L = kLanes<T>;
  for (int64_t p = 0; p < depth; p += L) {
    for (int m = 0; m < M; ++m, to += L) {
      store(to, load_first(a + m * lda + p, (int)least(L, depth - p)));
    }
  }
}

// C (M x n) = alpha * A B^T + beta * C for the rows of B from `begin` to `end`.
template <class T, int M>
void few_rows(int64_t begin, int64_t end, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
              int64_t ldb, T beta, T* c, int64_t ldc) {
  constexpr int L = kLanes<T>, kSums = M == 1 ? 8 : M == 2 ? 2 : 1;  // to overlap multiply-adds
  // Rows of B at a time, so that a load of A serves two multiply-adds.
  constexpr int kTogether = M == 1 || MX_ISA_LEVEL < 4 ? 1 : 2;
  // Vectors to prefetch ahead, into the second cache: the first one is needed for A. A single row
  // of A reads B from beginning to end, which the CPU itself prefetches best.
  constexpr int64_t kAhead = M == 1 ? 0 : 128;
  const int64_t block = M == 1 ? k : balanced(k, kFewBlock<T> / M / L * L, L);
  const int64_t ahead = k ? ceil_div(kAhead * L, kTogether * least(block, k)) * kTogether * ldb : 0;
  alignas(64) T packed[M == 1 ? 1 : kFewBlock<T>];
  int64_t packed_from = -1;
  for (int64_t j = begin; j < end; j += L) {
    const int rows = (int)least(L, end - j);
    Vec<T> sums[M][L] = {};
    for (int64_t p0 = 0; p0 < k; p0 += block) {
      const int64_t depth = least(block, k - p0);
      if (M > 1 && p0 != packed_from) {
        pack_few<T, M>(packed, a + p0, lda, depth);
        packed_from = p0;
      }
      for (int r = 0; r < rows; r += kTogether) {
        const T *left = M == 1 ? a + p0 : packed, *right[kTogether];
        for (int t = 0; t < kTogether; ++t) {
          right[t] = b + (j + least(r + t, rows - 1)) * ldb + p0;
        }
        Vec<T> acc[M][kTogether][kSums] = {};
        const auto step = [&](int64_t p, int s, const auto& read) MX_ALWAYS {
          Vec<T> v[kTogether];
#pragma GCC unroll 2
          for (int t = 0; t < kTogether; ++t) v[t] = read(right[t] + p);
#pragma GCC unroll 8
          for (int m = 0; m < M; ++m) {
            Vec<T> x = M == 1 ? read(left + p) : load(left + p * M + m * L);
            if constexpr (kTogether > 1) __asm__("" : "+v"(x));  // or each multiply-add loads it
#pragma GCC unroll 2
            for (int t = 0; t < kTogether; ++t) acc[m][t][s] = fma(x, v[t], acc[m][t][s]);
          }
        };
        int64_t p = 0;
        for (; p + kSums * L <= depth; p += kSums * L) {
#pragma GCC unroll 8
          for (int s = 0; s < kSums; ++s) {
            for (int t = 0; kAhead && t < kTogether; ++t) {
              __builtin_prefetch(right[t] + p + s * L + ahead, 0, 2);
            }
            step(p + s * L, s, [](const T* from) MX_ALWAYS { return load(from); });
          }
        }
        for (; p < depth; p += L) {
          const int some = (int)least(L, depth - p);
          step(p, 0, [some](const T* from) MX_ALWAYS { return load_first(from, some); });
        }
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
          for (int t = 0; t < kTogether; ++t) {
#pragma GCC unroll 8
            for (int s = 1; s < kSums; ++s) acc[m][t][0] += acc[m][t][s];
            sums[m][r + t] += acc[m][t][0];
          }
        }
      }
    }
    for (int m = 0; m < M; ++m) {
      T* to = c + m * ldc + j;
      Vec<T> total = splat<Vec<T>>(alpha) * add_lanes<T>(sums[m]);
      if (beta != 0) total += splat<Vec<T>>(beta) * load_first(to, rows);
      store_first(to, total, rows);
    }
  }
}

// The same for m rows of A, up to kFewRows.
template <class T>
void few_rows(int64_t m, int64_t begin, int64_t end, int64_t k, T alpha, const T* a, int64_t lda,
              const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  typedef void (*Run)(int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, T, T*,
                      int64_t);
  constexpr Run runs[kFewRows] = {few_rows<T, 1>, few_rows<T, 2>, few_rows<T, 3>, few_rows<T, 4>,
                                  few_rows<T, 5>, few_rows<T, 6>, few_rows<T, 7>, few_rows<T, 8>};
  runs[m - 1](begin, end, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

MX_LEAF_END
