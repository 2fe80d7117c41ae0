// Convolution for inference: weights packed beforehand, what follows it done in the same pass.
#include <cstring>

#include "onednn/cache.h"
#include "onednn/fuse.h"
#include "onednn/kernels.h"
#include "params.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_fused_conv_params P;

// The extents of a convolution's arrays, with as few spatial dimensions as will do.
struct Shapes {
  Extents source, weights, bias, target, stride, dilate, pad;

  explicit Shapes(const P& p)
      : source{p.batch, p.groups * p.channels},
        bias{p.groups * p.filters},
        target{p.batch, p.groups * p.filters} {
    if (p.groups > 1) weights.add(p.groups);
    weights.add(p.filters);
    weights.add(p.channels);
    const bool flat = p.source[0] == 1 && p.kernel[0] == 1 && p.pad[0] == 0;
    for (int i = flat ? 1 : 0; i < 3; ++i) {
      source.add(p.source[i]);
      target.add(p.target[i]);
      weights.add(p.kernel[i]);
      stride.add(p.stride[i]);
      dilate.add(p.dilate[i] - 1);
      pad.add(p.pad[i]);
    }
  }
};

bool describe(const P& p, const Layout& weights, Primitive* primitive) {
  const Shapes shapes(p);
  const Layout source = Layout::channels(shapes.source, p.in_block);
  const Layout target = Layout::channels(shapes.target, p.out_block);
  const Layout bias = p.bias ? Layout::rows(shapes.bias) : Layout();
  Attributes attributes;
  if (p.sum) attributes.sum();
  if (!append_activation(&attributes, p.act, p.alpha, p.beta)) return false;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().convolution_forward_primitive_desc_create(
      &description, opened().engine, kInference, kConvolutionDirect, source, weights, bias, target,
      shapes.stride.at, shapes.dilate.at, shapes.pad.at, shapes.pad.at, attributes.get());
  if (!primitive->take(status, description, "convolution")) return false;
  const char* implementation = primitive->implementation();
  return strncmp(implementation, "ref", 3) != 0 ||
         mx_fail("oneDNN has only its reference for this convolution") == 0;
}

// Weights are laid out for one number of threads, so that every run finds them as they were packed.
bool find_weights(const P& p, Layout* weights) {
  Team team(opened().threads);
  Primitive chosen;
  if (!describe(p, Layout::any(Shapes(p).weights), &chosen)) return false;
  *weights = Layout::copy(chosen.layout_of(kWeights));
  return true;
}

bool build_conv(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  Layout weights;
  if (!find_weights(p, &weights) || !describe(p, weights, &job->primitive())) return false;
  const Shapes shapes(p);
  job->set_packed(weights);
  job->input(kSrc, 0, Layout::channels(shapes.source, p.in_block));
  job->input(kWeights, 1, std::move(weights));
  if (p.bias) job->input(kBias, 2, Layout::rows(shapes.bias));
  job->output(kDst, 0, Layout::channels(shapes.target, p.out_block));
  if (p.sum) job->start_from(call->nin - 1, 0);
  return true;
}

bool build_pack(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  Layout packed;
  return find_weights(p, &packed) && describe_pack(Shapes(p).weights, std::move(packed), job);
}

}  // namespace

void register_conv() {
  add_kernel<P, build_conv>("conv_onednn", 1u << MX_F32);
  add_kernel<P, build_pack>("conv_onednn_pack", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
