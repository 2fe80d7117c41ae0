// LU factorisation of square matrices with partial pivoting: "det" and "slogdet" (matrices) give
// determinants, or their signs and the logarithms of their magnitudes; "inverse" and
// "inverse_or_zero" (matrices) give inverses, and for singular matrices an error or zeros.
//
// Blocks of columns are factored in turn; the update to their right is a matrix product.
#include "core/parallel_try.h"
#include "leaf/matrix/gemm.h"
#include "leaf/matrix/teams.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kBlock = 32;   // columns factored at a time
constexpr int64_t kStrip = 256;  // columns of right-hand sides solved at a time

// row -= factor * other.
template <class T>
MX_INLINE void subtract(T* row, T factor, const T* other, int64_t n) {
  constexpr int L = kLanes<T>;
  const Vec<T> f = splat<Vec<T>>(-factor);
  int64_t i = 0;
  for (; i + L <= n; i += L) store(row + i, fma(f, load(other + i), load(row + i)));
  const int remaining = (int)(n - i);
  if (remaining) {
    store_first(row + i, fma(f, load_first(other + i, remaining), load_first(row + i, remaining)),
                remaining);
  }
}

// A matrix replaced by its factors: U including the diagonal, and L below, with an implicit unit
// diagonal.
template <class T>
struct Factors {
  T* a;
  int64_t n;
  int64_t* order;  // the original row of each row of the factors; may be NULL
  int sign = 1;    // of the permutation
  bool regular = true;

  T* at(int64_t i, int64_t j) const { return a + i * n + j; }
  Matrix<T> left(int64_t i, int64_t j) const { return {at(i, j), n, false}; }
  Matrix<T> right(int64_t i, int64_t j) const { return {at(i, j), n, true}; }

  void exchange(int64_t i, int64_t j) {
    if (i == j) return;
    T *one = at(i, 0), *other = at(j, 0);
    for (int64_t k = 0; k < n; ++k) {
      const T kept = one[k];
      one[k] = other[k];
      other[k] = kept;
    }
    if (order) {
      const int64_t kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    sign = -sign;
  }

  // Factor the block of columns [first, last), from row `first` down.
  void factor_columns(int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      int64_t pivot = j;
      for (int64_t i = j + 1; i < n; ++i) {
        if (__builtin_fabs(*at(i, j)) > __builtin_fabs(*at(pivot, j))) pivot = i;
      }
      exchange(j, pivot);
      const T top = *at(j, j);
      if (top == 0) {
        regular = false;
        continue;
      }
      for (int64_t i = j + 1; i < n; ++i) {
        const T factor = *at(i, j) / top;
        *at(i, j) = factor;
        subtract(at(i, j + 1), factor, at(j, j + 1), last - j - 1);
      }
    }
  }

  // Factor the matrix; false if scratch memory is exhausted.
  bool make(int threads) {
    for (int64_t i = 0; order && i < n; ++i) order[i] = i;
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = least(first + kBlock, n), remaining = n - last;
      factor_columns(first, last);
      forward(first, last, at(0, 0), last, n);
      if (remaining > 0 && !gemm(threads, remaining, remaining, last - first, (T)-1,
                                 left(last, first), right(first, last), (T)1, at(last, last), n)) {
        return false;
      }
    }
    return true;
  }

  // Solve rows [first, last) of columns [begin, end) of x with L's block there.
  void forward(int64_t first, int64_t last, T* x, int64_t begin, int64_t end) const {
    for (int64_t j = begin; j < end; j += kStrip) {
      for (int64_t i = first + 1; i < last; ++i) {
        for (int64_t k = first; k < i; ++k)
          subtract(x + i * n + j, *at(i, k), x + k * n + j, least(kStrip, end - j));
      }
    }
  }
  // The same with U's block.
  void backward(int64_t first, int64_t last, T* x) const {
    for (int64_t j = 0; j < n; j += kStrip) {
      const int64_t width = least(kStrip, n - j);
      for (int64_t i = last - 1; i >= first; --i) {
        T* row = x + i * n + j;
        for (int64_t k = i + 1; k < last; ++k) subtract(row, *at(i, k), x + k * n + j, width);
        const T inverse = 1 / *at(i, i);
        for (int64_t c = 0; c < width; ++c) row[c] *= inverse;
      }
    }
  }

  // x becomes the inverse; false if scratch memory is exhausted.
  bool invert(int threads, T* x) const {
    memset(x, 0, (size_t)(n * n) * sizeof(T));
    for (int64_t i = 0; i < n; ++i) x[i * n + order[i]] = 1;
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = least(first + kBlock, n);
      if (first > 0 && !gemm(threads, last - first, n, first, (T)-1, left(first, 0),
                             Matrix<T>{x, n, true}, (T)1, x + first * n, n)) {
        return false;
      }
      forward(first, last, x, 0, n);
    }
    for (int64_t first = (n - 1) / kBlock * kBlock; first >= 0; first -= kBlock) {
      const int64_t last = least(first + kBlock, n), remaining = n - last;
      if (remaining > 0 && !gemm(threads, last - first, n, remaining, (T)-1, left(first, last),
                                 Matrix<T>{x + last * n, n, true}, (T)1, x + first * n, n)) {
        return false;
      }
      backward(first, last, x);
    }
    return true;
  }
};

