// "kron": Kronecker products of matrices.
#include "leaf/leaf.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
int kron(const mx_call* call) {
  const auto& p = *static_cast<const mx_kron_params*>(call->params);
  const T *a = data<T>(call->in[0]), *b = data<T>(call->in[1]);
  T* out = data<T>(call->out[0]);
  const int64_t line = p.columns * p.block_columns;
  if (line == 0) return 0;
  const int64_t grain = 1 + 4096 / line;
  parallel_for(call->threads, p.rows * p.block_rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = a + row / p.block_rows * p.columns;
      const T* y = b + row % p.block_rows * p.block_columns;
      T* to = out + row * line;
      for (int64_t i = 0; i < p.columns; ++i, to += p.block_columns) {
        const T factor = x[i];
#pragma GCC ivdep
        for (int64_t j = 0; j < p.block_columns; ++j) to[j] = (T)(factor * y[j]);
      }
    }
  });
  return 0;
}

}  // namespace

void register_kron() {
  mx_kernel_add("kron", kron<float>, MX_BIT(F32), 0);
  mx_kernel_add("kron", kron<double>, MX_BIT(F64), 0);
  mx_kernel_add("kron", kron<uint32_t>, MX_BIT(I32), 0);
  mx_kernel_add("kron", kron<uint64_t>, MX_BIT(I64), 0);
}
MX_LEAF_END
