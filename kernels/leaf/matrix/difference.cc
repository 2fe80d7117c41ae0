// "difference": differences of neighbours along a dimension of (outer, extent, inner) arrays.
#include "leaf/leaf.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 4096;  // elements that make another thread worthwhile

// Wrapping subtraction of integers, which C++ defines only for unsigned ones.
template <class T>
int difference(const mx_call* call) {
  const auto& p = *static_cast<const mx_scan_params*>(call->params);
  const int64_t inner = p.inner, line = p.extent * inner, out_line = line - inner;
  const T* from = data<T>(call->in[0]);
  T* to = data<T>(call->out[0]);
  parallel_for(call->threads, p.outer * out_line, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / out_line, skip = i % out_line;
      const int64_t n = out_line - skip < end - i ? out_line - skip : end - i;
      const T* x = from + row * line + skip;
      T* dst = to + i;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) dst[j] = (T)(x[j + inner] - x[j]);
      i += n;
    }
  });
  return 0;
}

}  // namespace

void register_difference() {
  mx_kernel_add("difference", difference<float>, MX_BIT(F32), 0);
  mx_kernel_add("difference", difference<double>, MX_BIT(F64), 0);
  mx_kernel_add("difference", difference<uint8_t>, MX_BIT(U8) | MX_BIT(I8), 0);
  mx_kernel_add("difference", difference<uint32_t>, MX_BIT(U32) | MX_BIT(I32), 0);
  mx_kernel_add("difference", difference<uint64_t>, MX_BIT(U64) | MX_BIT(I64), 0);
}
MX_LEAF_END
