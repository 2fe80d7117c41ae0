// "im2col" (images): patches under a sliding window as columns of matrices; "col2im" (matrices):
// the transpose, which sums patches.
#include "leaf/convolution/patches.h"

MX_LEAF_BEGIN
namespace {

template <class T>
int im2col(const mx_call* call) {
  const auto& p = *(const mx_conv_params*)call->params;
  const Window window = forward_window(p);
  const int64_t positions = window.target_size(), taps = window.taps();
  parallel_for(call->threads, p.batch * p.channels, 1, [&](int64_t begin, int64_t end) {
    T* out = data<T>(call->out[0]) + begin * taps * positions;
    for (int64_t c = begin; c < end; ++c) {
      const T* channel = data<T>(call->in[0]) + c * window.source_size();
      for (int64_t t = 0; t < taps; ++t, out += positions) {
        const Digits tap(t, window.kernel), first(0, window.target);
        fill_patches(out, window, channel, tap, first, positions);
      }
    }
  });
  return 0;
}

template <class T>
int col2im(const mx_call* call) {
  const auto& p = *(const mx_conv_params*)call->params;
  const Window window = forward_window(p);
  const int64_t size = window.source_size();
  parallel_for(call->threads, p.batch * p.channels, 1, [&](int64_t begin, int64_t end) {
    T* out = data<T>(call->out[0]);
    for (int64_t c = begin; c < end; ++c) {
      memset(out + c * size, 0, (size_t)size * sizeof(T));
      add_patches(out, data<T>(call->in[0]), window, c, c + 1);
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("im2col", im2col<T>, dtype, 0);
  mx_kernel_add("col2im", col2im<T>, dtype, 0);
}

}  // namespace

void register_columns() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
