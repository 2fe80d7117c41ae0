// Batch, layer and local response normalisation. oneDNN stores variances where the operators store
// standard deviations or their reciprocals.
#include <cmath>

#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "params/norm.gen.h"

namespace mx {
namespace onednn {
namespace {

constexpr unsigned kScaleShift = kUseScale | kUseShift;

void to_inverse(const float* variance, float* inverse, int64_t n, double eps) {
  for (int64_t i = 0; i < n; ++i) inverse[i] = (float)(1 / std::sqrt(variance[i] + eps));
}
void from_inverse(const float* inverse, float* variance, int64_t n, double eps) {
  for (int64_t i = 0; i < n; ++i) {
    variance[i] = (float)std::fmax(0, 1 / ((double)inverse[i] * inverse[i]) - eps);
  }
}
void to_deviation(const float* variance, float* deviation, int64_t n, double eps) {
  for (int64_t i = 0; i < n; ++i) deviation[i] = (float)std::sqrt(variance[i] + eps);
}
void from_deviation(const float* deviation, float* variance, int64_t n, double) {
  for (int64_t i = 0; i < n; ++i) variance[i] = deviation[i] * deviation[i];
}

// --- batch ---------------------------------------------------------------------------------------

typedef mx_batch_norm_params B;

Layout data_of(const B& p) { return Layout::rows({p.outer, p.channels, p.inner}); }

bool describe(const B& p, Primitive* primitive) {
  if (p.fix_gamma) return mx_fail("oneDNN: fix_gamma is not supported") == 0;
  if (!p.batch_stats)
    return mx_fail("oneDNN: batch normalization by moving statistics is not supported") == 0;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().batch_normalization_forward_primitive_desc_create(
      &description, opened().engine, kTraining, data_of(p), data_of(p), (float)p.eps, kScaleShift,
      attributes.get());
  return primitive->take(status, description, "batch normalization");
}

bool build_batch(const mx_call* call, Job* job) {
  const B& p = *static_cast<const B*>(call->params);
  if (!describe(p, &job->primitive())) return false;
  job->input(kSrc, 0, data_of(p));
  job->input(kScale, 1, Layout::rows({p.channels}));
  job->input(kShift, 2, Layout::rows({p.channels}));
  job->output(kDst, 0, data_of(p));
  job->output_as(nullptr, 0, kMean, 1, Layout::rows({p.channels}));
  job->output_as(to_inverse, p.eps, kVariance, 2, Layout::rows({p.channels}));
  return true;
}

void move_statistics(const mx_call* call) {
  const B& p = *static_cast<const B*>(call->params);
  const float* mean = static_cast<const float*>(call->in[3].data);
  const float* inverse = static_cast<const float*>(call->in[4].data);
  float* moving_mean = static_cast<float*>(call->in[5].data);
  float* moving_variance = static_cast<float*>(call->in[6].data);
  const double keep = p.momentum;
  for (int64_t c = 0; c < p.channels; ++c) {
    const double variance = 1 / ((double)inverse[c] * inverse[c]) - p.eps;
    moving_mean[c] = (float)(keep * moving_mean[c] + (1 - keep) * mean[c]);
    moving_variance[c] = (float)(keep * moving_variance[c] + (1 - keep) * variance);
  }
}

bool build_batch_grad(const mx_call* call, Job* job) {
  const B& p = *static_cast<const B*>(call->params);
  Primitive forward;
  if (!describe(p, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().batch_normalization_backward_primitive_desc_create(
      &description, opened().engine, kBackward, data_of(p), data_of(p), data_of(p), (float)p.eps,
      kScaleShift, forward.description(), attributes.get());
  if (!job->primitive().take(status, description, "batch normalization backward")) return false;
  job->input(kDiffDst, 0, data_of(p));
  job->input(kSrc, 1, data_of(p));
  job->input(kScale, 2, Layout::rows({p.channels}));
  job->input(kMean, 3, Layout::rows({p.channels}));
  job->input_as(from_inverse, p.eps, kVariance, 4, Layout::rows({p.channels}));
  job->output(kDiffSrc, 0, data_of(p));
  job->output_as(nullptr, 0, kDiffScale, 1, Layout::rows({p.channels}));
  job->output_as(nullptr, 0, kDiffShift, 2, Layout::rows({p.channels}));
  job->then(move_statistics);
  return true;
}

// --- layer ---------------------------------------------------------------------------------------

typedef mx_row_norm_params R;

Layout data_of(const R& p) { return Layout::rows({p.rows, p.length}); }
Layout vector_of(const R& p) { return Layout::rows({p.length}); }
Layout statistics_of(const R& p) { return Layout::rows({p.rows}); }

bool describe(const R& p, Primitive* primitive) {
  if (p.block != 1 || p.count != p.length)
    return mx_fail("oneDNN: only layer normalization is supported") == 0;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().layer_normalization_forward_primitive_desc_create(
      &description, opened().engine, kTraining, data_of(p), data_of(p), statistics_of(p),
      (float)p.eps, kScaleShift, attributes.get());
  return primitive->take(status, description, "layer normalization");
}

bool build_layer(const mx_call* call, Job* job) {
  const R& p = *static_cast<const R*>(call->params);
  if (!describe(p, &job->primitive())) return false;
  job->input(kSrc, 0, data_of(p));
  job->input(kScale, 1, vector_of(p));
  job->input(kShift, 2, vector_of(p));
  job->output(kDst, 0, data_of(p));
  job->output_as(nullptr, 0, kMean, 1, statistics_of(p));
  job->output_as(to_deviation, p.eps, kVariance, 2, statistics_of(p));
  return true;
}

bool build_layer_grad(const mx_call* call, Job* job) {
  const R& p = *static_cast<const R*>(call->params);
  Primitive forward;
  if (!describe(p, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().layer_normalization_backward_primitive_desc_create(
      &description, opened().engine, kBackward, data_of(p), data_of(p), data_of(p),
      statistics_of(p), (float)p.eps, kScaleShift, forward.description(), attributes.get());
  if (!job->primitive().take(status, description, "layer normalization backward")) return false;
  job->input(kDiffDst, 0, data_of(p));
  job->input(kSrc, 1, data_of(p));
  job->input(kScale, 2, vector_of(p));
  job->input(kMean, 3, statistics_of(p));
  job->input_as(from_deviation, 0, kVariance, 4, statistics_of(p));
  // Some versions count the shift among the inputs without using it.
  if (job->primitive().inputs() == 6) job->input(kShift, 2, vector_of(p));
  job->output(kDiffSrc, 0, data_of(p));
  job->output_as(nullptr, 0, kDiffScale, 1, vector_of(p));
  job->output_as(nullptr, 0, kDiffShift, 2, vector_of(p));
  return true;
}

// --- local response ------------------------------------------------------------------------------

typedef mx_lrn_params L;

// For a blocked array: its last extent is the block.
bool build_lrn(const mx_call* call, Job* job) {
  const L& p = *static_cast<const L*>(call->params);
  const mx_tensor& data = call->in[0];
  const int64_t block = data.shape[data.ndim - 1];
  if (block != 8 && block != 16)
    return mx_fail("oneDNN: only blocks of 8 or 16 channels are supported") == 0;
  if (p.nsize % 2 == 0) return mx_fail("oneDNN: only odd window sizes are supported") == 0;
  if (p.nsize > 2 * p.channels + 1)
    return mx_fail("oneDNN: windows larger than the channels are not supported") == 0;
  const Extents extents = {p.outer, p.channels, p.inner, 1};
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().lrn_forward_primitive_desc_create(
      &description, opened().engine, kInference, kLrnAcrossChannels,
      Layout::channels(extents, (int)block), Layout::channels(extents, (int)block), p.nsize,
      (float)p.alpha, (float)p.beta, (float)p.knorm, attributes.get());
  if (!job->primitive().take(status, description, "LRN")) return false;
  job->input(kSrc, 0, Layout::channels(extents, (int)block));
  job->output(kDst, 0, Layout::channels(extents, (int)block));
  return true;
}

}  // namespace

void register_norm() {
  add_kernel<B, build_batch>("batch_norm_onednn", 1u << MX_F32);
  add_kernel<B, build_batch_grad>("batch_norm_grad_onednn", 1u << MX_F32);
  add_kernel<R, build_layer>("row_norm_onednn", 1u << MX_F32);
  add_kernel<R, build_layer_grad>("row_norm_grad_onednn", 1u << MX_F32);
  add_kernel<L, build_lrn>("blocked_lrn_onednn", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
