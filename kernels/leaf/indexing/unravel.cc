// "unravel_index" (flat positions): coordinates, first dimension first. Computed in double:
// quotients of integers below 2^53 round down correctly.
#include "leaf/leaf.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kBlock = 256;  // positions processed at a time

template <class T>
int unravel_index(const mx_call* call) {
  const auto& p = *(const mx_unravel_params*)call->params;
  const T* positions = data<T>(call->in[0]);
  T* out = data<T>(call->out[0]);
  const int64_t n = count(call->in[0]);
  parallel_for(call->threads, n, kBlock, [&](int64_t begin, int64_t end) {
    double remaining[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t size = end - at < kBlock ? end - at : kBlock;
      for (int64_t i = 0; i < size; ++i) remaining[i] = __builtin_trunc((double)positions[at + i]);
      for (int d = p.ndim - 1; d > 0; --d) {
        const double extent = (double)p.shape[d];
        T* coordinates = out + d * n + at;
        for (int64_t i = 0; i < size; ++i) {
          const double quotient = __builtin_trunc(remaining[i] / extent);
          coordinates[i] = (T)(remaining[i] - quotient * extent);
          remaining[i] = quotient;
        }
      }
      for (int64_t i = 0; i < size; ++i) out[at + i] = (T)remaining[i];
    }
  });
  return 0;
}

}  // namespace

void register_unravel() {
  mx_kernel_add("unravel_index", unravel_index<float>, MX_BIT(F32), 0);
  mx_kernel_add("unravel_index", unravel_index<double>, MX_BIT(F64), 0);
  mx_kernel_add("unravel_index", unravel_index<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("unravel_index", unravel_index<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("unravel_index", unravel_index<int32_t>, MX_BIT(I32), 0);
  mx_kernel_add("unravel_index", unravel_index<int64_t>, MX_BIT(I64), 0);
}
MX_LEAF_END
