// The entries of a csr array by column and, within a column, by row.
//
// Each thread places the entries of its own range of columns, in row order: no two threads write
// the same memory, and the result does not depend on their number.
#pragma once
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN

// Run body(row, entry, column) over the entries whose columns lie in [low, high).
template <class Body>
MX_INLINE void for_entries(const Csr& csr, int64_t low, int64_t high, const Body& body) {
  for (int64_t row = 0; row < csr.rows; ++row) {
    for (int64_t k = csr.indptr[row], end = csr.indptr[row + 1]; k < end; ++k) {
      const int64_t column = csr.indices[k];
      if (column >= low && column < high) body(row, k, column);
    }
  }
}

// Prefix sums: turn the number of entries of each previous column in starts[1..columns] into the
// starts of columns.
inline void accumulate(int64_t* starts, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) starts[c + 1] += starts[c];
}

// starts: columns + 1 elements; afterwards the start of each column.
template <class S>
void by_column(int threads, const Csr& csr, const S* values, int64_t columns, int64_t* starts,
               S* out, int64_t* rows) {
  // Counted one further, so that a column's insertion position ends where the next column begins.
  parallel_for(threads, columns, 1, [&](int64_t low, int64_t high) {
    memset(starts + 1 + low, 0, (size_t)(high - low) * sizeof *starts);
    for_entries(csr, low, high, [&](int64_t, int64_t, int64_t column) { ++starts[column + 1]; });
  });
  starts[0] = 0;
  accumulate(starts, columns);
  parallel_for(threads, columns, 1, [&](int64_t low, int64_t high) {
    for_entries(csr, low, high, [&](int64_t row, int64_t k, int64_t column) {
      const int64_t place = starts[column]++;
      out[place] = values[k];
      rows[place] = row;
    });
  });
  memmove(starts + 1, starts, (size_t)columns * sizeof *starts);
  starts[0] = 0;
}

MX_LEAF_END
