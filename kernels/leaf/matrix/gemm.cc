// Matrix multiplication: the table of register tiles, products of whole arrays, and the kernels
// "gemm" (dot, batch_dot, linalg_gemm, linalg_gemm2) and "fully_connected".
#include "leaf/matrix/gemm.h"

#include "leaf/matrix/few_rows.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN

#if MX_ISA_LEVEL >= 4
#define MX_TILES(T, packed)                                                                    \
  {MX_ROW(T, packed, 1),  MX_ROW(T, packed, 2),  MX_ROW(T, packed, 3),  MX_ROW(T, packed, 4),  \
   MX_ROW(T, packed, 5),  MX_ROW(T, packed, 6),  MX_ROW(T, packed, 7),  MX_ROW(T, packed, 8),  \
   MX_ROW(T, packed, 9),  MX_ROW(T, packed, 10), MX_ROW(T, packed, 11), MX_ROW(T, packed, 12), \
   MX_ROW(T, packed, 13), MX_ROW(T, packed, 14)}
#else
#define MX_TILES(T, packed)                                          \
  {MX_ROW(T, packed, 1), MX_ROW(T, packed, 2), MX_ROW(T, packed, 3), \
   MX_ROW(T, packed, 4), MX_ROW(T, packed, 5), MX_ROW(T, packed, 6)}
#endif
#define MX_ROW(T, packed, R) {tile<T, R, 1, packed>, tile<T, R, 2, packed>}
static const TileTable<float> tiles_f32 = {MX_TILES(float, false), MX_TILES(float, true)};
static const TileTable<double> tiles_f64 = {MX_TILES(double, false), MX_TILES(double, true)};
const TileTable<float>& tile_table(float) { return tiles_f32; }
const TileTable<double>& tile_table(double) { return tiles_f64; }
#undef MX_ROW
#undef MX_TILES

namespace {

// c (n) = alpha * x B + beta * c for B (k x n) with row stride `stride`: one pass over B.
template <class T>
void times_columns(int threads, int64_t n, int64_t k, T alpha, const T* x, const T* b,
                   int64_t stride, T beta, T* c) {
  constexpr int64_t kBlock = 1024;
  parallel_for(threads, n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t j0 = begin; j0 < end; j0 += kBlock) {
      const int64_t cols = least(kBlock, end - j0);
      T sums[kBlock];
      for (int64_t j = 0; j < cols; ++j) sums[j] = 0;
      int64_t p = 0;
      for (; p + 4 <= k; p += 4) {
        const T *r0 = b + p * stride + j0, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
        const T x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
        for (int64_t j = 0; j < cols; ++j)
          sums[j] += (x0 * r0[j] + x1 * r1[j]) + (x2 * r2[j] + x3 * r3[j]);
      }
      for (; p < k; ++p) {
        for (int64_t j = 0; j < cols; ++j) sums[j] += x[p] * b[p * stride + j0 + j];
      }
      for (int64_t j = 0; j < cols; ++j)
        c[j0 + j] = alpha * sums[j] + (beta == 0 ? 0 : beta * c[j0 + j]);
    }
  });
}

// Dot product of two vectors, in runs whose number depends only on their length.
template <class T>
T inner_product(int threads, int64_t k, const T* x, const T* y) {
  constexpr int L = kLanes<T>, kSums = 8;
  constexpr int64_t kRun = 4096, kRuns = 64;
  const int64_t each = ceil_div(ceil_div(k, kRuns), kRun) * kRun;
  double parts[kRuns] = {};
  parallel_for(threads, ceil_div(k, each), 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      for (int64_t at = part * each; at < least(k, (part + 1) * each); at += kRun) {
        const int64_t n = least(kRun, k - at);
        const T *a = x + at, *b = y + at;
        Vec<T> sums[kSums] = {};
        int64_t p = 0;
        for (; p + kSums * L <= n; p += kSums * L)
          for (int j = 0; j < kSums; ++j)
            sums[j] = fma(load(a + p + j * L), load(b + p + j * L), sums[j]);
        for (; p + L <= n; p += L) sums[0] = fma(load(a + p), load(b + p), sums[0]);
        if (p < n) {
          const int rest = (int)(n - p);
          sums[1] = fma(load_first(a + p, rest), load_first(b + p, rest), sums[1]);
        }
        for (int half = kSums / 2; half; half /= 2)
          for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
        for (int e = 0; e < L; ++e) parts[part] += (double)sums[0][e];
      }
  });
  double sum = 0;
  for (int64_t i = 0; i < kRuns; ++i) sum += parts[i];
  return (T)sum;
}

// All n rows of B on a team.
template <class T>
void few_rows_of_all(int threads, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                     const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  parallel_for(threads, n, kLanes<T>, [&](int64_t begin, int64_t end) {
    few_rows(m, begin, end, k, alpha, a, lda, b, ldb, beta, c, ldc);
  });
}

