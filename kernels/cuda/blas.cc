// "gpu_gemm", "gpu_strided_dot": matrix products by cuBLAS, which is column-major.
#include "cuda/blas.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/fork.h"
#include "core/random/half.h"
#include "cuda/call.h"
#include "mxcy_gpu.h"
#include "params/launch.gen.h"
#include "params/matrix.gen.h"

namespace mx {
namespace cuda {
namespace {

typedef struct cublasContext* Handle;

constexpr size_t kWorkspace = (size_t)32 << 20;  // what NVIDIA recommends for sm_90
constexpr int kHalf = 2;                         // cudaDataType

struct Blas {
  ForkSafeMutex lock;
  void* library = nullptr;
  int (*create)(Handle* handle) = nullptr;
  int (*set_stream)(Handle handle, Stream stream) = nullptr;
  int (*set_workspace)(Handle handle, void* memory, size_t bytes) = nullptr;
  int (*gemm)(Handle handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
              const void* a, int a_type, int lda, long long stride_a, const void* b, int b_type,
              int ldb, long long stride_b, const void* beta, void* c, int c_type, int ldc,
              long long stride_c, int batch, int compute, int algorithm) = nullptr;
  std::map<std::pair<int32_t, Stream>, Handle> handles;
};

Blas& blas() {
  static Blas* one = new Blas;
  return *one;
}

bool checked(int status, const char* doing) {
  return status == 0 || mx_fail("cuBLAS status %d while %s", status, doing) == 0;
}

// The handle of a stream. Streams are reused by threads, so there are few.
Handle handle_of(int32_t device, Stream stream) {
  Blas& self = blas();
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  Handle& handle = self.handles[{device, stream}];
  if (handle) return handle;
  Handle made = nullptr;
  Address workspace = 0;
  if (!checked(self.create(&made), "starting") ||
      !checked(self.set_stream(made, stream), "choosing a stream") ||
      !succeeded(api().MemAlloc(&workspace, kWorkspace), "taking memory for cuBLAS") ||
      !checked(self.set_workspace(made, (void*)workspace, kWorkspace), "lending memory"))
    return nullptr;
  return handle = made;
}

// A scalar in cuBLAS's compute type.
struct Scalar {
  alignas(8) char bytes[8];

