// Convolution in training: forward, data gradient and weight gradient. For plain arrays oneDNN
// chooses the layouts, and jobs reorder inputs and outputs; for blocked ones ("conv_train_..") only
// the weights, which are plain, are reordered. All arrays of a call have one dtype; sums are
// accumulated in float32.
#include <cstring>

#include "onednn/cache.h"
#include "onednn/halves.h"
#include "onednn/kernels.h"
#include "params/convolution.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_conv_params Plain;
typedef mx_fused_conv_params Blocked;

// Extents in oneDNN's form; `source` and `target` are those of the convolution itself, also for its
// transposes.
struct Shapes {
  Extents source, target, weight, stride, dilate, before, after;
  Extents transposed, transposed_strides;  // weight of the transposed convolution

  template <class P>
  explicit Shapes(const P& p)
      : source{p.batch, p.groups * p.channels}, target{p.batch, p.groups * p.filters} {
    const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
    if (p.groups > 1) {
      weight.add(p.groups);
      transposed.add(p.groups);
      transposed_strides.add(p.filters * p.channels * taps);
    }
    weight.add(p.filters);
    weight.add(p.channels);
    transposed.add(p.channels);
    transposed.add(p.filters);
    transposed_strides.add(taps);
    transposed_strides.add(p.channels * taps);
    const bool flat = p.source[0] == 1 && p.kernel[0] == 1 && p.pad[0] == 0;
    int64_t step = taps;
    for (int i = flat ? 1 : 0; i < 3; ++i) {
      step /= p.kernel[i];
      source.add(p.source[i]);
      target.add(p.target[i]);
      weight.add(p.kernel[i]);
      transposed.add(p.kernel[i]);
      transposed_strides.add(step);
      stride.add(p.stride[i]);
      dilate.add(p.dilate[i] - 1);
      before.add(p.pad[i]);
      after.add(end_padding(p, i));
    }
  }

  // The end padding for which the windows fit; if possible, the same as at the beginning.
  template <class P>
  static int64_t end_padding(const P& p, int i) {
    const int64_t reach = (p.kernel[i] - 1) * p.dilate[i] + 1;
    const int64_t slack = p.source[i] + 2 * p.pad[i] - reach;
    if (slack / p.stride[i] + 1 == p.target[i]) return p.pad[i];
    return (p.target[i] - 1) * p.stride[i] + reach - p.source[i] - p.pad[i];
  }
};

bool fast(const Primitive& primitive, int type) {
  if (strncmp(primitive.implementation(), "ref", 3) == 0)
    return mx_fail("oneDNN has only a reference implementation of this convolution") == 0;
  return in_hardware(primitive, type);
}

// Layouts of source and target in the call, and those in which primitives are described: if at
// least one array is blocked, both stay as they are.
Layout placed(const Extents& extents, int type, int block) {
  return block ? Layout::channels(extents, block, type) : Layout::rows(extents, type);
}
Layout source_in(const Plain&, const Shapes& s, int type) { return Layout::rows(s.source, type); }
Layout target_in(const Plain&, const Shapes& s, int type) { return Layout::rows(s.target, type); }
Layout source_of(const Plain&, const Shapes& s, int type) { return Layout::any(s.source, type); }
Layout target_of(const Plain&, const Shapes& s, int type) { return Layout::any(s.target, type); }
Layout source_in(const Blocked& p, const Shapes& s, int type) {
  return placed(s.source, type, p.in_block);
}
Layout target_in(const Blocked& p, const Shapes& s, int type) {
  return placed(s.target, type, p.out_block);
}
Layout source_of(const Blocked& p, const Shapes& s, int type) { return source_in(p, s, type); }
Layout target_of(const Blocked& p, const Shapes& s, int type) { return target_in(p, s, type); }

template <class P>
bool describe_forward(const P& p, const Shapes& s, int type, const Layout& bias, int propagation,
                      Primitive* primitive) {
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().convolution_forward_primitive_desc_create(
      &description, opened().engine, propagation, kConvolutionDirect, source_of(p, s, type),
      Layout::any(s.weight, type), bias, target_of(p, s, type), s.stride.at, s.dilate.at,
      s.before.at, s.after.at, attributes.get());
  return primitive->take(status, description, "convolution");
}

