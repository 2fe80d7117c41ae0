// oneDNN's elementwise kernels: activations and their gradients, sums, concatenation, reorders to
// blocked layouts.
#include "core/tensor.h"
#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "params/shape.gen.h"

namespace mx {
namespace onednn {
namespace {

Layout line(const mx_tensor& tensor) { return Layout::rows({count(tensor)}); }

bool describe(const mx_tensor& data, int propagation, int algorithm, float alpha,
              Primitive* primitive) {
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().eltwise_forward_primitive_desc_create(
      &description, opened().engine, propagation, algorithm, line(data), line(data), alpha, 0,
      attributes.get());
  return primitive->take(status, description, "eltwise");
}

template <int algorithm>
bool build(const mx_call* call, Job* job) {
  const float alpha = algorithm == kSoftRelu ? 1 : 0;
  if (!describe(call->in[0], kInference, algorithm, alpha, &job->primitive())) return false;
  job->input(kSrc, 0, line(call->in[0]));
  job->output(kDst, 0, line(call->out[0]));
  return true;
}

// (gradient, result) -> gradient.
template <int algorithm>
bool build_grad(const mx_call* call, Job* job) {
  const mx_tensor& data = call->in[0];
  Primitive forward;
  if (!describe(data, kTraining, algorithm, 0, &forward)) return false;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().eltwise_backward_primitive_desc_create(
      &description, opened().engine, algorithm, line(data), line(data), line(data), 0, 0,
      forward.description(), attributes.get());
  if (!job->primitive().take(status, description, "eltwise backward")) return false;
  job->input(kDiffDst, 0, line(data));
  job->input(kDst, 1, line(data));
  job->output(kDiffSrc, 0, line(data));
  return true;
}

bool few_enough(const mx_call* call) {
  return call->nin < kMaxArguments - 8 || mx_fail("oneDNN: too many arrays: %d", call->nin) == 0;
}

bool build_sum(const mx_call* call, Job* job) {
  if (!few_enough(call)) return false;
  const Layout one = line(call->out[0]);
  Md sources[kMaxArguments];
  float scales[kMaxArguments];
  for (int i = 0; i < call->nin; ++i) {
    sources[i] = one;
    scales[i] = 1;
  }
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().sum_primitive_desc_create(&description, opened().engine, one, call->nin,
                                                     scales, sources, attributes.get());
  if (!job->primitive().take(status, description, "sum")) return false;
  for (int i = 0; i < call->nin; ++i) job->input(kMultipleSrc + i, i, line(call->in[i]));
  job->output(kDst, 0, line(call->out[0]));
  return true;
}

bool build_concat(const mx_call* call, Job* job) {
  if (!few_enough(call)) return false;
  const int64_t rows = static_cast<const mx_blocks_params*>(call->params)->rows;
  auto rows_of = [rows](const mx_tensor& tensor) {
    return Layout::rows({rows, count(tensor) / rows});
  };
  Layout layouts[kMaxArguments];
  Md sources[kMaxArguments];
  for (int i = 0; i < call->nin; ++i) {
    if (count(call->in[i]) == 0) return mx_fail("oneDNN: empty arrays are not supported") == 0;
    layouts[i] = rows_of(call->in[i]);
    sources[i] = layouts[i];
  }
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status =
      api().concat_primitive_desc_create(&description, opened().engine, rows_of(call->out[0]),
                                         call->nin, 1, sources, attributes.get());
  if (!job->primitive().take(status, description, "concat")) return false;
  for (int i = 0; i < call->nin; ++i) job->input(kMultipleSrc + i, i, std::move(layouts[i]));
  job->output(kDst, 0, rows_of(call->out[0]));
  return true;
}

// Reorder between a plain and a blocked array.
bool build_reorder(const mx_call* call, Job* job) {
  const bool blocks = call->out[0].ndim > call->in[0].ndim;
  const mx_tensor &plain = blocks ? call->in[0] : call->out[0],
                  &blocked = blocks ? call->out[0] : call->in[0];
  const int64_t block = blocked.shape[blocked.ndim - 1];
  if (block != 8 && block != 16)
    return mx_fail("oneDNN: only blocks of 8 or 16 channels are supported") == 0;
  const int64_t images = plain.shape[0] * plain.shape[1];
  const Extents extents = {plain.shape[0], plain.shape[1], count(plain) / images, 1};
  Layout rows = Layout::rows(extents), channels = Layout::channels(extents, (int)block);
  if (!describe_reorder(blocks ? rows : channels, blocks ? channels : rows, &job->primitive()))
    return false;
  job->input(kSrc, 0, blocks ? Layout::copy(rows) : Layout::copy(channels));
  job->output(kDst, 0, blocks ? std::move(channels) : std::move(rows));
  return true;
}

}  // namespace

void register_elementwise() {
  add_kernel<void, build<kRelu>>("relu_onednn", 1u << MX_F32);
  add_kernel<void, build<kLogistic>>("sigmoid_onednn", 1u << MX_F32);
  add_kernel<void, build<kTanh>>("tanh_onednn", 1u << MX_F32);
  add_kernel<void, build<kSoftRelu>>("softplus_onednn", 1u << MX_F32);
  add_kernel<void, build<kGeluErf>>("gelu_erf_onednn", 1u << MX_F32);
  add_kernel<void, build_grad<kReluFromResult>>("relu_grad_onednn", 1u << MX_F32);
  add_kernel<void, build_grad<kLogisticFromResult>>("sigmoid_grad_onednn", 1u << MX_F32);
  add_kernel<void, build_grad<kTanhFromResult>>("tanh_grad_onednn", 1u << MX_F32);
  add_kernel<void, build_sum>("add_n_onednn", 1u << MX_F32);
  add_kernel<mx_blocks_params, build_concat>("concat_onednn", 1u << MX_F32);
  add_kernel<void, build_reorder>("to_blocked_onednn", 1u << MX_F32);
  add_kernel<void, build_reorder>("from_blocked_onednn", 1u << MX_F32);
}

}  // namespace onednn
}  // namespace mx
