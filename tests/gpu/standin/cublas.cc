// cuBLAS's matrix products, column-major, run on the streams of the stand-in's driver. build.py
// adds functions that fail by name for everything else that CuPy links to.
#include <stdint.h>
#include <string.h>

#include <functional>
#include <utility>

#define API extern "C" __attribute__((visibility("default")))
// From the stand-in's driver: push work on a stream; a captured graph repeats it.
extern "C" int standin_push(void* stream, const std::function<int()>& work, const char* label);

enum Status {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidValue = 7,
  kExecutionFailed = 13,
  kNotSupported = 15
};
enum DataType { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kInt8 = 3, kInt32 = 10, kBfloat16 = 14 };

// Compute types of the last products, for tests.
int last_compute = 0;

struct Handle {
  void* stream = nullptr;
  int math_mode = 0, pointer_mode = 0;
};

namespace {

double load(const void* base, int64_t i, int type) {
  switch (type) {
    case kFloat32:
      return ((const float*)base)[i];
    case kFloat64:
      return ((const double*)base)[i];
    case kFloat16:
      return (double)((const _Float16*)base)[i];
    case kInt8:
      return ((const int8_t*)base)[i];
    case kInt32:
      return ((const int32_t*)base)[i];
  }
  const uint32_t bits = (uint32_t)((const uint16_t*)base)[i] << 16;  // bfloat16
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void store(void* base, int64_t i, int type, double value) {
  switch (type) {
    case kFloat32:
      ((float*)base)[i] = (float)value;
      return;
    case kFloat64:
      ((double*)base)[i] = value;
      return;
    case kFloat16:
      ((_Float16*)base)[i] = (_Float16)value;
      return;
    case kInt8:
      ((int8_t*)base)[i] = (int8_t)value;
      return;
    case kInt32:
      ((int32_t*)base)[i] = (int32_t)value;
      return;
  }
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  ((uint16_t*)base)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // nearest even
}

struct Matrix {
  const void* base;
  int type;
  int64_t leading, batch_stride;
  bool transposed;

  double at(int64_t batch, int64_t row, int64_t column) const {
    const int64_t i = transposed ? column + row * leading : row + column * leading;
    return load(base, batch * batch_stride + i, type);
  }
};

struct Product {
  int m, n, k, batches;
  double alpha, beta;
  Matrix a, b;
  void* c;
  int c_type;
  int64_t c_leading, c_batch_stride;

  Status valid() const {
    if (m < 0 || n < 0 || k < 0) return kInvalidValue;
    const bool fits = a.leading >= (a.transposed ? k : m) && b.leading >= (b.transposed ? n : k);
    return fits && c_leading >= m ? kSuccess : kInvalidValue;
  }

  void run() const {
    for (int batch = 0; batch < batches; ++batch)
      for (int column = 0; column < n; ++column)
        for (int row = 0; row < m; ++row) {
          double sum = 0;
          for (int i = 0; i < k; ++i) sum += a.at(batch, row, i) * b.at(batch, i, column);
          const int64_t to = batch * c_batch_stride + row + column * c_leading;
          // with beta = 0, C may be anything, NaN included
          store(c, to, c_type, alpha * sum + (beta != 0 ? beta * load(c, to, c_type) : 0));
        }
  }
};

int push(Handle* handle, std::function<void()> work) {
  const auto call = [work = std::move(work)] { return work(), 0; };
  return standin_push(handle->stream, call, "cublas") ? kExecutionFailed : kSuccess;
}

int push_product(Handle* handle, const Product& product) {
  if (!handle) return kNotInitialized;
  if (handle->pointer_mode) return kNotSupported;  // scalars in device memory
  if (const Status status = product.valid()) return status;
  return push(handle, [=] { product.run(); });
}

// The type of alpha and beta, by cublasComputeType_t.
int scalar_type(int compute) {
  switch (compute) {
    case 64:
    case 65:
      return kFloat16;
    case 70:
    case 71:
      return kFloat64;
    case 72:
    case 73:
      return kInt32;
  }
  return kFloat32;
}

}  // namespace

API int cublasCreate_v2(Handle** handle) { return *handle = new Handle, kSuccess; }
API int cublasDestroy_v2(Handle* handle) { return delete handle, kSuccess; }
API int cublasGetVersion_v2(Handle*, int* version) { return *version = 130000, kSuccess; }
API int cublasSetStream_v2(Handle* h, void* stream) { return h->stream = stream, kSuccess; }
API int cublasGetStream_v2(Handle* h, void** stream) { return *stream = h->stream, kSuccess; }
API int cublasSetWorkspace_v2(Handle*, void*, size_t) { return kSuccess; }
API int cublasSetMathMode(Handle* h, int mode) { return h->math_mode = mode, kSuccess; }
API int cublasGetMathMode(Handle* h, int* mode) { return *mode = h->math_mode, kSuccess; }
API int cublasSetPointerMode_v2(Handle* h, int mode) { return h->pointer_mode = mode, kSuccess; }
API int cublasGetPointerMode_v2(Handle* h, int* mode) { return *mode = h->pointer_mode, kSuccess; }

API int standin_last_compute() { return last_compute; }
API int cublasGemmStridedBatchedEx(Handle* handle, int trans_a, int trans_b, int m, int n, int k,
                                   const void* alpha, const void* a, int a_type, int lda,
                                   long long stride_a, const void* b, int b_type, int ldb,
                                   long long stride_b, const void* beta, void* c, int c_type,
                                   int ldc, long long stride_c, int batches, int compute, int) {
  const int scalar = scalar_type(compute);
  last_compute = compute;
  return push_product(handle, {m,
                               n,
                               k,
                               batches,
                               load(alpha, 0, scalar),
                               load(beta, 0, scalar),
                               {a, a_type, lda, stride_a, trans_a != 0},
                               {b, b_type, ldb, stride_b, trans_b != 0},
                               c,
                               c_type,
                               ldc,
                               stride_c});
}
API int cublasGemmEx(Handle* handle, int trans_a, int trans_b, int m, int n, int k,
                     const void* alpha, const void* a, int a_type, int lda, const void* b,
                     int b_type, int ldb, const void* beta, void* c, int c_type, int ldc,
                     int compute, int algorithm) {
  return cublasGemmStridedBatchedEx(handle, trans_a, trans_b, m, n, k, alpha, a, a_type, lda, 0, b,
                                    b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

#define STANDIN_GEMM(letter, T, type, compute)                                                     \
  API int cublas##letter##gemmStridedBatched(                                                      \
      Handle* h, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda,         \
      long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc,   \
      long long stride_c, int batches) {                                                           \
    return cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, alpha, a, type, lda, stride_a, b, type,  \
                                      ldb, stride_b, beta, c, type, ldc, stride_c, batches,        \
                                      compute, 0);                                                 \
  }                                                                                                \
  API int cublas##letter##gemm_v2(Handle* h, int ta, int tb, int m, int n, int k, const T* alpha,  \
                                  const T* a, int lda, const T* b, int ldb, const T* beta, T* c,   \
                                  int ldc) {                                                       \
    return cublas##letter##gemmStridedBatched(h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0,     \
                                              beta, c, ldc, 0, 1);                                 \
  }                                                                                                \
  API int cublas##letter##gemmBatched(Handle* h, int ta, int tb, int m, int n, int k,              \
                                      const T* alpha, const T** a, int lda, const T** b, int ldb,  \
                                      const T* beta, T** c, int ldc, int batches) {                \
    const double alpha_value = *alpha, beta_value = *beta; /* the tables lie in device memory */   \
    return push(h, [=] {                                                                           \
      for (int i = 0; i < batches; ++i)                                                            \
        Product{m,                                                                                 \
                n,                                                                                 \
                k,                                                                                 \
                1,                                                                                 \
                alpha_value,                                                                       \
                beta_value,                                                                        \
                {a[i], type, lda, 0, ta != 0},                                                     \
                {b[i], type, ldb, 0, tb != 0},                                                     \
                c[i],                                                                              \
                type,                                                                              \
                ldc,                                                                               \
                0}                                                                                 \
            .run();                                                                                \
    });                                                                                            \
  }                                                                                                \
  API int cublas##letter##dot_v2(Handle* h, int n, const T* x, int x_step, const T* y, int y_step, \
                                 T* result) {                                                      \
    return push(h, [=] {                                                                           \
      T sum = 0;                                                                                   \
      for (int64_t i = 0; i < n; ++i) sum += x[i * x_step] * y[i * y_step];                        \
      *result = sum;                                                                               \
    });                                                                                            \
  }
STANDIN_GEMM(S, float, kFloat32, 68)
STANDIN_GEMM(D, double, kFloat64, 70)
