// Blocked matrix multiplication: C = alpha * A B + beta * C, for this ISA level.
//
// B is packed into panels of one or two vectors' width, A into panels of a few rows, and a tile of
// C stays in registers while one A panel is multiplied by one B panel:
//
//        B panel (kDepth x width, L1)
//   A  [ ============================ ]
//   p  | tile of C: rows x width      |    A block (kRows x kDepth) lives in L2
//
// Operands pack themselves, so convolution packs directly from the image. The order of summation
// depends only on k, not on the number of threads.
#pragma once
#include "core/memory/scratch.h"
#include "leaf/matrix/panels.h"
#include "leaf/matrix/teams.h"

MX_LEAF_BEGIN

constexpr int kTileRows =
    MX_ISA_LEVEL >= 4 ? 14 : 6;            // limited by the registers, with two vectors per row
constexpr int64_t kDepth = 512;            // k of a block
constexpr int64_t kRows = 12 * kTileRows;  // rows of an A block
constexpr int64_t kCols = 1024;            // columns of a B block
constexpr int64_t kUnpackedRows =
    64;  // up to here B is read where it lies, a small one up to twice that
constexpr int64_t kUnpackedSize = 16384;  // up to here A is, when it meets few panels of B

// --- one tile --------------------------------------------------------------------------------

template <class T>
struct Scale {
  T alpha, beta;
  const T* rows;     // a summand for each row, or NULL
  const T* columns;  // a summand for each column, or NULL
};

// c (rows x cols) = alpha * sums + rows + columns + beta * c: for the rare products with factors.
template <class T>
void finish_scaled(const T* sums, int64_t width, const Scale<T>& scale, T* c, int64_t ldc, int rows,
                   int cols) {
  for (int r = 0; r < rows; ++r, sums += width, c += ldc) {
    const T row = scale.rows ? scale.rows[r] : 0;
    for (int j = 0; j < cols; ++j) {
      const T sum = scale.alpha * sums[j] + (scale.columns ? row + scale.columns[j] : row);
      c[j] = scale.beta == 0 ? sum : sum + scale.beta * c[j];
    }
  }
}

// Steps of k without a test in between: with AVX2, instructions are what limits a tile.
constexpr int kSteps = MX_ISA_LEVEL >= 4 ? 1 : 4;

// Bring what a tile of R rows and W vectors reads kAhead steps of k later into the first cache: a
// panel of B and one of A do not fit it together. With AVX2 this costs more than it gains.
template <int R, int W, class T>
inline MX_ALWAYS void prefetch_step(const T* a, const T* b, int64_t b_step) {
  constexpr int kAhead = 8, kLine = 64 / sizeof(T);
  if (MX_ISA_LEVEL < 4) return;
  if (R < 4) return;  // such a tile waits for its sums, not for its operands
  for (int at = 0; at < R && a; at += kLine) __builtin_prefetch(a + kAhead * R + at);
  for (int at = 0; at < W * kLanes<T>; at += kLine) __builtin_prefetch(b + kAhead * b_step + at);
}

// C tile (R rows, `cols` of W vectors) = alpha * A panel * B panel + rows + columns + beta * C. The
// A panel is packed, or consists of R rows `a_step` apart.
template <class T, int R, int W, bool packed>
void tile(int64_t depth, const T* a, int64_t a_step, const T* b, int64_t b_step,
          const Scale<T>* scale, T* c, int64_t ldc, int cols) {
  constexpr int L = kLanes<T>;
  const int last = cols - (W - 1) * L;  // columns in the last vector
  const bool scaled = scale->alpha != 1 || (scale->beta != 0 && scale->beta != 1);
  const bool adds = !scaled && scale->beta != 0;
  const T* columns = scaled ? nullptr : scale->columns;
  const T* rows = scaled ? nullptr : scale->rows;
  Vec<T> acc[R][W];
  // Prefetch what is read and written at the end.
  for (int r = 0; r < R; ++r) {
    __builtin_prefetch(c + r * ldc, 1);
    if (W > 1) __builtin_prefetch(c + r * ldc + L, 1);
    __builtin_prefetch(c + r * ldc + cols - 1, 1);
  }
  {
    Vec<T> column[W] = {};
    if (columns) {
      if (W > 1) column[0] = load(columns);
      column[W - 1] = load_first(columns + (W - 1) * L, last);
    }
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) acc[r][w] = column[w];
    }
  }
  if (rows) {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) acc[r][w] += splat<Vec<T>>(rows[r]);
    }
  }
  const T* triple[(R + 2) / 3];  // rows 0, 3, 6, ...: few enough pointers for the registers
  triple[0] = a;
  for (int i = 1; i < (R + 2) / 3; ++i) triple[i] = triple[i - 1] + 3 * a_step;
  const auto multiply = [&](int64_t p, int64_t stride) MX_ALWAYS {
    prefetch_step<R, W>(packed ? a : nullptr, b, stride);
    Vec<T> right[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) right[w] = load(b + w * L);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const Vec<T> left = splat<Vec<T>>(packed ? a[r] : triple[r / 3][r % 3 * a_step + p]);
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) acc[r][w] = fma(left, right[w], acc[r][w]);
    }
    a += R, b += stride;
  };
  int64_t p = 0;
  if (packed && kSteps > 1 && b_step == W * L) {
#pragma GCC unroll kSteps
    for (; p < depth; ++p) multiply(p, W * L);
  }
  for (; p < depth; ++p) multiply(p, b_step);
  if (adds) {
    const T* from = c;
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, from += ldc) {
      if (W > 1) acc[r][0] += load(from);
      acc[r][W - 1] += load_first(from + (W - 1) * L, last);
    }
  }
  T sums[R * W * L];
  T* to = scaled ? sums : c;
  const int64_t step = scaled ? W * L : ldc;
  if (last == L || scaled) {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, to += step) {
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) store(to + w * L, acc[r][w]);
    }
  } else {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, to += step) {
      if (W > 1) store(to, acc[r][0]);
      store_first(to + (W - 1) * L, acc[r][W - 1], last);
    }
  }
  if (scaled) finish_scaled(sums, W * L, *scale, c, ldc, R, cols);
}