// Products with a contiguous vector or with few rows; false if this is not one.
template <class T>
bool thin_product(int threads, const GemmShape& s, T alpha, const T* a, const T* b, T beta, T* c) {
  if (s.m == 1 && s.n == 1 && s.k > 0 && (!s.transpose_a || s.lda == 1) &&
      (s.transpose_b || s.ldb == 1)) {
    c[0] = alpha * inner_product(threads, s.k, a, b) + (beta == 0 ? 0 : beta * c[0]);
    return true;
  }
  const bool row = s.m == 1 && (!s.transpose_a || s.lda == 1);
  const bool few = !s.transpose_a && has_few_rows(s.m, s.k);
  if (s.transpose_b && (row || few)) {
    few_rows_of_all(threads, s.m, s.n, s.k, alpha, a, s.lda, b, s.ldb, beta, c, s.ldc);
    return true;
  }
  if (row) {
    times_columns(threads, s.n, s.k, alpha, a, b, s.ldb, beta, c);
    return true;
  }
  if (s.n == 1 && s.ldc == 1 && (s.transpose_b || s.ldb == 1)) {
    if (s.transpose_a) {
      times_columns(threads, s.m, s.k, alpha, b, a, s.lda, beta, c);
    } else {
      few_rows_of_all(threads, 1, s.m, s.k, alpha, b, s.k, a, s.lda, beta, c, s.m);
    }
    return true;
  }
  return false;
}

}  // namespace

static int parts_product(int threads, const GemmShape& s, float alpha, const float* a,
                         const float* b, float beta, float* c, const float* row) {
  if (multiply_in_parts(threads, s, alpha, a, b, beta, c, row)) return 0;
  return mx_fail("matrix product: out of memory");
}

// With a smaller k, adding up the lanes of partial sums costs more than packing.
bool has_few_rows(int64_t m, int64_t k) { return m <= kFewRows && k >= 256; }

template <class T>
void add_few_rows(int64_t m, int64_t begin, int64_t end, int64_t k, const T* a, const T* b, T* c,
                  int64_t ldc) {
  few_rows<T>(m, begin, end, k, 1, a, k, b, k, 1, c, ldc);
}

template void add_few_rows(int64_t, int64_t, int64_t, int64_t, const float*, const float*, float*,
                           int64_t);
template void add_few_rows(int64_t, int64_t, int64_t, int64_t, const double*, const double*,
                           double*, int64_t);

template <class T>
int gemm_arrays(int threads, const GemmShape& s, T alpha, const T* a, const T* b, T beta, T* c) {
  if (thin_product(threads, s, alpha, a, b, beta, c)) return 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (suits_tiles(s)) return parts_product(threads, s, alpha, a, b, beta, c, nullptr);
  }
  const Matrix<T> left = {a, s.lda, s.transpose_a}, right = {b, s.ldb, !s.transpose_b};
  if (gemm(threads, s.m, s.n, s.k, alpha, left, right, beta, c, s.ldc)) return 0;
  return -1;
}

template int gemm_arrays(int, const GemmShape&, float, const float*, const float*, float, float*);
template int gemm_arrays(int, const GemmShape&, double, const double*, const double*, double,
                         double*);

