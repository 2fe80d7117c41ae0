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

// The parts of `side` in one of the products; part (row, col) is at base + row * row_step + col *
// col_step.
template <class F>
Signed<F> strassen_parts(Side side, int levels, int product, F* base, int64_t row_step,
                         int64_t col_step) {
  Signed<F> sum = {1, 0, {base}};
  for (int level = 0; level < levels; ++level) {
    const signed char* signs = kSigns[side][level + 1 < levels ? product / 7 : product % 7];
    const int finer = levels - 1 - level;  // a half of this level has as many levels below it
    Signed<F> halves = {};
    for (int sign = 1; sign >= -1; sign -= 2) {
      int& count = sign > 0 ? halves.plus : halves.minus;
      for (int i = 0; i < sum.count(); ++i) {
        for (int half = 0; half < 4; ++half) {
          if (signs[half] != (i < sum.plus ? sign : -sign)) continue;
          halves.at[halves.count()] =
              sum.at[i] + (half / 2 * row_step + half % 2 * col_step) * (1 << finer);
          ++count;
        }
      }
    }
    sum = halves;
  }
  return sum;
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

// to = the signed sum of arrays of n elements; up to a vector is written past its end, and read
// past theirs.
template <int plus, int minus>
void add_signed(float* to, int64_t n, const Signed<float>& parts) {
  for (int64_t j = 0; j < n; j += kLanes<float>)
    store(to + j, signed_sum<plus, minus>(parts.at, j));
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
