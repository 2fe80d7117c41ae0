// Int8 convolutions and dense layers for inference: weights packed in advance, a scale per filter,
// epilogue in the same pass. Images are channels-last. The inputs are data, weights, scales, bias
// and residual; the last two are optional.
#include <cstring>

#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "onednn/window.h"
#include "params/int8.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_int8_conv_params Conv;
typedef mx_int8_dense_params Dense;
enum Act { kNone, kPositive, kLimited };

// The epilogue; `mask` selects the dimensions of the weights along which scales differ.
template <class P>
void append_rest(const P& p, int mask, Attributes* attributes) {
  attributes->scales(kWeights, mask);
  if (p.sum) attributes->sum((float)p.other_scale, data_type(p.other_type));
  if (p.act == kPositive) attributes->eltwise(kRelu, 0, 0);
  if (p.act == kLimited) attributes->eltwise(kClip, 0, (float)p.limit);
}

bool fast(const Primitive& primitive) {
  return strncmp(primitive.implementation(), "ref", 3) != 0 ||
         mx_fail("oneDNN has only a reference implementation of this int8 layer") == 0;
}

struct ConvShapes : WindowExtents {
  int64_t filters;
  int mask;

  explicit ConvShapes(const Conv& p)
      : WindowExtents(in_one_image(p), false),
        filters(p.groups * p.filters),
        mask(p.groups > 1 ? 3 : 1) {}

  Layout source_layout(const Conv& p) const {
    return Layout::channels_last(source, data_type(p.source_type));
  }
  Layout target_layout(const Conv& p) const {
    return Layout::channels_last(target, data_type(p.target_type));
  }
  Layout plain_weights() const { return Layout::strided(weights, weight_strides, kS8); }
};

bool describe(const Conv& p, const ConvShapes& s, Md weights, Primitive* primitive) {
  const Layout bias = p.bias ? Layout::rows({s.filters}) : Layout();
  Attributes attributes;
  append_rest(p, s.mask, &attributes);
  dnnl_primitive_desc* description = nullptr;
  const int status = api().convolution_forward_primitive_desc_create(
      &description, opened().engine, kInference, kConvolutionDirect, s.source_layout(p), weights,
      bias, s.target_layout(p), s.stride.at, s.dilate.at, s.pad.at, s.pad.at, attributes.get());
  return primitive->take(status, description, "convolution of 8 bits") && fast(*primitive);
}

struct DenseShapes {
  Extents source, weights, target;
  int64_t filters;

  explicit DenseShapes(const Dense& p)
      : source{p.rows, p.depth},
        weights{p.hidden, p.depth},
        target{p.rows, p.hidden},
        filters(p.hidden) {}

  Layout source_layout(const Dense& p) const {
    return Layout::rows(source, data_type(p.source_type));
  }
  Layout target_layout(const Dense& p) const {
    return Layout::rows(target, data_type(p.target_type));
  }
  Layout plain_weights() const { return Layout::rows(weights, kS8); }
};

bool describe(const Dense& p, const DenseShapes& s, Md weights, Primitive* primitive) {
  const Layout bias = p.bias ? Layout::rows({s.filters}) : Layout();
  Attributes attributes;
  append_rest(p, 1, &attributes);
  dnnl_primitive_desc* description = nullptr;
  const int status = api().inner_product_forward_primitive_desc_create(
      &description, opened().engine, kInference, s.source_layout(p), weights, bias,
      s.target_layout(p), attributes.get());
  return primitive->take(status, description, "inner product of 8 bits") && fast(*primitive);
}

// Whether both one thread and the whole team have a fast kernel for weights in a layout: queries do
// not know yet how many threads will run it.
template <class P, class Shapes>
bool serves_all_teams(const P& p, const Shapes& shapes, const Layout& weights) {
  for (const int threads : {1, opened().threads}) {
    Team team(threads);
    Primitive tried;
    if (!describe(p, shapes, weights, &tried)) return false;
  }
  return true;
}

int64_t Conv::* extent_of_batch(const Conv&) { return &Conv::batch; }
int64_t Dense::* extent_of_batch(const Dense&) { return &Dense::rows; }

