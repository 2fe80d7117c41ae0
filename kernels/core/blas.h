// Access to a BLAS opened at run time: oneDNN or OpenBLAS. Everything also works without one.
#pragma once
#include <cstdint>

namespace mx {

// Row-major C (m x n) = alpha * op(A) op(B) + beta * C; lda, ldb and ldc are row strides.
struct BlasProblem {
  bool transpose_a, transpose_b;
  int64_t m, n, k, lda, ldb, ldc;
};

// Run the problem on oneDNN or the opened CBLAS; false if there is none or it would not pay off.
bool blas_gemm(int threads, const BlasProblem& problem, float alpha, const float* a, const float* b,
               float beta, float* c);
bool blas_gemm(int threads, const BlasProblem& problem, double alpha, const double* a,
               const double* b, double beta, double* c);

}  // namespace mx
