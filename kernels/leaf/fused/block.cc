// Activations of fused convolutions that are applied in memory.
#include "leaf/fused/block.h"

MX_LEAF_BEGIN

void activate_row(float* row, int n, int act, float alpha, float beta) {
  const VF a = splat<VF>(alpha), b = splat<VF>(beta);
  constexpr int L = kLanes<float>;
  const auto apply = [&](auto f) {
    for (int i = 0; i < n; i += L) {
      if (n - i >= L) {
        store(row + i, f(load(row + i)));
      } else {
        store_first(row + i, f(load_first(row + i, n - i)), n - i);
      }
    }
  };
  switch (act) {
    case kRelu:
      return apply([](VF x) MX_ALWAYS { return x < 0 ? VF{} : x; });
    case kSigmoid:
      return apply([](VF x) MX_ALWAYS { return sigmoid(x); });
    case kTanh:
      return apply([](VF x) MX_ALWAYS { return tanh(x); });
    case kSoftplus:
      return apply([](VF x) MX_ALWAYS { return softplus(x); });
    case kLeaky:
      return apply([=](VF x) MX_ALWAYS { return x < 0 ? x * a : x; });
    case kElu:
      return apply([=](VF x) MX_ALWAYS { return x < 0 ? a * expm1(x) : x; });
    case kGeluErf:
      return apply([](VF x) MX_ALWAYS { return gelu_erf(x); });
    case kGeluTanh:
      return apply([](VF x) MX_ALWAYS { return gelu_tanh(x); });
    case kClip:
      return apply([=](VF x) MX_ALWAYS {
        x = x < a ? a : x;
        return x > b ? b : x;
      });
    case kAbs:
      return apply([](VF x) MX_ALWAYS { return abs(x); });
    case kSquared:
      return apply([](VF x) MX_ALWAYS { return x * x; });
    case kSqrt:
      return apply([](VF x) MX_ALWAYS { return sqrt(x); });
    case kExp:
      return apply([](VF x) MX_ALWAYS { return exp(x); });
    case kLinear:
      return apply([=](VF x) MX_ALWAYS { return a * x + b; });
    case kSwish:
      return apply([](VF x) MX_ALWAYS { return swish(x); });
    case kHardSwish:
      return apply([=](VF x) MX_ALWAYS {
        const VF gate = a * x + b, above = gate < 0 ? VF{} : gate;
        return x * (above > 1 ? splat<VF>(1) : above);
      });
    default:
      return;
  }
}

MX_LEAF_END
