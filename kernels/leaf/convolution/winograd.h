// Winograd convolution: fewer multiplications by evaluating tiles of the image and the filters at a
// few points, multiplying there, and interpolating.
//
// clang-format off
//   image tiles --forward--> V[point][in block][tile][B]       B: channels of a block
//   filters ----evaluate---> U[point][panel][in channel][..]   packed once; a panel: two out blocks
//   at each point            M[point][out block][tile][B] = V U, a matrix product
//   M ----------inverse----> output tiles, with bias, sum and activation
// clang-format on
//
// NaN and infinity in the data spread over the whole tile (4 x 4 outputs, say) that contains them.
#pragma once
#include "leaf/convolution/toom.h"

MX_LEAF_BEGIN

// --- the product at a point ----------------------------------------------------------------------

// Tiles whose sums fit in registers.
constexpr int kTileGroup = MX_ISA_LEVEL >= 4 ? 14 : MX_ISA_LEVEL >= 3 ? 6 : 2;
constexpr int kPanel = 2;

// Compute M for `tiles` tiles and `outs` out blocks (1 or 2): v_step is the distance between the in
// blocks of V, m_step between the out blocks of M. The weights for the product after this one, of
// as many out blocks, are at `next`.
void multiply_point(int tiles, int outs, int64_t in_blocks, const float* v, int64_t v_step,
                    const float* u, const float* next, float* m, int64_t m_step);
// The same for bfloat16 with float32 sums; U interleaves pairs of channels. Level 4 only.
void multiply_point(int tiles, int outs, int64_t in_blocks, const bf16* v, int64_t v_step,
                    const bf16* u, const bf16* next, float* m, int64_t m_step);

// --- a problem -----------------------------------------------------------------------------------

struct Tiling {
  int64_t images, in_blocks, out_blocks;
  int64_t height, width, pad_y, pad_x;  // of the source
  int64_t out_height, out_width;
  int64_t rows, cols, tiles;  // tiles of an image, and of all images
};

// Two-dimensional partition of the work: `ways` threads divide chunks of tiles, `sides` threads the
// out blocks of a chunk. Several sides share the V of their chunk. Or all threads divide the
// products of one chunk by points and panels, so that each reads its part of the weights only.
struct Cut {
  int64_t tiles;             // of a chunk
  int64_t outs;              // out blocks whose M is kept at a time
  int64_t v_point, m_point;  // elements between points in V and M
  int ways, sides;
  int64_t side;  // out blocks of a side
  bool by_points;
};

template <class Fy, class Fx>
Tiling tiling_of(const mx_fused_conv_params& p) {
  Tiling t;
  t.images = p.batch;
  t.in_blocks = p.channels / kBlockLanes;
  t.out_blocks = p.filters / kBlockLanes;
  t.height = p.source[1], t.width = p.source[2];
  t.pad_y = p.pad[1], t.pad_x = p.pad[2];
  t.out_height = p.target[1], t.out_width = p.target[2];
  t.rows = ceil_div(t.out_height, Fy::outputs);
  t.cols = ceil_div(t.out_width, Fx::outputs);
  t.tiles = t.images * t.rows * t.cols;
  return t;
}

// --- filter sizes --------------------------------------------------------------------------------

// Functions for filters of one size.
struct WinogradEntry {
  int64_t rows, cols;
  int (*run)(const mx_call*, const mx_fused_conv_params&);
  int (*pack)(const mx_call*, const mx_fused_conv_params&, bool transposed);
  int64_t (*packed)(const mx_fused_conv_params&);
  int64_t (*workspace)(const mx_fused_conv_params&, int threads);
};
const WinogradEntry* winograd_entry(const mx_fused_conv_params& p);  // NULL if unsupported
// The reason a convolution is rejected, or NULL; the second one leaves the filter's size to its
// caller.
const char* winograd_refusal(const mx_fused_conv_params& p);
const char* winograd_refusal(const mx_fused_conv_params& p, int stride);

// Answer to a query about an accepted call, and a run of it.
int64_t winograd_answer(const mx_call* call, int32_t what, const WinogradEntry& entry);
int winograd_run(const mx_call* call, const WinogradEntry& entry);

MX_LEAF_END