  Scalar(double value, int type) {
    const float single = (float)value;
    const uint16_t half = float_to_half(single);
    if (type == 1)
      memcpy(bytes, &value, sizeof value);
    else if (type == kHalf)
      memcpy(bytes, &half, sizeof half);
    else
      memcpy(bytes, &single, sizeof single);
  }
};

bool copy_base(const mx_call* call, const mx_blas_params& p, Stream stream) {
  void *base = call->in[2].data, *out = call->out[0].data;
  if (p.fill) {
    int64_t count = p.m * p.n, columns = p.n;
    void* arguments[] = {&out, &base, &count, &columns};
    return succeeded(api().LaunchKernel((void*)p.fill, (unsigned)p.grid, 1, 1, 256, 1, 1, 0, stream,
                                        arguments, nullptr),
                     "launching a kernel");
  }
  const size_t bytes = (size_t)(p.batch * p.m * p.n * p.bytes);
  return base == out || p.beta == 0 ||
         succeeded(api().CopyWithin((Address)out, (Address)base, bytes, stream), "copying");
}

bool multiply_inputs(const mx_call* call, const mx_blas_params& p, Stream stream) {
  const bool has_base = call->nin > 2;
  if (has_base && !copy_base(call, p, stream)) return false;
  Product product = {p.transpose_a != 0,
                     p.transpose_b != 0,
                     p.m,
                     p.n,
                     p.k,
                     call->in[0].data,
                     p.transpose_a ? p.m : p.k,
                     call->in[1].data,
                     p.transpose_b ? p.k : p.n,
                     call->out[0].data,
                     p.n};
  product.alpha = p.alpha;
  product.beta = has_base ? p.beta : 0;
  product.batch = p.batch;
  product.a_stride = p.m * p.k;
  product.b_stride = p.n * p.k;
  product.c_stride = p.m * p.n;
  return multiply(p.device, stream, {p.type, p.compute, p.scalar}, product);
}

int gemm(const mx_call* call) {
  const auto& p = *(const mx_blas_params*)call->params;
  Stream stream;
  if (!begin_call(call, p.device, 0, 2, &stream) || !multiply_inputs(call, p, stream)) return -1;
  return end_call(call, p.device, 0) ? 0 : -1;
}

typedef mx_strided_dot_params Strided;

// Initialise the output: the third input's elements, or zeros.
bool start_output(const mx_call* call, const Strided& p, const mx_blas_params& way, Stream stream) {
  void* out = call->out[0].data;
  int64_t count = 1;
  for (int i = 0; i < call->out[0].ndim; ++i) count *= call->out[0].shape[i];
  if (p.base)
    return succeeded(api().CopyWithin((Address)out, (Address)call->in[2].data,
                                      (size_t)(count * way.bytes), stream),
                     "copying");
  void* arguments[] = {&out, &count};
  return !way.fill || succeeded(api().LaunchKernel((void*)way.fill, (unsigned)way.grid, 1, 1, 256,
                                                   1, 1, 0, stream, arguments, nullptr),
                                "launching a kernel");
}

// Whether the matrices of all operands have constant strides.
bool is_even(const Strided& p) {
  for (int i = 0; i < 3; ++i)
    if (p.outer_step[i] != p.inner * p.inner_step[i]) return false;
  return true;
}

bool multiply_strided(const mx_call* call, const Strided& p, const mx_blas_params& way,
                      Stream stream) {
  const bool is_flat = p.outer == 1 || p.inner == 1 || is_even(p);
  const int64_t* step = p.inner == 1 ? p.outer_step : p.inner_step;
  const auto at = [&](const mx_tensor& tensor, int operand, int64_t outer) {
    return (char*)tensor.data + (p.offset[operand] + outer * p.outer_step[operand]) * way.bytes;
  };
  for (int64_t i = 0; i < (is_flat ? 1 : p.outer); ++i) {
    Product product = {p.transpose_lhs != 0,
                       p.transpose_rhs != 0,
                       p.m,
                       p.n,
                       p.k,
                       at(call->in[p.lhs], 0, i),
                       p.row[0],
                       at(call->in[p.rhs], 1, i),
                       p.row[1],
                       at(call->out[0], 2, i),
                       p.row[2]};
    product.alpha = p.scale;
    product.batch = is_flat ? p.outer * p.inner : p.inner;
    product.a_stride = step[0], product.b_stride = step[1], product.c_stride = step[2];
    if (!multiply(way.device, stream, {way.type, way.compute, way.scalar}, product)) return false;
  }
  return true;
}

int strided_dot(const mx_call* call) {
  const auto& p = *(const Strided*)call->params;
  const auto& way = *(const mx_blas_params*)(&p + 1);
  Stream stream;
  if (!begin_call(call, way.device, 0, 1 + p.outer, &stream)) return -1;
  if (!start_output(call, p, way, stream) || !multiply_strided(call, p, way, stream)) return -1;
  return end_call(call, way.device, 0) ? 0 : -1;
}

constexpr uint32_t kAll = (1u << MX_DTYPE_COUNT) - 1;
const int g_registered = mx_kernel_add("gpu_gemm", gemm, kAll, 0) |
                         mx_kernel_add("gpu_strided_dot", strided_dot, kAll, 0);

template <class F>
bool load(void* library, const char* name, F* function) {
  *function = (F)dlsym(library, name);
  return *function != nullptr || mx_fail("cuBLAS has no function %s", name) == 0;
}

}  // namespace

bool multiply(int32_t device, Stream stream, const Way& way, const Product& p) {
  const Handle handle = handle_of(device, stream);
  if (!handle) return false;
  const Scalar alpha(p.alpha, way.scalar), beta(p.beta, way.scalar);
  // Column-major: c^T = op(b)^T op(a)^T.
  const int status = blas().gemm(handle, p.transpose_b, p.transpose_a, (int)p.n, (int)p.m, (int)p.k,
                                 alpha.bytes, p.b, way.type, (int)p.b_step, p.b_stride, p.a,
                                 way.type, (int)p.a_step, p.a_stride, beta.bytes, p.c, way.type,
                                 (int)p.c_step, p.c_stride, (int)p.batch, way.compute, -1);
  return checked(status, "multiplying matrices");
}

bool ready_blas(int32_t device, Stream stream) {
  return !blas().library || handle_of(device, stream) != nullptr;
}

}  // namespace cuda
}  // namespace mx

extern "C" int mx_gpu_blas_open(const char* path, int32_t loaded_only) {
  using namespace mx::cuda;
  Blas& self = blas();
  std::lock_guard<mx::ForkSafeMutex> guard(self.lock);
  if (self.library) return 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | (loaded_only ? RTLD_NOLOAD : 0));
  if (!library) return mx_fail("%s", dlerror());
  if (!load(library, "cublasCreate_v2", &self.create) ||
      !load(library, "cublasSetStream_v2", &self.set_stream) ||
      !load(library, "cublasSetWorkspace_v2", &self.set_workspace) ||
      !load(library, "cublasGemmStridedBatchedEx", &self.gemm)) {
    dlclose(library);
    return -1;
  }
  self.library = library;
  return 0;
}
