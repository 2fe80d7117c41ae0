// Direct convolution into blocked activations: register tiles of some output columns of a row times
// a panel of output channels.
//
// The input is read through a band: the rows under some output rows, with explicit padding and each
// row sorted by column modulo the stride, so that neighbouring outputs always read neighbouring
// elements. A 1 x 1 convolution of stride 1 reads the input directly.
#pragma once
#include "leaf/fused/block.h"

MX_LEAF_BEGIN

constexpr int kColumns = MX_ISA_LEVEL >= 4 ? 14 : MX_ISA_LEVEL >= 3 ? 6 : 2;  // of a register tile
constexpr int kPanelBlocks = 2;              // out blocks of a panel and of a register tile
constexpr bool kHalves = MX_ISA_LEVEL >= 4;  // whether half blocks of outputs take less time
// Used channels of a last block are rounded up to a multiple of this.
constexpr int kDepthStep = MX_ISA_LEVEL >= 4 ? 4 : kBlockLanes;
constexpr int kMaxTaps = 256;

// Channels of the last block that need not be read, as their weights are zero.
inline int64_t spare_channels(const mx_fused_conv_params& p) {
  if (!p.in_block || p.before != kNothing) return 0;
  return least(p.spare_channels / kDepthStep * kDepthStep, kBlockLanes - kDepthStep);
}
// Whether only the first half of the last out block is computed; alone in a panel, it would take as
// long as a whole one.
inline bool has_half(const mx_fused_conv_params& p) {
  return kHalves && p.before == kNothing && 2 * p.spare_filters >= kBlockLanes &&
         p.filters % (kPanelBlocks * kBlockLanes) == 0;
}

// The summation range: `blocks` input planes, `plane` apart, at `taps` offsets in each; `last`
// channels of the last plane.
struct Reach {
  int64_t blocks, plane;
  int64_t row;    // from the data of a row of outputs to that of the next
  int64_t ahead;  // prefetch distance of the data, in planes
  int last;
  int taps;
  int64_t offset[kMaxTaps];
};

// Destination of the sums: out blocks are `out_step` apart.
struct Sink {
  float* out;
  const float *other, *bias;  // may be NULL
  int64_t out_step;
  float low, high;  // bounds of the result
};

constexpr int64_t kMaxPrefetchTiles = 32;  // tiles that share the prefetching of a panel; with
                                           // more, the stalls of the first matter little

// Prefetching of the next weights: each tile prefetches a part of them, some bytes per input
// channel, at the rate of main memory.
struct Prefetch {
  const float* weights;
  int64_t step;  // in bytes

  // A panel of `outs` out blocks, to be used after `sums` tiles; or NULL.
  static Prefetch panel(const float* next, int outs, int64_t sums) {
    if (!next || sums < 1 || sums > kMaxPrefetchTiles) return {nullptr, 0};
    return {next, ceil_div(outs * kBlockLanes * (int64_t)sizeof(float), sums)};
  }
};

// Compute `columns` <= kColumns output columns of `outs` (1 or 2) out blocks; with `half`, there
// are only weights for the first half of the last block. Blocked input has B channels at each
// offset, plain input one. With blocked input, the columns may be those of two whole `rows`.
void direct_sum(bool blocked, int rows, int columns, int outs, bool half, const Reach& reach,
                const float* in, const float* weights, const Sink& sink, Prefetch* prefetch);

// Blocked data that is scaled and shifted per channel, then bounded below.
struct Scaled {
  const float* from;
  int64_t plane;  // from a block of channels to the next
  const float *scale, *shift;
  float low;
};

// The same for a 1 x 1 convolution of scaled data, which is also stored to `band` for the next
// panels; planes are reach.plane apart there.
void direct_sum_scaled(int columns, int outs, const Reach& reach, const Scaled& scaled, float* band,
                       const float* weights, const Sink& sink, Prefetch* prefetch);

MX_LEAF_END