namespace {

// out (rows x cols) = or += addend: a matrix times `factor`, one row for all (`shared`), or none.
template <class S>
struct Addend {
  const S* data;
  double factor;
  bool shared;
};

// Initialise C for a product that is added to it; returns the beta for the product.
template <class T>
T start(const Addend<T>& addend, bool add, int64_t rows, int64_t cols, T* out) {
  if (!addend.data) return add ? 1 : 0;
  const T factor = (T)addend.factor;
  for (int64_t i = 0; i < rows; ++i) {
    const T* from = addend.data + (addend.shared ? 0 : i * cols);
    T* to = out + i * cols;
    if (add) {
      for (int64_t j = 0; j < cols; ++j) to[j] += factor * from[j];
    } else if (factor == 1) {
      for (int64_t j = 0; j < cols; ++j) to[j] = from[j];
    } else {
      for (int64_t j = 0; j < cols; ++j) to[j] = factor * from[j];
    }
  }
  return 1;
}

// Multiply-adds up to which a team does not pay.
constexpr int64_t kSmall = 1 << 20;

template <class T>
int product(int threads, const GemmShape& s, double alpha, const T* a, const T* b,
            const Addend<T>& addend, bool add, T* out) {
  const bool small = s.m * s.n * s.k <= kSmall;
  const bool thin = s.m == 1 || s.n == 1 || (!small && has_few_rows(s.m, s.k));
  if (addend.shared && addend.data && !add && !thin) {  // without a separate pass over C
    if constexpr (sizeof(T) == sizeof(float)) {
      if (suits_tiles(s)) return parts_product(threads, s, (T)alpha, a, b, 0, out, addend.data);
    }
    const Matrix<T> left = {a, s.lda, s.transpose_a}, right = {b, s.ldb, !s.transpose_b};
    const bool ok = gemm(small ? 1 : threads, s.m, s.n, s.k, (T)alpha, left, right, (T)0, out, s.n,
                         addend.data);
    return ok ? 0 : -1;
  }
  const T beta = start(addend, add, s.m, s.n, out);
  return gemm_arrays(threads, s, (T)alpha, a, b, beta, out);
}

template <class S>
void add_row(float* to, const S* from, double factor, int64_t n) {
  constexpr int L = kLanes<float>;
  const VF scale = splat<VF>((float)factor);
  int64_t j = 0;
  for (; j + L <= n; j += L) store(to + j, load(to + j) + scale * load_as<float>(from + j));
  for (; j < n; ++j) to[j] += (float)factor * scalar_as<float>(from[j]);
}

// 16-bit dtypes: the product is accumulated in float and rounded once.
template <class S>
int product_half(int threads, const GemmShape& s, double alpha, const S* a, const S* b,
                 const Addend<S>& addend, bool add, S* out) {
  float* sum = (float*)scratch(kTempSlot, (size_t)(s.m * s.n) * sizeof(float));
  const Matrix<float, S> left = {a, s.lda, s.transpose_a}, right = {b, s.ldb, !s.transpose_b};
  if (s.m * s.n == 0) return 0;
  if (!sum || !gemm(threads, s.m, s.n, s.k, (float)alpha, left, right, 0.0f, sum, s.n)) return -1;
  parallel_for(threads, s.m, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* row = sum + i * s.n;
      S* to = out + i * s.n;
      if (addend.data)
        add_row(row, addend.data + (addend.shared ? 0 : i * s.n), addend.factor, s.n);
      if (add) add_row(row, to, 1, s.n);
      narrow_row(to, row, s.n);
    }
  });
  return 0;
}
int product(int threads, const GemmShape& s, double alpha, const f16* a, const f16* b,
            const Addend<f16>& addend, bool add, f16* out) {
  return product_half(threads, s, alpha, a, b, addend, add, out);
}
int product(int threads, const GemmShape& s, double alpha, const bf16* a, const bf16* b,
            const Addend<bf16>& addend, bool add, bf16* out) {
  return product_half(threads, s, alpha, a, b, addend, add, out);
}

template <class S>
int gemm_kernel(const mx_call* call) {
  const auto* p = (const mx_gemm_params*)call->params;
  const bool ta = p->transpose_a != 0, tb = p->transpose_b != 0;
  const GemmShape shape = {ta, tb, p->m, p->n, p->k, ta ? p->m : p->k, tb ? p->k : p->n, p->n};
  const bool add = call->req[0] == MX_ADD;
  const int64_t a_step = p->m * p->k, b_step = p->k * p->n, c_step = p->m * p->n;
  const int team = p->batch >= call->threads ? call->threads : 1;  // over the batch, or inside
  int status = 0;
  parallel_for(team, p->batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const S* c = call->nin > 2 ? data<S>(call->in[2]) + i * c_step : nullptr;
      const Addend<S> addend = {c, p->beta, false};
      if (product(team > 1 ? 1 : call->threads, shape, p->alpha, data<S>(call->in[0]) + i * a_step,
                  data<S>(call->in[1]) + i * b_step, addend, add,
                  data<S>(call->out[0]) + i * c_step) != 0) {
        status = -1;
      }
    }
  });
  return status;
}

template <class S>
int fully_connected(const mx_call* call) {
  const auto* p = (const mx_fully_connected_params*)call->params;
  const GemmShape shape = {false,    true,     p->rows,  p->hidden,
                           p->depth, p->depth, p->depth, p->hidden};
  const Addend<S> bias = {call->nin > 2 ? data<S>(call->in[2]) : nullptr, 1, true};
  return product(call->threads, shape, 1, data<S>(call->in[0]), data<S>(call->in[1]), bias,
                 call->req[0] == MX_ADD, data<S>(call->out[0]));
}

}  // namespace

void register_gemm() {
  mx_kernel_add("gemm", gemm_kernel<float>, MX_BIT(F32), MX_TAKES_ADD);
  mx_kernel_add("gemm", gemm_kernel<double>, MX_BIT(F64), MX_TAKES_ADD);
  mx_kernel_add("gemm", gemm_kernel<f16>, MX_BIT(F16), MX_TAKES_ADD);
  mx_kernel_add("gemm", gemm_kernel<bf16>, MX_BIT(BF16), MX_TAKES_ADD);
  mx_kernel_add("fully_connected", fully_connected<float>, MX_BIT(F32), MX_TAKES_ADD);
  mx_kernel_add("fully_connected", fully_connected<double>, MX_BIT(F64), MX_TAKES_ADD);
  mx_kernel_add("fully_connected", fully_connected<f16>, MX_BIT(F16), MX_TAKES_ADD);
  mx_kernel_add("fully_connected", fully_connected<bf16>, MX_BIT(BF16), MX_TAKES_ADD);
}
MX_LEAF_END
