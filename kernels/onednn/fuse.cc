// What follows a fused operator.
#include "onednn/fuse.h"

namespace mx {
namespace onednn {
namespace {

enum Constant { kNone, kOne, kAlpha, kBeta };
struct Activation {
  int algorithm;
  Constant first, second;
};
// The position is the number that records use; 0 is no activation.
constexpr Activation kActivations[] = {
    {0, kNone, kNone},      {kRelu, kNone, kNone},    {kLogistic, kNone, kNone},
    {kTanh, kNone, kNone},  {kSoftRelu, kOne, kNone}, {kRelu, kAlpha, kNone},
    {kElu, kAlpha, kNone},  {kGeluErf, kNone, kNone}, {kGeluTanh, kNone, kNone},
    {kClip, kAlpha, kBeta}, {kAbs, kNone, kNone},     {kSquare, kNone, kNone},
    {kSqrt, kNone, kNone},  {kExp, kNone, kNone},     {kLinear, kAlpha, kBeta},
};
constexpr int kCount = sizeof kActivations / sizeof *kActivations;

}  // namespace

bool append_activation(Attributes* attributes, int act, double alpha, double beta) {
  if (act < 0 || act >= kCount) return mx_fail("oneDNN: there is no activation %d", act) == 0;
  if (act == 0) return true;
  const float constants[] = {0.f, 1.f, (float)alpha, (float)beta};
  const Activation& a = kActivations[act];
  attributes->eltwise(a.algorithm, constants[a.first], constants[a.second]);
  return true;
}

}  // namespace onednn
}  // namespace mx