// Call body(threads, index of the matrix, its factors) for each; -1 if one failed.
template <class T, class Body>
int each_matrix(const mx_call* call, bool ordered, const Body& body) {
  const auto& p = *(const mx_matrices_params*)call->params;
  const int64_t n = p.rows, size = n * n;
  const Teams teams(call->threads, p.batch);
  return parallel_try(teams.outer, p.batch, 1, [&](int64_t begin, int64_t end) {
    char* memory = (char*)scratch(kSharedSlot, (size_t)(n + 1) * 8 + (size_t)size * sizeof(T));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      Factors<T> factors = {(T*)(memory + (n + 1) * 8), n, ordered ? (int64_t*)memory : nullptr};
      memcpy(factors.a, data<T>(call->in[0]) + b * size, (size_t)size * sizeof(T));
      if (!factors.make(teams.inner) || !body(teams.inner, b, factors)) return false;
    }
    return true;
  });
}

template <class T>
int det(const mx_call* call) {
  return each_matrix<T>(call, false, [&](int, int64_t b, const Factors<T>& factors) {
    // Mantissa and exponent are kept separately: partial products may overflow.
    double product = factors.sign;
    int64_t exponent = 0;
    for (int64_t i = 0; i < factors.n; ++i) {
      int moved;
      product = __builtin_frexp(product * *factors.at(i, i), &moved);
      exponent += moved;
    }
    const int bound = 5000;
    exponent = exponent > bound ? bound : exponent < -bound ? -bound : exponent;
    data<T>(call->out[0])[b] = (T)__builtin_ldexp(product, (int)exponent);
    return true;
  });
}

template <class T>
int slogdet(const mx_call* call) {
  return each_matrix<T>(call, false, [&](int, int64_t b, const Factors<T>& factors) {
    double sum = 0;
    int sign = factors.sign;
    for (int64_t i = 0; i < factors.n; ++i) {
      const double x = *factors.at(i, i);
      sum += __builtin_log(__builtin_fabs(x));
      if (x < 0) sign = -sign;
    }
    if (!factors.regular) sign = 0, sum = -__builtin_inf();
    if (call->out[0].data) data<T>(call->out[0])[b] = sum == sum ? (T)sign : (T)sum;
    if (call->out[1].data) data<T>(call->out[1])[b] = (T)sum;
    return true;
  });
}

template <class T, bool or_zero>
int inverse(const mx_call* call) {
  return each_matrix<T>(call, true, [&](int threads, int64_t b, const Factors<T>& f) {
    T* out = data<T>(call->out[0]) + b * f.n * f.n;
    if (f.regular) return f.invert(threads, out);
    if (!or_zero) return mx_fail("argument A: Singular matrix") == 0;
    memset(out, 0, (size_t)(f.n * f.n) * sizeof(T));
    return true;
  });
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("det", det<T>, dtype, 0);
  mx_kernel_add("slogdet", slogdet<T>, dtype, 0);
  mx_kernel_add("inverse", inverse<T, false>, dtype, 0);
  mx_kernel_add("inverse_or_zero", inverse<T, true>, dtype, 0);
}

}  // namespace

void register_lu() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
