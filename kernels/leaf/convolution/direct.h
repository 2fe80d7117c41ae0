// Direct convolution into blocked activations, by sums in registers: some output columns of a row
// times a panel of output channels.
//
// The input is read through a band: the rows under some output rows, with padding written out, and
// with each row sorted by column modulo the stride, so that neighbouring outputs always read
// neighbours. A 1 x 1 convolution of stride 1 reads the input itself.
#pragma once
#include "leaf/fused/block.h"

MX_LEAF_BEGIN

constexpr int kColumns = MX_ISA_LEVEL >= 4 ? 14 : MX_ISA_LEVEL >= 3 ? 6 : 2;  // of a sum
constexpr int kPanelBlocks = 2;  // out blocks of a panel, and of a sum
constexpr int kMostTaps = 256;

// What a sum runs over: `blocks` planes of input, `plane` apart, at `taps` offsets in each.
struct Reach {
  int64_t blocks, plane;
  int taps;
  int64_t offset[kMostTaps];
};

// Where sums go: out blocks are `out_step` apart.
struct Sink {
  float* out;
  const float *other, *bias;  // or NULL
  int64_t out_step;
  float low, high;  // bounds of the result
};

constexpr int64_t kMostAsk = 32;  // sums that share a panel; of more, the first wait little

// Weights that are read next: each sum asks memory for a part of them, some bytes with each of its
// own channels, as fast as memory gives them.
struct Coming {
  const float* weights;
  int64_t step;  // bytes

  // A panel of `outs` out blocks, to come after as many sums; or NULL.
  static Coming panel(const float* next, int outs, int64_t sums) {
    if (!next || sums < 1 || sums > kMostAsk) return {nullptr, 0};
    return {next, ceil_div(outs * kBlockLanes * (int64_t)sizeof(float), sums)};
  }
};

// The sums of `columns` <= kColumns output columns and `outs` (1 or 2) out blocks. Blocked input
// has B channels at each offset, plain input one.
void direct_sum(bool blocked, int columns, int outs, const Reach& reach, const float* in,
                const float* weights, const Sink& sink, Coming* coming);

MX_LEAF_END
