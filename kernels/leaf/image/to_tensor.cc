// "image_to_tensor" (images, channels last): pixels / 255 in float32, channels first.
#include "leaf/simd/plane.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kBlock = 4096;  // pixels, read once per channel

// `fixed` is the number of channels if known at compile time, or 0.
template <class T, int fixed>
void planes_of(int64_t count, int64_t channels, int64_t size, const T* __restrict in,
               float* __restrict out) {
  const int64_t step = fixed ? fixed : channels;
  for (int64_t c = 0; c < step; ++c) {
    for (int64_t i = 0; i < count; ++i)
      out[c * size + i] = scalar_as<float>(in[i * step + c]) / 255;
  }
}

template <class T>
int image_to_tensor(const mx_call* call) {
  const auto& p = *(const mx_image_tensor_params*)call->params;
  const int64_t blocks = ceil_div(p.size, kBlock), pixels = p.size * p.channels;
  parallel_for(call->threads, p.images * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t image = b / blocks * pixels, first = b % blocks * kBlock;
      const int64_t count = least(kBlock, p.size - first);
      const T* in = data<T>(call->in[0]) + image + first * p.channels;
      float* out = data<float>(call->out[0]) + image + first;
      if (p.channels == 3)
        planes_of<T, 3>(count, 3, p.size, in, out);
      else if (p.channels == 1)
        planes_of<T, 1>(count, 1, p.size, in, out);
      else
        planes_of<T, 0>(count, p.channels, p.size, in, out);
    }
  });
  return 0;
}

}  // namespace

void register_image_to_tensor() {
  mx_kernel_add("image_to_tensor", image_to_tensor<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("image_to_tensor", image_to_tensor<int32_t>, MX_BIT(I32), 0);
  mx_kernel_add("image_to_tensor", image_to_tensor<f16>, MX_BIT(F16), 0);
  mx_kernel_add("image_to_tensor", image_to_tensor<float>, MX_BIT(F32), 0);
}
MX_LEAF_END
