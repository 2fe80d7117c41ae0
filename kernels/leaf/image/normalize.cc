// "image_normalize" (images, channels first): (x - mean) / std per channel.
#include "leaf/simd/runs.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
int image_normalize(const mx_call* call) {
  const auto& p = *(const mx_image_normalize_params*)call->params;
  parallel_for(call->threads, p.planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T mean = (T)p.mean[i % p.channels], deviation = (T)p.std[i % p.channels];
      map_run(
          p.size, data<T>(call->out[0]) + i * p.size,
          [=](auto x) MX_ALWAYS { return (x - mean) / deviation; },
          data<T>(call->in[0]) + i * p.size);
    }
  });
  return 0;
}

}  // namespace

void register_image_normalize() {
  mx_kernel_add("image_normalize", image_normalize<float>, MX_BIT(F32), 0);
  mx_kernel_add("image_normalize", image_normalize<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
