// cuBLAS, opened at run time.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// cuBLAS's numbers of the element type, the compute type, and the type of alpha and beta.
struct Way {
  int32_t type, compute, scalar;
};
// Batched c (m x n, row stride `c_step`) = alpha * op(a) op(b) + beta * c.
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

// Create the handle of a stream before a capture; true if cuBLAS is not open.
bool ready_blas(int32_t device, Stream stream);

}  // namespace cuda
}  // namespace mx