template <class T>
using Tile = void (*)(int64_t, const T*, int64_t, const T*, int64_t, const Scale<T>*, T*, int64_t,
                      int);

// Function table: R rows and W vectors are at [packed][R - 1][W - 1].
template <class T>
using TileTable = Tile<T>[2][kTileRows][2];
const TileTable<float>& tile_table(float);
const TileTable<double>& tile_table(double);

// --- the loops around the tiles ----------------------------------------------------------------

// The size of equal blocks that cover n, at most `most` and a multiple of `unit`.
inline int64_t balanced(int64_t n, int64_t most, int64_t unit) {
  if (n <= unit) return unit;
  if (n <= most) return round_up(n, unit);
  const int64_t blocks = ceil_div(n, most);
  return round_up(ceil_div(n, blocks), unit);
}

// Tiles of equal height: 16 rows are 8 + 8, not 14 + 2.
inline int tile_height(int64_t m) { return (int)(m <= kTileRows ? m : balanced(m, kTileRows, 1)); }
inline int64_t depth_of_block(int64_t k) { return k <= kDepth ? k : balanced(k, kDepth, 1); }

// All panels of an A (m x k) that is used in several products, packed in advance.
template <class T>
struct Packed {
  const T* data;
  int64_t m;
  const T* panel(int64_t i, int64_t p0, int64_t depth) const { return data + p0 * m + i * depth; }
  static size_t bytes(int64_t m, int64_t k) { return (size_t)(m * k + kLanes<T>)*sizeof(T); }
};
template <class A>
constexpr bool is_packed = false;
template <class T>
constexpr bool is_packed<Packed<T>> = true;

template <class T, class A>
Packed<T> pack_all(T* dst, const A& a, int64_t m, int64_t k) {
  const int rows = tile_height(m);
  const int64_t block = depth_of_block(k);
  for (int64_t p0 = 0; p0 < k; p0 += block) {
    const int64_t depth = least(block, k - p0);
    pack_block(a, dst + p0 * m, rows, (int)(m % rows), 0, m, p0, depth);
  }
  return {dst, m};
}

