// The components of sparse arrays: indices come from users, so code that uses one as an address
// checks it first.
#pragma once
#include "core/parallel_try.h"
#include "leaf/simd/plane.h"

// Dtypes by size, for kernels that only move elements.
#define MX_BYTE_TYPES (MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL))
#define MX_HALF_TYPES (MX_BIT(F16) | MX_BIT(BF16) | MX_BIT(I16) | MX_BIT(U16))
#define MX_WORD_TYPES (MX_BIT(F32) | MX_BIT(I32) | MX_BIT(U32))
#define MX_LONG_TYPES (MX_BIT(F64) | MX_BIT(I64) | MX_BIT(U64))

MX_LEAF_BEGIN

// Whether all n indices lie in [0, extent).
inline bool within(const int64_t* indices, int64_t n, int64_t extent) {
  bool inside = true;
  for (int64_t i = 0; i < n; ++i) inside &= (uint64_t)indices[i] < (uint64_t)extent;
  return inside;
}

// Whether n indices are sorted and distinct.
inline bool ascending(const int64_t* indices, int64_t n) {
  bool sorted = true;
  for (int64_t i = 1; i < n; ++i) sorted &= indices[i - 1] < indices[i];
  return sorted;
}

// Number of the n sorted ids that are less than `id`.
inline int64_t first_from(const int64_t* ids, int64_t n, int64_t id) {
  int64_t low = 0;
  while (low < n) {
    const int64_t middle = (low + n) / 2;
    if (ids[middle] < id)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

// Elements of a row of a tensor.
inline int64_t row_size(const mx_tensor& t) {
  int64_t n = 1;
  for (int i = 1; i < t.ndim; ++i) n *= t.shape[i];
  return n;
}

// The structure of a csr array: row r has entries indptr[r] to indptr[r + 1].
struct Csr {
  const int64_t *indices, *indptr;
  int64_t rows, stored;
  Csr(const mx_tensor& index, const mx_tensor& starts)
      : indices(data<int64_t>(index)),
        indptr(data<int64_t>(starts)),
        rows(count(starts) - 1),
        stored(count(index)) {}
  Csr(const int64_t* indices, const int64_t* indptr, int64_t rows, int64_t stored)
      : indices(indices), indptr(indptr), rows(rows), stored(stored) {}

  // Check that all rows lie within the entries; sets an error text if not.
  bool rows_fit() const {
    bool fit = indptr[0] >= 0 && indptr[rows] <= stored;
    for (int64_t r = 0; r < rows; ++r) fit &= indptr[r] <= indptr[r + 1];
    if (!fit) mx_fail("indptr: must increase from 0 to at most %lld", (long long)stored);
    return fit;
  }
  // Check that all entries lie in that many columns; sets an error text if not.
  bool columns_fit(int64_t columns) const {
    const bool fit = within(indices + indptr[0], indptr[rows] - indptr[0], columns);
    if (!fit) columns_fail(columns);
    return fit;
  }
  static int columns_fail(int64_t columns) {
    return mx_fail("indices: out of bounds for %lld columns", (long long)columns);
  }
};

// Run body(first, last) over ranges of rows with about equal numbers of entries.
template <class Body>
inline void for_rows(int threads, const Csr& csr, const Body& body) {
  if (threads <= 1) {
    if (csr.rows) body((int64_t)0, csr.rows);
    return;
  }
  const int64_t first = csr.indptr[0];
  const auto row_at = [&](int64_t steps) {  // one step per row and per earlier entry
    int64_t low = 0, high = csr.rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (csr.indptr[middle] - first + middle < steps)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  parallel_for(threads, csr.indptr[csr.rows] - first + csr.rows, 1,
               [&](int64_t begin, int64_t end) {
                 const int64_t low = row_at(begin), high = row_at(end);
                 if (low < high) body(low, high);
               });
}

// for_rows with a body that may fail, as that of parallel_try.
template <class Body>
inline int try_rows(int threads, const Csr& csr, const Body& body) {
  TeamFailure failure;
  for_rows(threads, csr, [&](int64_t first, int64_t last) {
    if (!body(first, last)) failure.keep();
  });
  return failure.status();
}

MX_LEAF_END
