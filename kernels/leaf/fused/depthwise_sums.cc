// The functions of depthwise_sums.h, unrolled for each kind of run.
#include "leaf/fused/depthwise_sums.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes, kMost = 5;  // columns of a window

template <int outputs, int taps, int stride, int before, int beyond>
void sum(const float* in, int64_t step, int64_t rows, const float* weights, float* sums) {
  constexpr int columns = (outputs - 1) * stride + taps;
  VB kept[outputs] = {};
  for (; rows > 0; --rows, in += step, weights += taps * B) {
    VB weight[taps];
#pragma GCC unroll 5
    for (int k = 0; k < taps; ++k) weight[k] = load_block(weights + k * B);
#pragma GCC unroll 32
    for (int c = before; c < columns - beyond; ++c) {
      const VB x = load_block(in + c * B);
#pragma GCC unroll 5
      for (int k = 0; k < taps; ++k) {
        const int u = (c - k) / stride;
        if (c < k || (c - k) % stride || u >= outputs) continue;
        kept[u] = fma(x, weight[k], kept[u]);
      }
    }
  }
#pragma GCC unroll 14
  for (int u = 0; u < outputs; ++u) store_block(sums + u * B, kept[u]);
}

// The functions for runs of some outputs, at [taps == 5][stride - 1][before > 0][beyond].
template <int outputs>
struct Runs {
  RunSums entry[2][2][2][kMost / 2 + 1];
  template <int taps, int stride, int beyond = taps / 2>
  constexpr Runs& fill() {
    entry[taps == 5][stride - 1][0][beyond] = sum<outputs, taps, stride, 0, beyond>;
    entry[taps == 5][stride - 1][1][beyond] = sum<outputs, taps, stride, taps / 2, beyond>;
    if constexpr (beyond > 0) fill<taps, stride, beyond - 1>();
    return *this;
  }
  constexpr Runs& fill_all() { return fill<3, 1>().template fill<3, 2>().more(); }
  constexpr Runs& more() { return fill<5, 1>().template fill<5, 2>(); }
};
constexpr Runs<kRunOutputs> kLongRuns = Runs<kRunOutputs>{}.fill_all();
constexpr Runs<kShortRun> kShortRuns = Runs<kShortRun>{}.fill_all();

}  // namespace

RunSums depthwise_sums(bool longer, int64_t taps, int64_t stride, int64_t before, int64_t beyond) {
  if ((taps != 3 && taps != 5) || stride > 2 || beyond > taps / 2) return nullptr;
  if (before && before != taps / 2) return nullptr;
  const auto& entry = longer ? kLongRuns.entry : kShortRuns.entry;
  return entry[taps == 5][stride - 1][before > 0][beyond];
}

MX_LEAF_END