// C (m x n, row stride ldc) = alpha * A B + beta * C on the calling thread, plus row_add[i] in row
// i and column_add[j] in column j if given. With beta 0, C is not read. False if scratch memory is
// exhausted.
template <class T, class A, class B>
bool gemm_serial(int64_t m, int64_t n, int64_t k, T alpha, const A& a, const B& b, T beta, T* c,
                 int64_t ldc, const T* row_add = nullptr, const T* column_add = nullptr) {
  constexpr int L = kLanes<T>, kWidth = 2 * L;
  if (m <= 0 || n <= 0) return true;
  if (k <= 0) {
    for (int64_t i = 0; i < m; ++i) {
      const T add = row_add ? row_add[i] : 0;
      for (int64_t j = 0; j < n; ++j) {
        const T sum = column_add ? add + column_add[j] : add;
        c[i * ldc + j] = sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
      }
    }
    return true;
  }
  const int tile_rows = tile_height(m);
  const int64_t block_rows = balanced(m, kRows / kTileRows * tile_rows, tile_rows);
  const int64_t block_depth = depth_of_block(k);
  // Each panel of B is packed once for all rows, which does not pay for few rows.
  const int64_t few = k * n <= kUnpackedSize ? 2 * kUnpackedRows : kUnpackedRows;
  const bool pack_b = m > few || !b.in_place(0, 0);
  const T* a_rows = nullptr;
  int64_t a_step = 0;
  if constexpr (is_matrix<A>) {
    if (m * k <= kUnpackedSize && n <= 4 * kWidth) a_rows = a.row_in_place(0, 0), a_step = a.stride;
  }
  // If repacking A costs nothing, a block of columns is a single panel, in the L1 cache.
  const int64_t most_cols = a_rows ? kWidth : kCols;
  const int64_t block_cols = n <= most_cols ? round_up(n, L) : balanced(n, most_cols, kWidth);
  const int64_t a_size = is_packed<A> || a_rows ? 0 : block_rows * block_depth;
  T* b_panels =
      (T*)scratch(kPackSlot, (size_t)(block_cols * block_depth + a_size + 4 * L) * sizeof(T));
  if (!b_panels) return false;
  T* a_panels = b_panels + round_up(block_cols * block_depth + L, L);
  const TileTable<T>& tiles = tile_table(T());
  for (int64_t j0 = 0; j0 < n; j0 += block_cols) {
    const int64_t cols = least(block_cols, n - j0);
    for (int64_t p0 = 0; p0 < k; p0 += block_depth) {
      const int64_t depth = least(block_depth, k - p0);
      const int64_t in_place = pack_b ? 0 : cols / kWidth * kWidth;
      if (in_place < cols) {
        const int narrow = (cols - in_place) % kWidth;
        pack_block(b, b_panels + in_place * depth, kWidth, narrow <= L ? L : kWidth, j0 + in_place,
                   cols - in_place, p0, depth);
      }
      for (int64_t i0 = 0; i0 < m; i0 += block_rows) {
        const int64_t rows = least(block_rows, m - i0);
        const T* a_block = a_panels;
        if constexpr (is_packed<A>) {
          a_block = a.panel(i0, p0, depth);
        } else if (a_rows) {
          a_block = a_rows + i0 * a_step + p0;
        } else {
          pack_block(a, a_panels, tile_rows, (int)(rows % tile_rows), i0, rows, p0, depth);
        }
        for (int64_t j = 0; j < cols; j += kWidth) {
          const int count = (int)least(kWidth, cols - j);
          const T* panel = b_panels + j * depth;
          int64_t step = count > L ? kWidth : L;
          if (!pack_b && count == kWidth) {
            panel = b.in_place(j0 + j, p0);
            step = b.in_place(0, 1) - b.in_place(0, 0);
          }
          for (int64_t i = 0; i < rows; i += tile_rows) {
            const Scale<T> scale = {alpha, p0 ? (T)1 : beta,
                                    row_add && !p0 ? row_add + i0 + i : nullptr,
                                    column_add && !p0 ? column_add + j0 + j : nullptr};
            tiles[!a_rows][least(tile_rows, rows - i) - 1][count > L](
                depth, a_block + i * (a_rows ? a_step : depth), a_step, panel, step, &scale,
                c + (i0 + i) * ldc + j0 + j, ldc, count);
          }
        }
      }
    }
  }
  return true;
}

// gemm_serial split over a team; B operands need from(j) and A operands from(i).
template <class T, class A, class B>
bool gemm(int threads, int64_t m, int64_t n, int64_t k, T alpha, const A& a, const B& b, T beta,
          T* c, int64_t ldc, const T* column_add = nullptr) {
  const T* none = nullptr;
  if (threads <= 1) return gemm_serial(m, n, k, alpha, a, b, beta, c, ldc, none, column_add);
  return for_parts<T>(threads, m, 1, n, kLanes<T>,
                      [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
                        return gemm_serial(rows_end - i, columns_end - j, k, alpha, a.from(i),
                                           b.from(j), beta, c + i * ldc + j, ldc, none,
                                           column_add ? column_add + j : none);
                      });
}

// Row-major C = alpha * op(A) op(B) + beta * C over arrays in memory. 0, or -1 with an error text.
struct GemmShape {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
};
template <class T>
int gemm_arrays(int threads, const GemmShape& shape, T alpha, const T* a, const T* b, T beta, T* c);

// Whether there is AMX, and a product is large enough to profit.
bool suits_tiles(const GemmShape& shape);

// The same with AMX, plus `row` in each row if given; false if memory is exhausted.
bool multiply_in_parts(int threads, const GemmShape& shape, float alpha, const float* a,
                       const float* b, float beta, float* c, const float* row);

// Whether a product of A (m x k) and rows of B that are contiguous along k reads B only once,
// without packing it.
bool has_few_rows(int64_t m, int64_t k);

// For such products, on the calling thread: C (m x n, row stride ldc) += A B^T for the rows of B,
// and columns of C, from `begin` to `end`.
template <class T>
void add_few_rows(int64_t m, int64_t begin, int64_t end, int64_t k, const T* a, const T* b, T* c,
                  int64_t ldc);

MX_LEAF_END
