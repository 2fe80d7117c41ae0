// A transposed csr array times a dense matrix: every entry adds a multiple of a matrix row to a row
// of the sums.
//
// Sums are computed block by block, so that their rows stay in the cache, and each thread has its
// own blocks, so that sums are in row order whatever the number of threads. Since columns are
// sorted, a cursor in each row marks the next entries. If they are not sorted, a thread has a
// single block.
#pragma once
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN

constexpr int64_t kNearSums = 512 << 10;  // bytes of a block

// Values of type S, a matrix of type X with `width` columns; sums in the accumulation type of S.
template <class S, class X>
struct Scatter {
  typedef Sum<S> T;
  const Csr& csr;
  const S* values;
  const X* matrix;
  int64_t width;

  // The columns [low, high), whose sums are at `sums`; cursors start at the entries of column
  // `low`.
  void block(T* sums, int64_t low, int64_t high, int64_t* cursors) const {
    for (int64_t row = 0; row < csr.rows; ++row) {
      int64_t k = cursors[row];
      for (const int64_t end = csr.indptr[row + 1]; k < end && csr.indices[k] < high; ++k)
        add(sums + (csr.indices[k] - low) * width, k, row);
      cursors[row] = k;
    }
  }
  // The same for unsorted columns.
  void whole(T* sums, int64_t low, int64_t high) const {
    for (int64_t row = 0; row < csr.rows; ++row)
      for (int64_t k = csr.indptr[row]; k < csr.indptr[row + 1]; ++k)
        if (csr.indices[k] >= low && csr.indices[k] < high)
          add(sums + (csr.indices[k] - low) * width, k, row);
  }

 private:
  MX_INLINE void add(T* sum, int64_t entry, int64_t row) const {
    constexpr int L = kLanes<T>;
    const T value = scalar_as<T>(values[entry]);
    const X* from = matrix + row * width;
    if (width == 1) {
      *sum += value * scalar_as<T>(*from);
      return;
    }
    const Vec<T> factor = splat<Vec<T>>(value);
    int64_t i = 0;
    for (; i + L <= width; i += L) store(sum + i, fma(factor, load_as<T>(from + i), load(sum + i)));
    if (i == width) return;
    const int remaining = (int)(width - i);
    store_first(sum + i,
                fma(factor, load_first_as<T>(from + i, remaining), load_first(sum + i, remaining)),
                remaining);
  }
};

inline bool columns_sorted(const Csr& csr) {
  bool sorted = true;
  for (int64_t row = 0; row < csr.rows; ++row)
    for (int64_t k = csr.indptr[row] + 1; k < csr.indptr[row + 1]; ++k)
      sorted &= csr.indices[k - 1] <= csr.indices[k];
  return sorted;
}

// Compute the sums of all columns, at `place` or, if that is NULL, in scratch memory; finish(low,
// high, sums) is called for each block. 0, or -1 with an error text.
template <class S, class X, class Finish>
int scatter_columns(int threads, const Scatter<S, X>& scatter, int64_t columns, Sum<S>* place,
                    const Finish& finish) {
  typedef Sum<S> T;
  const Csr& csr = scatter.csr;
  const int64_t width = scatter.width;
  const bool sorted = columns_sorted(csr);
  // A row should have an entry or two in each block.
  const int64_t blocks = csr.stored / (2 * csr.rows + 1) + 1, fewest = columns / blocks + 1;
  const int64_t near = kNearSums / (width * (int64_t)sizeof(T)) + 1;
  const int64_t each = near > fewest ? near : fewest;
  return parallel_try(threads, columns, 1, [&](int64_t begin, int64_t end) {
    const int64_t step = sorted ? least(each, end - begin) : end - begin;
    const int64_t own = place ? 0 : step * width;  // sums in scratch memory
    const size_t bytes = (size_t)(csr.rows + 1) * sizeof(int64_t) + (size_t)own * sizeof(T);
    int64_t* cursors = (int64_t*)scratch(kTempSlot, bytes);
    if (!cursors) return false;
    for (int64_t row = 0; row < csr.rows; ++row) {
      const int64_t first = csr.indptr[row], n = csr.indptr[row + 1] - first;
      cursors[row] = first + (begin && sorted ? first_from(csr.indices + first, n, begin) : 0);
    }
    for (int64_t low = begin; low < end; low += step) {
      const int64_t high = least(low + step, end);
      T* sums = place ? place + low * width : (T*)(cursors + csr.rows + 1);
      memset(sums, 0, (size_t)((high - low) * width) * sizeof(T));
      if (sorted)
        scatter.block(sums, low, high, cursors);
      else
        scatter.whole(sums, low, high);
      finish(low, high, sums);
    }
    return true;
  });
}

MX_LEAF_END
