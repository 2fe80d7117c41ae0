// Dense layers for inference: what follows them done in the same pass; weights packed or row-major.
#include "onednn/cache.h"
#include "onednn/fuse.h"
#include "onednn/halves.h"
#include "onednn/kernels.h"
#include "params.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_fused_dense_params P;

bool describe(const P& p, int type, const Layout& weights, Primitive* primitive) {
  const Layout source = Layout::rows({p.rows, p.depth}, type);
  const Layout target = Layout::rows({p.rows, p.hidden}, type);
  const Layout bias = p.bias ? Layout::rows({p.hidden}, type) : Layout();
  Attributes attributes;
  if (p.sum) attributes.sum();
  if (!append_activation(&attributes, p.act, p.alpha, p.beta)) return false;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().inner_product_forward_primitive_desc_create(
      &description, opened().engine, kInference, source, weights, bias, target, attributes.get());
  return primitive->take(status, description, "inner product") && in_hardware(*primitive, type);
}

// As for convolutions: one layout whatever the number of threads of a run.
bool find_weights(const P& p, Layout* weights) {
  Team team(opened().threads);
  Primitive chosen;
  if (!describe(p, kF32, Layout::any({p.hidden, p.depth}), &chosen)) return false;
  *weights = Layout::copy(chosen.layout_of(kWeights));
  return true;
}

// The call's tensors, with weights that lie as told.
void bind(const mx_call* call, Layout weights, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const int type = data_type(call->in[0].dtype);
  job->input(kSrc, 0, Layout::rows({p.rows, p.depth}, type));
  job->input(kWeights, 1, std::move(weights));
  if (p.bias) job->input(kBias, 2, Layout::rows({p.hidden}, type));
  job->output(kDst, 0, Layout::rows({p.rows, p.hidden}, type));
  if (p.sum) job->start_from(call->nin - 1, 0);
}

bool build_with(const mx_call* call, Layout weights, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  if (!describe(p, kF32, weights, &job->primitive())) return false;
  job->set_packed(weights);
  bind(call, std::move(weights), job);
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

// Weights of narrow numbers are put in oneDNN's order in each run: its kernels gain more than that.
bool build_plain(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const int type = data_type(call->in[0].dtype);
  const Extents extents = {p.hidden, p.depth};
  if (type == kF32) return build_with(call, Layout::rows(extents), job);
  if (!describe(p, type, Layout::any(extents, type), &job->primitive())) return false;
  bind(call, Layout::rows(extents, type), job);
  return true;
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
  add_kernel<P, build_plain>("fc_onednn_plain", kFloats);
  add_kernel<P, build_pack>("fc_onednn_pack", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