// As for float convolutions, one layout for every number of threads: oneDNN's preference among
// those that suit all. Blocks of filters depend on the number of threads and the batch size, so its
// choices for others are tried as well. With AMX often no layout suits all; then it is the one for
// the whole team, and a single thread reorders the weights on each run, which a trial of both will
// reveal.
template <class P, class Shapes>
bool find_weights(const P& p, Layout* weights) {
  if (p.zero) return mx_fail("oneDNN: int8 layers with a zero point are not supported") == 0;
  const Shapes shapes(p);
  const auto extent = extent_of_batch(p);
  *weights = Layout();
  for (const int64_t batch : {p.*extent, (int64_t)1, (int64_t)8}) {
    for (const int threads : {opened().threads, 1}) {
      P other = p;
      other.*extent = batch;
      Primitive chosen;
      {
        Team team(threads);
        const Shapes theirs(other);
        if (!describe(other, theirs, Layout::any(theirs.weights, kS8), &chosen)) continue;
      }
      Layout theirs = Layout::copy(chosen.layout_of(kWeights));
      const bool serves = serves_all_teams(p, shapes, theirs);
      if (serves || (!*weights && batch == p.*extent && threads == opened().threads))
        *weights = std::move(theirs);
      if (serves) return true;
    }
  }
  return *weights;
}

// Describe the layer for weights in a layout, or in another one to which they will be reordered.
template <class P, class Shapes>
bool describe_for(const P& p, const Shapes& shapes, const Layout& weights, Primitive* primitive) {
  return describe(p, shapes, weights, primitive) ||
         describe(p, shapes, Layout::any(shapes.weights, kS8), primitive);
}

template <class P, class Shapes>
bool build_layer(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes shapes(p);
  Layout weights;
  if (!find_weights<P, Shapes>(p, &weights) || !describe_for(p, shapes, weights, &job->primitive()))
    return false;
  job->set_packed(weights);
  job->input(kSrc, 0, shapes.source_layout(p));
  job->input(kWeights, 1, std::move(weights));
  job->scales(kWeights, 2, Layout::rows({shapes.filters}));
  if (p.bias) job->input(kBias, 3, Layout::rows({shapes.filters}));
  job->output(kDst, 0, shapes.target_layout(p));
  if (p.sum) job->start_from(call->nin - 1, 0);
  return true;
}

template <class P, class Shapes>
bool build_pack(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Shapes shapes(p);
  Layout packed;
  return find_weights<P, Shapes>(p, &packed) &&
         describe_pack(shapes.plain_weights(), std::move(packed), job);
}

// Whether oneDNN has kernels here with exact int32 sums: others add pairs of products in saturating
// 16-bit arithmetic, or halve the weights first.
bool sums_are_exact() {
  Conv p = {};
  p.batch = p.groups = 1;
  p.channels = p.filters = 64;
  for (int i = 0; i < 3; ++i) {
    p.source[i] = p.target[i] = i > 0 ? 8 : 1;
    p.kernel[i] = p.stride[i] = p.dilate[i] = 1;
  }
  p.source_type = p.target_type = p.other_type = MX_U8;
  const ConvShapes shapes(p);
  Primitive probe;
  if (!describe(p, shapes, Layout::any(shapes.weights, kS8), &probe)) return false;
  const char* implementation = probe.implementation();
  return strstr(implementation, "vnni") || strstr(implementation, "amx");
}

}  // namespace

void register_int8() {
  if (!sums_are_exact()) return;
  const uint32_t kinds = 1u << MX_I8 | 1u << MX_U8;
  add_kernel<Conv, build_layer<Conv, ConvShapes>>("int8_conv_onednn", kinds);
  add_kernel<Conv, build_pack<Conv, ConvShapes>>("int8_conv_onednn_pack", 1u << MX_I8);
  add_kernel<Dense, build_layer<Dense, DenseShapes>>("int8_dense_onednn", kinds);
  add_kernel<Dense, build_pack<Dense, DenseShapes>>("int8_dense_onednn_pack", 1u << MX_I8);
}

}  // namespace onednn
}  // namespace mx
