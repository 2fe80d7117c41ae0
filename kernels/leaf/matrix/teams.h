// Distribution of matrices and of the parts of a product over a team.
#pragma once
#include "core/parallel_try.h"
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

// `batch` matrices: by matrices, or within each.
struct Teams {
  int outer, inner;
  Teams(int threads, int64_t batch)
      : outer(batch >= threads ? threads : 1), inner(batch >= threads ? 1 : threads) {}
};

// Numbers of parts a team splits the rows (out[0]) and columns (out[1]) of C into, minimising
// repeated packing.
template <class T>
inline void split_team(int threads, int64_t m, int64_t n, int out[2]) {
  double best = -1;
  out[0] = out[1] = 1;
  for (int r = 1; r <= threads; ++r) {
    const int c = threads / r;
    if (r * c != threads) continue;
    const double rows = (double)round_up(ceil_div(m, r), 1),
                 cols = (double)round_up(ceil_div(n, c), kLanes<T>);
    // Multiply-adds of the busiest thread, plus its packing at about ten each.
    const double cost = rows * cols + 10 * (rows + cols);
    if (best < 0 || cost < best) {
      best = cost;
      out[0] = r;
      out[1] = c;
    }
  }
}

// Call part(first row, end, first column, end) for the parts that a team splits C into, at
// multiples of the units; false if a call returned false.
template <class T, class F>
bool for_parts(int threads, int64_t m, int64_t row_unit, int64_t n, int64_t column_unit,
               const F& part) {
  int team[2];
  split_team<T>(threads, m, n, team);
  const int64_t rows = round_up(ceil_div(m, team[0]), row_unit);
  const int64_t cols = round_up(ceil_div(n, team[1]), column_unit);
  const int status = parallel_try(threads, team[0] * team[1], 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / team[1] * rows, j = t % team[1] * cols;
      if (i >= m || j >= n) continue;
      if (!part(i, least(i + rows, m), j, least(j + cols, n))) return false;
    }
    return true;
  });
  return status == 0;
}

MX_LEAF_END
