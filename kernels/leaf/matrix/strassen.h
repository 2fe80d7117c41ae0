// Strassen's algorithm for products with weights packed in panels: each level computes 7 products
// of halves instead of 8.
//
// Halves lie close together, so that nothing depends on how a team divides the work: rows of A are
// taken in turn (row i belongs to class i % 2), panels of B, too, and k is divided at its middle.
// Two levels divide into quarters likewise. Sums of packed blocks are packed blocks.
//
// The error of a level is up to 4 times that of an ordinary product, relative to the norms of whole
// rows and columns instead of single elements (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., section 23.2.2).
#pragma once
#include "leaf/matrix/gemm.h"

MX_LEAF_BEGIN

constexpr int kMostLevels = 2;

// Parts of a matrix that is divided into classes of rows and of columns: those that are added, then
// those that are subtracted, which are none or half of them.
template <class F>
struct Signed {
  int plus, minus;
  F* at[1 << kMostLevels];
  int count() const { return plus + minus; }
  int kind() const { return 2 * plus + minus; }  // tells all combinations apart
};

// The three matrices of a product, and the signs of their halves (1, 1), (1, 2), (2, 1), (2, 2) in
// each of the 7 products.
enum Side { kLeftSide, kRightSide, kResultSide };
constexpr signed char kSigns[3][7][4] = {{{1, 0, 0, 1},
                                          {0, 0, 1, 1},
                                          {1, 0, 0, 0},
                                          {0, 0, 0, 1},
                                          {1, 1, 0, 0},
                                          {-1, 0, 1, 0},
                                          {0, 1, 0, -1}},
                                         {{1, 0, 0, 1},
                                          {1, 0, 0, 0},
                                          {0, 1, 0, -1},
                                          {-1, 0, 1, 0},
                                          {0, 0, 0, 1},
                                          {1, 1, 0, 0},
                                          {0, 0, 1, 1}},
                                         {{1, 0, 0, 1},
                                          {0, 0, 1, -1},
                                          {0, 1, 0, 1},
                                          {1, 0, 1, 0},
                                          {-1, 1, 0, 0},
                                          {0, 0, 0, 1},
                                          {1, 0, 0, 0}}};

constexpr int strassen_products(int levels) { return levels == 1 ? 7 : 49; }

// Parts as their numbers row * classes + column. Of those that are added, the first `fresh` are in
// none of the products before.
struct Terms {
  int fresh = 0, plus = 1, minus = 0;
  int at[1 << kMostLevels] = {};
};

constexpr Terms strassen_terms(Side side, int levels, int product) {
  Terms sum;
  for (int level = 0; level < levels; ++level) {
    const signed char* signs = kSigns[side][level + 1 < levels ? product / 7 : product % 7];
    Terms halves;
    halves.plus = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
      int& count = sign > 0 ? halves.plus : halves.minus;
      for (int i = 0; i < sum.plus + sum.minus; ++i) {
        for (int half = 0; half < 4; ++half) {
          if (signs[half] != (i < sum.plus ? sign : -sign)) continue;
          const int row = 2 * (sum.at[i] >> level) + half / 2;
          const int col = 2 * (sum.at[i] & ((1 << level) - 1)) + half % 2;
          halves.at[halves.plus + halves.minus] = (row << (level + 1)) + col;
          ++count;
        }
      }
    }
    sum = halves;
  }
  return sum;
}

// The terms of all products and sides, those of results with the fresh ones first.
struct Algorithm {
  Terms terms[3][49];
  constexpr Algorithm(int levels) : terms() {
    bool seen[1 << 2 * kMostLevels] = {};
    for (int s = 0; s < strassen_products(levels); ++s) {
      for (int side = 0; side < 3; ++side) terms[side][s] = strassen_terms((Side)side, levels, s);
      Terms& out = terms[kResultSide][s];
      for (int i = 0; i < out.plus; ++i) {
        const int part = out.at[i];
        if (seen[part]) continue;
        seen[part] = true;
        out.at[i] = out.at[out.fresh];
        out.at[out.fresh++] = part;
      }
    }
  }
};
inline constexpr Algorithm kStrassen[kMostLevels] = {Algorithm(1), Algorithm(2)};

// The parts of `side` in one of the products; part (row, col) is at base + row * row_step + col *
// col_step.
template <class F>
Signed<F> strassen_parts(Side side, int levels, int product, F* base, int64_t row_step,
                         int64_t col_step) {
  const Terms& terms = kStrassen[levels - 1].terms[side][product];
  Signed<F> parts = {terms.plus, terms.minus, {}};
  for (int i = 0; i < parts.count(); ++i) {
    const int row = terms.at[i] >> levels, col = terms.at[i] & ((1 << levels) - 1);
    parts.at[i] = base + row * row_step + col * col_step;
  }
  return parts;
}

// The sum of vectors of each part, from `offset` on. Additions leave the units that multiply free.
template <int plus, int minus, class F>
inline MX_ALWAYS Vec<float> signed_sum(F* const* parts, int64_t offset) {
  Vec<float> sum = load(parts[0] + offset);
#pragma GCC unroll 4
  for (int i = 1; i < plus; ++i) sum += load(parts[i] + offset);
#pragma GCC unroll 2
  for (int i = plus; i < plus + minus; ++i) sum -= load(parts[i] + offset);
  return sum;
}

// to = the signed sum of arrays of n elements; up to a vector past their end is read.
template <int plus, int minus>
void add_signed(float* to, int64_t n, const Signed<float>& parts) {
  constexpr int64_t L = kLanes<float>, kAhead = 256;
  int64_t j = 0;
  for (; j + L <= n; j += L) {
    __builtin_prefetch(to + j + kAhead, 1);
    store(to + j, signed_sum<plus, minus>(parts.at, j));
  }
  if (j < n) store_first(to + j, signed_sum<plus, minus>(parts.at, j), (int)(n - j));
}
inline void add_signed(float* to, int64_t n, const Signed<float>& parts) {
  switch (parts.kind()) {
    case 2:
      return add_signed<1, 0>(to, n, parts);
    case 3:
      return add_signed<1, 1>(to, n, parts);
    case 4:
      return add_signed<2, 0>(to, n, parts);
    case 6:
      return add_signed<2, 2>(to, n, parts);
    default:
      return add_signed<4, 0>(to, n, parts);
  }
}

MX_LEAF_END
