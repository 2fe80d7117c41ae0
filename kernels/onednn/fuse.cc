// Activations in the epilogue of fused operators.
#include "onednn/fuse.h"

namespace mx {
namespace onednn {
namespace {

enum Constant { kNone, kOne, kAlpha, kBeta };
struct Activation {
  int algorithm;
  Constant first, second;
};
// Indexed by the numbers that records use; 0 is no activation.
constexpr Activation kActivations[] = {
    {0, kNone, kNone},      {kRelu, kNone, kNone},       {kLogistic, kNone, kNone},
    {kTanh, kNone, kNone},  {kSoftRelu, kOne, kNone},    {kRelu, kAlpha, kNone},
    {kElu, kAlpha, kNone},  {kGeluErf, kNone, kNone},    {kGeluTanh, kNone, kNone},
    {kClip, kAlpha, kBeta}, {kAbs, kNone, kNone},        {kSquare, kNone, kNone},
    {kSqrt, kNone, kNone},  {kExp, kNone, kNone},        {kLinear, kAlpha, kBeta},
    {kSwish, kOne, kNone},  {kHardSwish, kAlpha, kBeta},
};
constexpr int kCount = sizeof kActivations / sizeof *kActivations;

struct Eltwise {
  int algorithm;
  float alpha, beta;
};

bool find_activation(int act, double alpha, double beta, Eltwise* eltwise) {
  if (act < 0 || act >= kCount) return mx_fail("oneDNN: unknown activation %d", act) == 0;
  const float constants[] = {0.f, 1.f, (float)alpha, (float)beta};
  const Activation& a = kActivations[act];
  *eltwise = {a.algorithm, constants[a.first], constants[a.second]};
  return true;
}

}  // namespace

bool append_activation(Attributes* attributes, int act, double alpha, double beta) {
  Eltwise stage{};
  if (!find_activation(act, alpha, beta, &stage)) return false;
  if (act != 0) attributes->eltwise(stage.algorithm, stage.alpha, stage.beta);
  return true;
}

bool describe_activation(int act, double alpha, double beta, Job* job) {
  Eltwise stage{};
  if (!find_activation(act, alpha, beta, &stage)) return false;
  const Md layout = job->primitive().layout_of(kDst);
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  const int status = api().eltwise_forward_primitive_desc_create(
      &description, opened().engine, kInference, stage.algorithm, layout, layout, stage.alpha,
      stage.beta, attributes.get());
  return job->follower().take(status, description, "activation");
}

}  // namespace onednn
}  // namespace mx
