// add_n: the sum of any number of arrays, in order, in blocks that fit in the L1 cache.
#include "leaf/leaf.h"
#include "leaf/simd/cast.h"

MX_LEAF_BEGIN
namespace {

template <class T>
void add(T* sum, const T* more, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum[i] = (T)(sum[i] + more[i]);
}

template <class T>
int add_n(const mx_call* call) {
  T* dst = data<T>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), kBlock, [&](int64_t begin, int64_t end) {
    T sum[kBlock];  // a copy, as the output may be one of the inputs
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t m = end - i < kBlock ? end - i : kBlock;
      memcpy(sum, data<T>(call->in[0]) + i, m * sizeof(T));
      for (int k = 1; k < call->nin; ++k) add(sum, data<T>(call->in[k]) + i, m);
      memcpy(dst + i, sum, m * sizeof(T));
    }
  });
  return 0;
}

// float16 and bfloat16: summed in float32, rounded once.
int add_n_half(const mx_call* call) {
  const CastRow widen = cast_row(MX_F32, call->out[0].dtype),
                narrow = cast_row(call->out[0].dtype, MX_F32);
  uint16_t* dst = data<uint16_t>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), kBlock, [&](int64_t begin, int64_t end) {
    float sum[kBlock], more[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t m = end - i < kBlock ? end - i : kBlock;
      widen(sum, data<uint16_t>(call->in[0]) + i, m);
      for (int k = 1; k < call->nin; ++k) {
        widen(more, data<uint16_t>(call->in[k]) + i, m);
        add(sum, more, m);
      }
      narrow(dst + i, sum, m);
    }
  });
  return 0;
}

}  // namespace

void register_add_n() {
  mx_kernel_add("add_n", add_n<float>, MX_BIT(F32), 0);
  mx_kernel_add("add_n", add_n<double>, MX_BIT(F64), 0);
  mx_kernel_add("add_n", add_n_half, MX_BIT(F16) | MX_BIT(BF16), 0);
  mx_kernel_add("add_n", add_n<uint8_t>, MX_BIT(U8) | MX_BIT(I8), 0);
  mx_kernel_add("add_n", add_n<uint32_t>, MX_BIT(I32), 0);
  mx_kernel_add("add_n", add_n<uint64_t>, MX_BIT(I64), 0);
}
MX_LEAF_END
