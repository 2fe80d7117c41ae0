// "cross": cross products of 3-vectors along the last dimension of both inputs.
#include "leaf/leaf.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 1024;  // vectors that make another thread worthwhile

template <class T>
int cross(const mx_call* call) {
  const T *a = data<T>(call->in[0]), *b = data<T>(call->in[1]);
  T* out = data<T>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]) / 3, kGrain, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const T *x = a + 3 * i, *y = b + 3 * i;
      const T x0 = x[0], x1 = x[1], x2 = x[2], y0 = y[0], y1 = y[1], y2 = y[2];
      out[3 * i] = x1 * y2 - x2 * y1;
      out[3 * i + 1] = x2 * y0 - x0 * y2;
      out[3 * i + 2] = x0 * y1 - x1 * y0;
    }
  });
  return 0;
}

}  // namespace

void register_cross() {
  mx_kernel_add("cross", cross<float>, MX_BIT(F32), 0);
  mx_kernel_add("cross", cross<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
