// "lq" (matrices with rows <= columns -> Q, L): factors A = L Q with lower triangular L and
// orthonormal rows of Q, by Householder reflections with LAPACK's signs.
//
// The reflections H = I - tau v v^T of a block of rows are combined as H H' ... = I - V^T S V with
// the v as rows of V and a triangular S (the compact WY form), and applied to other rows by matrix
// products.
#include "core/parallel_try.h"
#include "leaf/matrix/gemm.h"
#include "leaf/matrix/teams.h"
#include "leaf/simd/runs.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kBlock = 32;  // reflections per block

// Workspace of one matrix.
template <class T>
struct Buffers {
  T *a, *v, *products, *combined;  // the factored matrix, a block's V, and products with it
  T tau[kBlock], s[kBlock][kBlock];

  static size_t bytes(int64_t m, int64_t n) {
    return (size_t)(m * n + kBlock * n + 2 * m * kBlock + 4 * kLanes<T>)*sizeof(T);
  }
  Buffers(T* memory, int64_t m, int64_t n)
      : a(memory), v(a + m * n), products(v + kBlock * n), combined(products + m * kBlock) {}
};

template <class T>
T dot(const T* x, const T* y, int64_t n) {
  return (T)sum_run<T>(n, [](auto a, auto b) { return a * b; }, x, y);
}

// The reflection that reduces a row to its first element: the row becomes that element followed by
// v, whose implicit first element is 1. Returns tau.
template <class T>
T reflect(T* row, int64_t n) {
  const T rest = n > 1 ? dot(row + 1, row + 1, n - 1) : 0;
  if (rest == 0) return 0;
  const T length = (T)__builtin_sqrt((double)row[0] * row[0] + rest),
          left = row[0] < 0 ? length : -length;
  const T inverse = 1 / (row[0] - left), tau = (left - row[0]) / left;
  map_run(n - 1, row + 1, [=](auto x) { return x * inverse; }, row + 1);
  row[0] = left;
  return tau;
}

// V of the reflections in rows [first, first + size), and S; columns count from `first`.
template <class T>
void join(Buffers<T>& buffers, int64_t n, int64_t first, int64_t size) {
  const int64_t width = n - first;
  for (int64_t i = 0; i < size; ++i) {
    T* v = buffers.v + i * width;
    memset(v, 0, (size_t)i * sizeof(T));
    v[i] = 1;
    memcpy(v + i + 1, buffers.a + (first + i) * n + first + i + 1,
           (size_t)(width - i - 1) * sizeof(T));
    T along[kBlock];
    for (int64_t k = 0; k < i; ++k) along[k] = dot(buffers.v + k * width + i, v + i, width - i);
    for (int64_t k = 0; k < i; ++k) {
      T sum = 0;
      for (int64_t l = k; l < i; ++l) sum += buffers.s[k][l] * along[l];
      buffers.s[k][i] = -buffers.tau[i] * sum;
      buffers.s[i][k] = 0;
    }
    buffers.s[i][i] = buffers.tau[i];
  }
}

// rows (count x width, n apart) = rows (I - V^T S V), or with S transposed.
template <class T>
bool apply(Buffers<T>& buffers, int threads, T* rows, int64_t count, int64_t n, int64_t width,
           int64_t size, bool transposed) {
  if (count <= 0) return true;
  T *products = buffers.products, *combined = buffers.combined;
  if (!gemm(threads, count, size, width, (T)1, Matrix<T>{rows, n, false},
            Matrix<T>{buffers.v, width, false}, (T)0, products, size)) {
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < size; ++j) combined[i * size + j] = 0;
    for (int64_t k = 0; k < size; ++k) {
      const T x = products[i * size + k];
      if (transposed) {
        for (int64_t j = 0; j <= k; ++j) combined[i * size + j] += x * buffers.s[j][k];
      } else {
        for (int64_t j = k; j < size; ++j) combined[i * size + j] += x * buffers.s[k][j];
      }
    }
  }
  return gemm(threads, count, width, size, (T)-1, Matrix<T>{combined, size, false},
              Matrix<T>{buffers.v, width, true}, (T)1, rows, n);
}

// Replace buffers.a (m x n) by L and the reflections, and q by orthonormal rows; false if memory is
// exhausted.
template <class T>
bool factor(Buffers<T>& buffers, int threads, int64_t m, int64_t n, T* taus, T* q) {
  for (int64_t first = 0; first < m; first += kBlock) {
    const int64_t size = least(kBlock, m - first);
    for (int64_t i = first; i < first + size; ++i) {
      T* row = buffers.a + i * n + i;
      const T tau = taus[i] = buffers.tau[i - first] = reflect(row, n - i);
      for (int64_t k = i + 1; tau != 0 && k < first + size; ++k) {
        T* other = buffers.a + k * n + i;
        const T along = tau * (other[0] + dot(other + 1, row + 1, n - i - 1));
        other[0] -= along;
        map_run(
            n - i - 1, other + 1, [=](auto x, auto v) { return x - along * v; }, other + 1,
            row + 1);
      }
    }
    if (first + size == m) break;
    join(buffers, n, first, size);
    if (!apply(buffers, threads, buffers.a + (first + size) * n + first, m - first - size, n,
               n - first, size, false)) {
      return false;
    }
  }
  memset(q, 0, (size_t)(m * n) * sizeof(T));
  for (int64_t i = 0; i < m; ++i) q[i * n + i] = 1;
  for (int64_t first = m > 0 ? (m - 1) / kBlock * kBlock : -1; first >= 0; first -= kBlock) {
    const int64_t size = least(kBlock, m - first);
    memcpy(buffers.tau, taus + first, (size_t)size * sizeof(T));
    join(buffers, n, first, size);
    if (!apply(buffers, threads, q + first * n + first, m - first, n, n - first, size, true)) {
      return false;
    }
  }
  return true;
}

template <class T>
int lq(const mx_call* call) {
  const auto& p = *(const mx_matrices_params*)call->params;
  const int64_t m = p.rows, n = p.columns;
  const Teams teams(call->threads, p.batch);
  return parallel_try(teams.outer, p.batch, 1, [&](int64_t begin, int64_t end) {
    T* memory = (T*)scratch(kSharedSlot, Buffers<T>::bytes(m, n) + (size_t)(m + m * n) * sizeof(T));
    if (!memory) return false;
    T *taus = memory, *spare = taus + m;
    Buffers<T> buffers(spare + m * n, m, n);
    for (int64_t b = begin; b < end; ++b) {
      T* q = call->out[0].data ? data<T>(call->out[0]) + b * m * n : spare;
      memcpy(buffers.a, data<T>(call->in[0]) + b * m * n, (size_t)(m * n) * sizeof(T));
      if (!factor(buffers, teams.inner, m, n, taus, q)) return false;
      if (!call->out[1].data) continue;
      T* l = data<T>(call->out[1]) + b * m * m;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < m; ++j) l[i * m + j] = j <= i ? buffers.a[i * n + j] : 0;
      }
    }
    return true;
  });
}

}  // namespace

void register_lq() {
  mx_kernel_add("lq", lq<float>, MX_BIT(F32), 0);
  mx_kernel_add("lq", lq<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
