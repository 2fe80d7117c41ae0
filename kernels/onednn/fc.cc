// Dense layers for inference: what follows them done in the same pass; weights packed or row-major.
#include "onednn/cache.h"
#include "onednn/fuse.h"
#include "onednn/kernels.h"
#include "params.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_fused_dense_params P;

bool describe(const P& p, const Layout& weights, Primitive* primitive) {
  const Layout source = Layout::rows({p.rows, p.depth});
  const Layout target = Layout::rows({p.rows, p.hidden});
  const Layout bias = p.bias ? Layout::rows({p.hidden}) : Layout();
  Attributes attributes;
  if (p.sum) attributes.sum();
  if (!append_activation(&attributes, p.act, p.alpha, p.beta)) return false;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().inner_product_forward_primitive_desc_create(
      &description, opened().engine, kInference, source, weights, bias, target, attributes.get());
  return primitive->take(status, description, "inner product");
}

// As for convolutions: one layout whatever the number of threads of a run.
bool find_weights(const P& p, Layout* weights) {
  Team team(opened().threads);
  Primitive chosen;
  if (!describe(p, Layout::any({p.hidden, p.depth}), &chosen)) return false;
  *weights = Layout::copy(chosen.layout_of(kWeights));
  return true;
}

bool build_with(const mx_call* call, Layout weights, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  if (!describe(p, weights, &job->primitive())) return false;
  job->set_packed(weights);
  job->input(kSrc, 0, Layout::rows({p.rows, p.depth}));
  job->input(kWeights, 1, std::move(weights));
  if (p.bias) job->input(kBias, 2, Layout::rows({p.hidden}));
  job->output(kDst, 0, Layout::rows({p.rows, p.hidden}));
  if (p.sum) job->start_from(call->nin - 1, 0);
  return true;
}

// Where the library's own kernel is as fast on weights as they are (measured with AVX2, AVX-512).
bool packing_pays(const P& p) {
  if (p.rows == 1) return mx_fail("a single row streams through weights as fast as they lie") == 0;
  return p.rows * p.hidden * p.depth >= 1 << 18 || mx_fail("too small for packed weights") == 0;
}

bool build_packed(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  if (!packing_pays(p)) return false;
  Layout weights;
  return find_weights(p, &weights) && build_with(call, std::move(weights), job);
}

bool build_plain(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  return build_with(call, Layout::rows({p.hidden, p.depth}), job);
}

bool build_pack(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  Layout packed;
  return find_weights(p, &packed) &&
         describe_pack(Layout::rows({p.hidden, p.depth}), std::move(packed), job);
}

}  // namespace

void register_fc() {
  add_kernel<P, build_packed>("fc_onednn", 1u << MX_F32);
  add_kernel<P, build_plain>("fc_onednn_plain", 1u << MX_F32);
  add_kernel<P, build_pack>("fc_onednn_pack", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
