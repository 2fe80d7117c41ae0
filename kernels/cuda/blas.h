// cuBLAS, opened at run time.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// How cuBLAS adds up: its numbers of the elements' type, of the way, and of alpha's and beta's
// type.
struct Way {
  int32_t type, compute, scalar;
};
// c (m x n, of rows `c_step` apart) = alpha * op(a) op(b) + beta * c, `batch` times.
struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const void* a;
  int64_t a_step;
  const void* b;
  int64_t b_step;
  void* c;
  int64_t c_step;
  double alpha = 1, beta = 0;
  int64_t batch = 1, a_stride = 0, b_stride = 0, c_stride = 0;
};
bool multiply(int32_t device, Stream stream, const Way& way, const Product& product);

// Make what products on a stream need, before one is captured; true where cuBLAS was not opened.
bool ready_blas(int32_t device, Stream stream);

}  // namespace cuda
}  // namespace mx