template <class P>
bool build_forward(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes s(p);
  const int type = data_type(call->in[0].dtype);
  const Extents filters = {p.groups * p.filters};
  Primitive& primitive = job->primitive();
  if (!describe_forward(p, s, type, call->nin > 2 ? Layout::rows(filters, type) : Layout(),
                        kInference, &primitive) ||
      !fast(primitive, type))
    return false;
  job->input(kSrc, 0, source_in(p, s, type));
  job->input(kWeights, 1, Layout::rows(s.weight, type));
  if (call->nin > 2) job->input(kBias, 2, Layout::rows(filters, type));
  job->output(kDst, 0, target_in(p, s, type));
  return true;
}

// The transpose with respect to the data, a deconvolution; it may have a bias.
template <class P>
bool build_data(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes s(p);
  const int type = data_type(call->in[0].dtype);
  const Extents channels = {p.groups * p.channels};
  Primitive& primitive = job->primitive();
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().deconvolution_forward_primitive_desc_create(
      &description, opened().engine, kInference, kDeconvolutionDirect, target_of(p, s, type),
      Layout::any(s.transposed, type), call->nin > 2 ? Layout::rows(channels, type) : Layout(),
      source_of(p, s, type), s.stride.at, s.dilate.at, s.before.at, s.after.at, attributes.get());
  if (!primitive.take(status, description, "deconvolution") || !fast(primitive, type)) return false;
  job->input(kSrc, 0, target_in(p, s, type));
  job->input(kWeights, 1, Layout::strided(s.transposed, s.transposed_strides, type));
  if (call->nin > 2) job->input(kBias, 2, Layout::rows(channels, type));
  job->output(kDst, 0, source_in(p, s, type));
  return true;
}

// The transpose of a 1 x 1 convolution of stride 1, a convolution, added to input 2: oneDNN's
// deconvolutions would add in a second pass.
bool build_data_sum(const mx_call* call, Job* job) {
  const Blocked& p = *static_cast<const Blocked*>(call->params);
  if (!p.sum) return build_data<Blocked>(call, job);
  for (int i = 0; i < 3; ++i) {
    if (p.kernel[i] != 1 || p.stride[i] != 1 || p.pad[i] != 0)
      return mx_fail("oneDNN: sums need a kernel of length 1 without steps and padding") == 0;
  }
  const Shapes s(p);
  const int type = data_type(call->in[0].dtype);
  Primitive& primitive = job->primitive();
  Attributes attributes;
  attributes.sum();
  dnnl_primitive_desc* description = nullptr;
  const int status = api().convolution_forward_primitive_desc_create(
      &description, opened().engine, kInference, kConvolutionDirect, target_of(p, s, type),
      Layout::any(s.transposed, type), Layout(), source_of(p, s, type), s.stride.at, s.dilate.at,
      s.before.at, s.after.at, attributes.get());
  if (!primitive.take(status, description, "convolution") || !fast(primitive, type)) return false;
  job->input(kSrc, 0, target_in(p, s, type));
  job->input(kWeights, 1, Layout::strided(s.transposed, s.transposed_strides, type));
  job->start_from(2, 0);
  job->output(kDst, 0, source_in(p, s, type));
  return true;
}

template <class P>
bool build_weight(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes s(p);
  const int type = data_type(call->in[0].dtype);
  Primitive forward, &primitive = job->primitive();
  if (!describe_forward(p, s, type, Layout(), kTraining, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().convolution_backward_weights_primitive_desc_create(
      &description, opened().engine, kConvolutionDirect, source_of(p, s, type),
      Layout::any(s.weight, type), Layout(), target_of(p, s, type), s.stride.at, s.dilate.at,
      s.before.at, s.after.at, forward.description(), attributes.get());
  if (!primitive.take(status, description, "convolution weight gradient") || !fast(primitive, type))
    return false;
  job->input(kSrc, 0, source_in(p, s, type));
  job->input(kDiffDst, 1, target_in(p, s, type));
  job->output(kDiffWeights, 0, Layout::rows(s.weight, type));
  return true;
}

}  // namespace

void register_conv_train() {
  constexpr uint32_t kBlockedTypes = 1u << MX_F32 | 1u << MX_BF16;
  add_kernel<Plain, build_forward<Plain>>("conv_onednn_plain", kFloats);
  add_kernel<Plain, build_data<Plain>>("conv_onednn_data", kFloats);
  add_kernel<Plain, build_weight<Plain>>("conv_onednn_weight", kFloats);
  add_kernel<Blocked, build_forward<Blocked>>("conv_train_onednn", kBlockedTypes);
  add_kernel<Blocked, build_data_sum>("conv_train_onednn_data", kBlockedTypes);
  add_kernel<Blocked, build_weight<Blocked>>("conv_train_onednn_weight", kBlockedTypes);
}

}  // namespace onednn
}  // namespace mx
