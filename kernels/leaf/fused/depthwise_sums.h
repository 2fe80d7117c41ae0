// Sums of depthwise convolution of blocked arrays with windows of 3 or 5 columns, for runs of
// neighbouring outputs: each column of the source is loaded once for all windows that contain it.
#pragma once
#include "leaf/fused/block.h"

MX_LEAF_BEGIN

constexpr int kRunOutputs = MX_ISA_LEVEL >= 4 ? 14 : MX_ISA_LEVEL >= 3 ? 7 : 3;  // of a long run
constexpr int kShortRun = kRunOutputs / 2;

// Sum over `rows` rows of the windows, `step` floats apart, from the first one's column `in` on.
typedef void (*RunSums)(const float* in, int64_t step, int64_t rows, const float* weights,
                        float* sums);

// The function for runs of kRunOutputs outputs, or kShortRun, whose windows of `taps` columns are
// `stride` apart. The first window begins `before` columns before the source and the last one ends
// `beyond` behind it, where nothing is read. NULL if there is none.
RunSums depthwise_sums(bool longer, int64_t taps, int64_t stride, int64_t before, int64_t beyond);

MX_LEAF_END
