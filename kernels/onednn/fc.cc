// Dense layers for inference, epilogue in the same pass; weights packed or row-major.
#include "onednn/cache.h"
#include "onednn/fuse.h"
#include "onednn/halves.h"
#include "onednn/kernels.h"
#include "params/fused.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_fused_dense_params P;

// Dtypes of data and weights, of the bias, and of the result.
struct Types {
  int data, bias, result;
};

bool describe(const P& p, const Types& types, const Layout& weights, Primitive* primitive) {
  const Layout source = Layout::rows({p.rows, p.depth}, types.data);
  const Layout target = Layout::rows({p.rows, p.hidden}, types.result);
  const Layout bias = p.bias ? Layout::rows({p.hidden}, types.bias) : Layout();
  Attributes attributes;
  if (p.sum) attributes.sum();
  if (!append_activation(&attributes, p.act, p.alpha, p.beta)) return false;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().inner_product_forward_primitive_desc_create(
      &description, opened().engine, kInference, source, weights, bias, target, attributes.get());
  return primitive->take(status, description, "inner product") &&
         in_hardware(*primitive, types.data);
}

// As for convolutions: one layout for every number of threads.
bool find_weights(const P& p, int type, Layout* weights) {
  Team team(opened().threads);
  Primitive chosen;
  const Types types = {type, kF32, type};
  if (!describe(p, types, Layout::any({p.hidden, p.depth}, type), &chosen)) return false;
  *weights = Layout::copy(chosen.layout_of(kWeights));
  return true;
}

// Bind the call's tensors, with the weights in the given layout.
void bind(const mx_call* call, const Types& types, Layout weights, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  job->input(kSrc, 0, Layout::rows({p.rows, p.depth}, types.data));
  job->input(kWeights, 1, std::move(weights));
  if (p.bias) job->input(kBias, 2, Layout::rows({p.hidden}, types.bias));
  job->output(kDst, 0, Layout::rows({p.rows, p.hidden}, types.result));
  if (p.sum) job->start_from(call->nin - 1, 0);
}

bool build_with(const mx_call* call, int type, Layout weights, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Types types = {type, kF32, data_type(call->out[0].dtype)};
  if (!describe(p, types, weights, &job->primitive())) return false;
  job->set_packed(weights);
  bind(call, types, std::move(weights), job);
  return true;
}

// Whether oneDNN beats our own kernel on plain weights (measured with AVX2 and AVX-512). There is
// no such kernel for 16-bit dtypes.
bool packing_pays(const P& p, int type) {
  if (p.rows == 1 && type == kF32)
    return mx_fail("a single row is faster with panels of weights") == 0;
  return p.rows * p.hidden * p.depth >= 1 << 18 ||
         mx_fail("too small to profit from packed weights") == 0;
}

template <int type>
bool build_packed(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  if (!packing_pays(p, type)) return false;
  Layout weights;
  return find_weights(p, type, &weights) && build_with(call, type, std::move(weights), job);
}

// 16-bit weights are reordered on every run: oneDNN's kernels save more than that costs.
bool build_plain(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const int type = data_type(call->in[0].dtype);
  const Extents extents = {p.hidden, p.depth};
  if (type == kF32) return build_with(call, type, Layout::rows(extents), job);
  const Types types = {type, type, type};
  if (!describe(p, types, Layout::any(extents, type), &job->primitive())) return false;
  bind(call, types, Layout::rows(extents, type), job);
  return true;
}

template <int type>
bool build_pack(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  Layout packed;
  return find_weights(p, type, &packed) &&
         describe_pack(Layout::rows({p.hidden, p.depth}), std::move(packed), job);
}

}  // namespace

void register_fc() {
  add_kernel<P, build_packed<kF32>>("fc_onednn", 1u << MX_F32);
  add_kernel<P, build_packed<kBf16>>("fc_onednn_bf16", 1u << MX_BF16);
  add_kernel<P, build_plain>("fc_onednn_plain", kFloats);
  add_kernel<P, build_pack<kF32>>("fc_onednn_pack", 1u << MX_F32);
  add_kernel<P, build_pack<kBf16>>("fc_onednn_bf16_pack", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
