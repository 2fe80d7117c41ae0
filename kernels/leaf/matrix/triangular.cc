// Triangular matrices: "trsm" (matrices, right-hand sides) solves systems, "potrf" (symmetric
// matrices) gives Cholesky factors, "potri" (factors) inverts their products with their transposes.
// Upper triangles are read, and written, as lower ones of the transposed matrices.
//
// Blocks of unknowns are solved in turn; the contribution of the known ones is a matrix product.
#include "core/parallel_try.h"
#include "leaf/matrix/gemm.h"
#include "leaf/matrix/teams.h"
#include "leaf/simd/math.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kUnknowns = 32;  // per block

// The matrix of a system with unknowns as rows: element (i, k) is the coefficient of unknown k in
// equation i. It is lower triangular (`forward`) or upper triangular.
template <class T>
struct Triangle {
  const T* data;
  int64_t n, stride;
  bool flipped, forward;  // flipped: (i, k) is data[k * stride + i]

  int64_t at(int64_t i, int64_t k) const { return flipped ? k * stride + i : i * stride + k; }
  Matrix<T> from(int64_t i, int64_t k) const { return {data + at(i, k), stride, flipped}; }
  bool regular() const {
    for (int64_t i = 0; i < n; ++i) {
      if (data[at(i, i)] == 0) return false;
    }
    return true;
  }
};

// A block of a system, in the order in which its unknowns are solved.
template <class T>
struct Block {
  static constexpr int kRightSides = 2 * kLanes<T>;  // right-hand sides solved together
  int64_t first, size;
  bool forward;
  T matrix[kUnknowns][kUnknowns];
  alignas(kVecBytes) T x[kUnknowns][kRightSides];

  Block(const Triangle<T>& a, int64_t first, int64_t size)
      : first(first), size(size), forward(a.forward) {
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t k = 0; k <= i; ++k) matrix[i][k] = a.data[a.at(number(i), number(k))];
    }
  }
  // Index of the i-th unknown to be solved.
  int64_t number(int64_t i) const { return first + (forward ? i : size - 1 - i); }

  void substitute() {
    constexpr int L = kLanes<T>;
    for (int64_t i = 0; i < size; ++i) {
      Vec<T> even = load(x[i]), odd = load(x[i] + L);
      for (int64_t k = 0; k < i; ++k) {
        const Vec<T> factor = splat<Vec<T>>(-matrix[i][k]);
        even = fma(factor, load(x[k]), even);
        odd = fma(factor, load(x[k] + L), odd);
      }
      store(x[i], even / matrix[i][i]);
      store(x[i] + L, odd / matrix[i][i]);
    }
  }

  // Solve columns [begin, end) of `rows`, whose rows are the unknowns.
  void solve_columns(T* rows, int64_t stride, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j += kRightSides) {
      const size_t bytes = (size_t)least(kRightSides, end - j) * sizeof(T);
      if (bytes < sizeof x[0]) memset(x, 0, sizeof x);
      for (int64_t i = 0; i < size; ++i) memcpy(x[i], rows + number(i) * stride + j, bytes);
      substitute();
      for (int64_t i = 0; i < size; ++i) memcpy(rows + number(i) * stride + j, x[i], bytes);
    }
  }
  // Solve rows [begin, end) of `rows`, whose columns are the unknowns.
  void solve_rows(T* rows, int64_t stride, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j += kRightSides) {
      const int64_t n = least(kRightSides, end - j);
      if (n < kRightSides) memset(x, 0, sizeof x);
      for (int64_t r = 0; r < n; ++r) {
        const T* row = rows + (j + r) * stride;
        for (int64_t i = 0; i < size; ++i) x[i][r] = row[number(i)];
      }
      substitute();
      for (int64_t r = 0; r < n; ++r) {
        T* row = rows + (j + r) * stride;
        for (int64_t i = 0; i < size; ++i) row[number(i)] = x[i][r];
      }
    }
  }
};

// Solve for some of the right-hand sides, in place: columns [begin, end) of `x`, or its rows.
template <class T>
bool solve(const Triangle<T>& a, bool by_rows, T* x, int64_t stride, int64_t begin, int64_t end) {
  const int64_t blocks = ceil_div(a.n, kUnknowns);
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t first = (a.forward ? b : blocks - 1 - b) * kUnknowns;
    const int64_t size = least(kUnknowns, a.n - first);
    const int64_t known = a.forward ? 0 : first + size, count = a.forward ? first : a.n - known;
    Block<T> block(a, first, size);
    if (by_rows) {
      const Matrix<T> solved = {x + begin * stride + known, stride, false};
      if (count > 0 && !gemm_serial(end - begin, size, count, (T)-1, solved, a.from(first, known),
                                    (T)1, x + begin * stride + first, stride)) {
        return false;
      }
      block.solve_rows(x, stride, begin, end);
    } else {
      const Matrix<T> solved = {x + known * stride + begin, stride, true};
      if (count > 0 && !gemm_serial(size, end - begin, count, (T)-1, a.from(first, known), solved,
                                    (T)1, x + first * stride + begin, stride)) {
        return false;
      }
      block.solve_columns(x, stride, begin, end);
    }
  }
  return true;
}

