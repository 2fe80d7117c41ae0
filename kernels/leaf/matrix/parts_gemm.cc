// Products of whole float32 arrays with AMX (see parts.h).
#include "leaf/matrix/gemm.h"

#if MX_ISA_LEVEL == 4
#include "leaf/matrix/parts_product.h"
#include "leaf/simd/bf16.h"
#include "tiles.h"

MX_LEAF_BEGIN

namespace {

// Writes alpha * sums + row + beta * C.
struct Scaled {
  float alpha, beta;
  const float* row;  // or NULL
  float* c;
  int64_t ldc, columns;

  void operator()(const float* sums, int64_t first, int64_t rows, int64_t column) const {
    const int64_t some = least(kSide, columns - column);
    float* to = c + first * ldc + column;
    for (int64_t i = 0; i < rows; ++i, sums += kSide, to += ldc) {
      for (int64_t j = 0; j < some; j += kHalf) {
        const int count = (int)least(kHalf, some - j);
        const auto read = [&](const float* from) MX_ALWAYS {
          return count == kHalf ? load(from) : load_first(from, count);
        };
        VF x = load(sums + j);
        if (alpha != 1) x *= splat<VF>(alpha);
        if (row) x += read(row + column + j);
        if (beta != 0) x = fma(splat<VF>(beta), read(to + j), x);
        if (count == kHalf) {
          store(to + j, x);
        } else {
          store_first(to + j, x, count);
        }
      }
    }
  }
};

}  // namespace

bool suits_tiles(const GemmShape& s) {
  constexpr int64_t kFewest = 64, kLeast = 1 << 23;
  static const bool available = tiles_allowed() && multiplies_bf16();
  return available && least(s.m, least(s.n, s.k)) >= kFewest && s.m * s.n * s.k >= kLeast;
}

bool multiply_in_parts(int threads, const GemmShape& s, float alpha, const float* a, const float* b,
                       float beta, float* c, const float* row) {
  const Scaled finish = {alpha, beta, row, c, s.ldc, s.n};
  const PlainRows left = {{a, s.lda, s.transpose_a}, s.k};
  const auto multiply = [&](const auto& columns) {
    return for_parts<float>(
        threads, s.m, kHalf, s.n, kSide,
        [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
          return PartsProduct(left, columns, s.k, finish).compute(i, rows_end, j, columns_end);
        });
  };
  if (!s.transpose_b) return multiply(PlainColumns{b, s.ldb, s.k, s.n});
  const size_t size = (size_t)OrderedColumns::size(s.n, s.k) * sizeof(float);
  float* ordered = (float*)scratch(kSharedSlot, size);
  if (!ordered) return false;
  const Matrix<float> right = {b, s.ldb, false};
  parallel_for(threads, s.n, kSide, [&](int64_t begin, int64_t end) {
    order_columns(right, begin, end, s.k, ordered + OrderedColumns::size(begin, s.k));
  });
  return multiply(OrderedColumns{ordered, s.k});
}

MX_LEAF_END
#else
MX_LEAF_BEGIN
bool suits_tiles(const GemmShape&) { return false; }
bool multiply_in_parts(int, const GemmShape&, float, const float*, const float*, float, float*,
                       const float*) {
  return false;
}
MX_LEAF_END
#endif
