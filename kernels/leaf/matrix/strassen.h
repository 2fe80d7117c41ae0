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

// A sum of parts of a matrix that is divided into classes of rows and of columns.
struct PartSum {
  int count;
  struct {
    int row, col;
    float sign;
  } parts[1 << kMostLevels];
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

// The parts of `side` in one of the products.
inline PartSum strassen_sum(Side side, int levels, int product) {
  PartSum sum = {1, {{0, 0, 1}}};
  for (int level = 0; level < levels; ++level) {
    const signed char* signs = kSigns[side][level + 1 < levels ? product / 7 : product % 7];
    PartSum finer = {};
    for (int i = 0; i < sum.count; ++i) {
      for (int half = 0; half < 4; ++half) {
        if (!signs[half]) continue;
        finer.parts[finer.count++] = {2 * sum.parts[i].row + half / 2,
                                      2 * sum.parts[i].col + half % 2,
                                      sum.parts[i].sign * signs[half]};
      }
    }
    sum = finer;
  }
  return sum;
}

// to = the sum of `count` arrays of n elements, times their signs; n is a multiple of a vector's
// elements, or `to` and the arrays may be used up to the next one.
template <int count>
void add_signed(float* to, int64_t n, const float* const* from, const float* signs) {
  constexpr int L = kLanes<float>;
  const float* source[count];
  Vec<float> sign[count];
#pragma GCC unroll 4
  for (int i = 0; i < count; ++i) source[i] = from[i], sign[i] = splat<Vec<float>>(signs[i]);
  for (int64_t j = 0; j < n; j += L) {
    Vec<float> sum = sign[0] * load(source[0] + j);
#pragma GCC unroll 4
    for (int i = 1; i < count; ++i) sum = fma(sign[i], load(source[i] + j), sum);
    store(to + j, sum);
  }
}
inline void add_signed(float* to, int64_t n, int count, const float* const* from,
                       const float* signs) {
  switch (count) {
    case 1:
      return add_signed<1>(to, n, from, signs);
    case 2:
      return add_signed<2>(to, n, from, signs);
    default:
      return add_signed<4>(to, n, from, signs);
  }
}

MX_LEAF_END
