// Softmax, log-softmax and their gradients (gradient, result -> gradient).
#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "params/activation.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_softmax_params P;

Layout layout_of(const P& p) { return Layout::rows({p.outer, p.extent, p.inner}); }

bool describe(const P& p, int propagation, int algorithm, Primitive* primitive) {
  if (p.scale != 1) return mx_fail("oneDNN: softmax with a temperature is not supported") == 0;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().softmax_forward_primitive_desc_create(
      &description, opened().engine, propagation, algorithm, layout_of(p), layout_of(p), 1,
      attributes.get());
  return primitive->take(status, description, "softmax");
}

template <int algorithm>
bool build(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  if (!describe(p, kInference, algorithm, &job->primitive())) return false;
  job->input(kSrc, 0, layout_of(p));
  job->output(kDst, 0, layout_of(p));
  return true;
}

template <int algorithm>
bool build_grad(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  Primitive forward;
  if (!describe(p, kTraining, algorithm, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().softmax_backward_primitive_desc_create(
      &description, opened().engine, algorithm, layout_of(p), layout_of(p), layout_of(p), 1,
      forward.description(), attributes.get());
  if (!job->primitive().take(status, description, "softmax backward")) return false;
  job->input(kDiffDst, 0, layout_of(p));
  job->input(kDst, 1, layout_of(p));
  job->output(kDiffSrc, 0, layout_of(p));
  return true;
}

}  // namespace

void register_softmax() {
  add_kernel<P, build<kSoftmax>>("softmax_onednn", 1u << MX_F32);
  add_kernel<P, build<kLogSoftmax>>("log_softmax_onednn", 1u << MX_F32);
  add_kernel<P, build_grad<kSoftmax>>("softmax_grad_onednn", 1u << MX_F32);
  add_kernel<P, build_grad<kLogSoftmax>>("log_softmax_grad_onednn", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