// solve() for `count` right-hand sides, shared by a team.
template <class T>
int solve_all(int threads, const Triangle<T>& a, bool by_rows, T* x, int64_t stride,
              int64_t count) {
  return parallel_try(threads, count, Block<T>::kRightSides, [&](int64_t begin, int64_t end) {
    if (!solve(a, by_rows, x, stride, begin, end)) return false;
    return true;
  });
}

template <class T>
int trsm(const mx_call* call) {
  const auto& p = *(const mx_triangular_params*)call->params;
  const int64_t size = p.n * p.m;
  const Teams teams(call->threads, p.batch);
  return parallel_try(teams.outer, p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const bool flipped = p.transpose != p.rightside;
      const Triangle<T> a = {data<T>(call->in[0]) + b * p.n * p.n, p.n, p.n, flipped,
                             (p.lower != 0) != flipped};
      if (!a.regular()) return mx_fail("argument A: Singular matrix") == 0;
      const T* from = data<T>(call->in[1]) + b * size;
      T* x = data<T>(call->out[0]) + b * size;
      for (int64_t i = 0; i < size; ++i) x[i] = (T)p.alpha * from[i];
      if (solve_all(teams.inner, a, p.rightside, x, p.rightside ? p.n : p.m, p.m)) return false;
    }
    return true;
  });
}

// Factor a block on the diagonal; false if it is not positive definite.
template <class T>
bool factor_block(T* block, int64_t stride, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    T* row = block + i * stride;
    for (int64_t j = 0; j <= i; ++j) {
      const T* other = block + j * stride;
      T sum = row[j];
      for (int64_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        if (!(sum > 0)) return false;
        row[i] = sqrt(splat<Vec<T>>(sum))[0];
      }
    }
    for (int64_t j = i + 1; j < size; ++j) row[j] = 0;
  }
  return true;
}

// Replace the lower triangle of `a` by its factor; false, with an error text, if that fails.
template <class T>
bool factor(int threads, T* a, int64_t n) {
  for (int64_t first = 0; first < n; first += kUnknowns) {
    const int64_t size = least(kUnknowns, n - first), last = first + size;
    T *rows = a + first * n, *block = rows + first;
    const Matrix<T> known = {rows, n, false};
    if (first > 0 && !gemm(threads, n - first, size, first, (T)-1, known, known, (T)1, block, n)) {
      return false;
    }
    if (!factor_block(block, n, size))
      return mx_fail("argument A: a matrix is not symmetric positive definite") == 0;
    const Triangle<T> corner = {block, size, n, false, true};
    if (solve_all(threads, corner, true, a + last * n + first, n, n - last)) return false;
  }
  return true;
}

// Transpose a lower triangular matrix into an upper one.
template <class T>
void transpose(T* matrix, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < i; ++k) {
      matrix[k * n + i] = matrix[i * n + k];
      matrix[i * n + k] = 0;
    }
  }
}

template <class T>
int potrf(const mx_call* call) {
  const auto& p = *(const mx_triangular_params*)call->params;
  const Teams teams(call->threads, p.batch);
  return parallel_try(teams.outer, p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const T* from = data<T>(call->in[0]) + b * p.n * p.n;
      T* out = data<T>(call->out[0]) + b * p.n * p.n;
      for (int64_t i = 0; i < p.n; ++i) {
        for (int64_t k = 0; k <= i; ++k)
          out[i * p.n + k] = from[p.lower ? i * p.n + k : k * p.n + i];
        for (int64_t k = i + 1; k < p.n; ++k) out[i * p.n + k] = 0;
      }
      if (!factor(teams.inner, out, p.n)) return false;
      if (!p.lower) transpose(out, p.n);
    }
    return true;
  });
}

template <class T>
int potri(const mx_call* call) {
  const auto& p = *(const mx_triangular_params*)call->params;
  const int64_t n = p.n;
  const Teams teams(call->threads, p.batch);
  return parallel_try(teams.outer, p.batch, 1, [&](int64_t begin, int64_t end) {
    T* inverse = (T*)scratch(kSharedSlot, (size_t)(n * n) * sizeof(T));
    if (!inverse) return false;
    for (int64_t b = begin; b < end; ++b) {
      const Triangle<T> a = {data<T>(call->in[0]) + b * n * n, n, n, !p.lower, true};
      if (!a.regular()) return mx_fail("argument A: Singular matrix") == 0;
      memset(inverse, 0, (size_t)(n * n) * sizeof(T));
      for (int64_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
      const Matrix<T> factor = {inverse, n, true};
      if (solve_all(teams.inner, a, false, inverse, n, n) ||
          !gemm(teams.inner, n, n, n, (T)1, factor, factor, (T)0, data<T>(call->out[0]) + b * n * n,
                n)) {
        return false;
      }
    }
    return true;
  });
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("trsm", trsm<T>, dtype, 0);
  mx_kernel_add("potrf", potrf<T>, dtype, 0);
  mx_kernel_add("potri", potri<T>, dtype, 0);
}

}  // namespace

void register_triangular() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
