// Convolution and deconvolution for inference: weights packed in advance, epilogue in the same
// pass.
#include <cstring>

#include "onednn/cache.h"
#include "onednn/fuse.h"
#include "onednn/halves.h"
#include "onednn/kernels.h"
#include "onednn/window.h"
#include "params/convolution.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_fused_conv_params P;

enum Map { kStraight, kTransposed };  // convolution, deconvolution
// Layout of arrays whose parameters name a block: channel blocks, or channels-last, which AMX
// kernels read.
enum Form { kBlocks, kLast };

struct Shapes : WindowExtents {
  Extents bias, after;  // after: the padding at the end

  Shapes(const P& p, Map map) : WindowExtents(p, map == kTransposed), bias{p.groups * p.filters} {
    for (int i = first_axis; i < 3; ++i) {
      const int64_t whole = (p.source[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilate[i] + 1;
      after.add(map == kStraight ? p.pad[i] : whole - p.pad[i] - p.target[i]);
    }
  }

  Layout plain_weights() const { return Layout::strided(weights, weight_strides); }
};

// oneDNN implements some deconvolutions by a convolution and then applies the epilogue element by
// element.
bool in_two_passes(const Primitive& primitive) {
  return strncmp(primitive.implementation(), "conv:", 5) == 0;
}

bool fast(const P& p, int type, const Primitive& primitive) {
  const char* implementation = primitive.implementation();
  if (strncmp(implementation, "ref", 3) == 0 || strstr(implementation, "+ref"))
    return mx_fail("oneDNN has only a reference implementation of this convolution") == 0;
  if (p.sum && in_two_passes(primitive))
    return mx_fail("oneDNN has no deconvolution with a residual") == 0;
  return in_hardware(primitive, type);
}

Layout layout_of(const Extents& extents, int block, int type, Form form) {
  return form == kLast && block ? Layout::channels_last(extents, type)
                                : Layout::channels(extents, block, type);
}

// `tile` selects the layouts, to which jobs reorder if necessary. Deconvolutions: 0, oneDNN's
// choice; 1, the arrays' own; 2, row-major. Convolutions: 0, the arrays' own; 1, oneDNN's choice.
// Arrays have dtype `type`, the bias has float32.
bool describe(const P& p, Map map, int type, Form form, const Layout& weights,
              Primitive* primitive) {
  const Shapes shapes(p, map);
  const bool straight = map == kStraight, free = straight ? p.tile == 1 : p.tile == 0;
  if (straight && free && p.in_block && p.out_block)
    return mx_fail("convolutions of blocked arrays keep their layouts") == 0;
  const bool rows = !straight && p.tile == 2;
  const Layout source = free ? Layout::any(shapes.source, type)
                             : layout_of(shapes.source, rows ? 0 : p.in_block, type, form);
  const Layout target = free ? Layout::any(shapes.target, type)
                             : layout_of(shapes.target, rows ? 0 : p.out_block, type, form);
  const Layout bias = p.bias ? Layout::rows(shapes.bias) : Layout();
  Attributes attributes;
  if (p.sum) attributes.sum();
  if (!append_activation(&attributes, p.act, p.alpha, p.beta)) return false;
  dnnl_primitive_desc* description = nullptr;
  const auto create = straight ? api().convolution_forward_primitive_desc_create
                               : api().deconvolution_forward_primitive_desc_create;
  const int status =
      create(&description, opened().engine, kInference,
             straight ? kConvolutionDirect : kDeconvolutionDirect, source, weights, bias, target,
             shapes.stride.at, shapes.dilate.at, shapes.pad.at, shapes.after.at, attributes.get());
  return primitive->take(status, description, straight ? "convolution" : "deconvolution") &&
         fast(p, type, *primitive);
}

// Choose the weights' layout for one number of threads, so that every run finds them as they were
// packed. Removes the activation from the parameters if it has to be a separate pass.
bool find_weights(P* p, Map map, int type, Form form, Layout* weights) {
  Team team(opened().threads);
  Primitive chosen;
  if (!describe(*p, map, type, form, Layout::any(Shapes(*p, map).weights, type), &chosen))
    return false;
  if (in_two_passes(chosen)) p->act = 0;
  *weights = Layout::copy(chosen.layout_of(kWeights));
  return true;
}

// Describe the layer for packed weights or, if another number of threads only supports other
// layouts, for one of these, to which each run reorders the weights.
bool describe_for(const P& p, Map map, int type, Form form, const Layout& weights,
                  Primitive* primitive) {
  if (describe(p, map, type, form, weights, primitive)) return true;
  return form == kLast &&
         describe(p, map, type, form, Layout::any(Shapes(p, map).weights, type), primitive);
}

// The parameters of a call.
P parameters(const mx_call* call, Form form) {
  const P& p = *static_cast<const P*>(call->params);
  return form == kLast && p.in_block && p.out_block ? in_one_image(p) : p;
}

template <Map map, int type, Form form = kBlocks>
bool build_conv(const mx_call* call, Job* job) {
  P p = parameters(call, form);
  const int act = p.act;
  Layout weights;
  if (!find_weights(&p, map, type, form, &weights) ||
      !describe_for(p, map, type, form, weights, &job->primitive()))
    return false;
  const Shapes shapes(p, map);
  job->set_packed(weights);
  job->input(kSrc, 0, layout_of(shapes.source, p.in_block, type, form));
  job->input(kWeights, 1, std::move(weights));
  if (p.bias) job->input(kBias, 2, Layout::rows(shapes.bias));
  job->output(kDst, 0, layout_of(shapes.target, p.out_block, type, form));
  if (p.sum) job->start_from(call->nin - 1, 0);
  if (p.act != act) return describe_activation(act, p.alpha, p.beta, job);
  return true;
}

template <Map map, int type, Form form = kBlocks>
bool build_pack(const mx_call* call, Job* job) {
  P p = parameters(call, form);
  Layout packed;
  return find_weights(&p, map, type, form, &packed) &&
         describe_pack(Shapes(p, map).plain_weights(), std::move(packed), job);
}

// Whether oneDNN multiplies bfloat16 with AMX on this CPU, given its settings.
bool has_tiles() {
  P p = {};
  p.batch = p.groups = 1;
  p.channels = p.filters = 64;
  for (int i = 0; i < 3; ++i) {
    p.source[i] = p.target[i] = i > 0 ? 8 : 1;
    p.kernel[i] = p.stride[i] = p.dilate[i] = 1;
  }
  p.in_block = p.out_block = 64;
  Primitive probe;
  return describe(p, kStraight, kBf16, kLast, Layout::any(Shapes(p, kStraight).weights, kBf16),
                  &probe) &&
         strstr(probe.implementation(), "amx") != nullptr;
}

}  // namespace

void register_conv() {
  add_kernel<P, build_conv<kStraight, kF32>>("conv_onednn", 1u << MX_F32);
  add_kernel<P, build_pack<kStraight, kF32>>("conv_onednn_pack", 1u << MX_F32);
  add_kernel<P, build_conv<kStraight, kBf16>>("conv_onednn_bf16", 1u << MX_BF16);
  add_kernel<P, build_pack<kStraight, kBf16>>("conv_onednn_bf16_pack", 1u << MX_F32);
  if (has_tiles()) {
    add_kernel<P, build_conv<kStraight, kBf16, kLast>>("conv_onednn_tiles", 1u << MX_BF16);
    add_kernel<P, build_pack<kStraight, kBf16, kLast>>("conv_onednn_tiles_pack", 1u << MX_F32);
  }
  add_kernel<P, build_conv<kTransposed, kF32>>("deconv_onednn", 1u << MX_F32);
  add_kernel<P, build_pack<kTransposed, kF32>>("deconv_onednn_pack", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
