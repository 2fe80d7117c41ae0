// Pooling, and the gradient of average pooling.
#include <cstring>

#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "params/pooling.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_pool_params P;
enum { kMaximum = 0, kAverage = 1 };

// `outer` images of `inner` channels, channels innermost; swapped if there is one channel, which is
// faster in oneDNN.
struct Shapes {
  Extents source, target, source_strides, target_strides, kernel, stride, dilate, before, after;
  bool fits = true;

  explicit Shapes(const P& p) {
    const bool one = p.inner == 1;
    const int64_t images = one ? 1 : p.outer, channels = one ? p.outer : p.inner;
    fill(p.source, images, channels, p.inner, &source, &source_strides);
    fill(p.target, images, channels, p.inner, &target, &target_strides);
    for (int i = 0; i < 3; ++i) {
      kernel.add(p.kernel[i]);
      stride.add(p.stride[i]);
      dilate.add(0);
      before.add(p.pad[i]);
      after.add((p.target[i] - 1) * p.stride[i] + p.kernel[i] - p.source[i] - p.pad[i]);
      fits = fits && after.at[i] <= p.pad[i];
    }
  }

  static void fill(const int64_t* spatial, int64_t images, int64_t channels, int64_t inner,
                   Extents* extents, Extents* strides) {
    const int64_t plane = spatial[0] * spatial[1] * spatial[2] * inner;
    *extents = {images, channels, spatial[0], spatial[1], spatial[2]};
    *strides = {inner == 1 ? channels * plane : plane, inner == 1 ? plane : 1,
                spatial[1] * spatial[2] * inner, spatial[2] * inner, inner};
  }
  Layout layout(bool result, int type = kF32) const {
    return result ? Layout::strided(target, target_strides, type)
                  : Layout::strided(source, source_strides, type);
  }
};

bool describe(const P& p, const Shapes& s, int propagation, int type, Primitive* primitive) {
  if (p.kind != kMaximum && p.kind != kAverage)
    return mx_fail("oneDNN: only max and average pooling are supported") == 0;
  if (!s.fits) return mx_fail("oneDNN: pooling windows exceed the padding") == 0;
  const int average = p.count_pad ? kPoolAverageWithPadding : kPoolAverage;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().pooling_forward_primitive_desc_create(
      &description, opened().engine, propagation, p.kind == kMaximum ? kPoolMax : average,
      s.layout(false, type), s.layout(true, type), s.stride.at, s.kernel.at, s.dilate.at,
      s.before.at, s.after.at, attributes.get());
  if (!primitive->take(status, description, "pooling")) return false;
  const bool fast = strncmp(primitive->implementation(), "jit", 3) == 0;
  return fast || mx_fail("oneDNN has no generated code for this pooling") == 0;
}

bool build_pool(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes s(p);
  const int type = data_type(call->in[0].dtype);
  if (!describe(p, s, kInference, type, &job->primitive())) return false;
  job->input(kSrc, 0, s.layout(false, type));
  job->output(kDst, 0, s.layout(true, type));
  return true;
}

// The gradient of max pooling would need the workspace of oneDNN's own forward pass.
bool build_grad(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes s(p);
  Primitive forward;
  if (p.kind != kAverage)
    return mx_fail("oneDNN: only the gradient of average pooling is supported") == 0;
  if (!describe(p, s, kTraining, kF32, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().pooling_backward_primitive_desc_create(
      &description, opened().engine, p.count_pad ? kPoolAverageWithPadding : kPoolAverage,
      s.layout(false), s.layout(true), s.stride.at, s.kernel.at, s.dilate.at, s.before.at,
      s.after.at, forward.description(), attributes.get());
  if (!job->primitive().take(status, description, "pooling backward")) return false;
  job->input(kDiffDst, 0, s.layout(true));
  job->output(kDiffSrc, 0, s.layout(false));
  return true;
}

}  // namespace

void register_pool() {
  add_kernel<P, build_pool>("pool_onednn", 1u << MX_F32 | 1u << MX_BF16);
  add_kernel<P, build_grad>("pool_grad_onednn", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
