// The matrix product of Winograd convolution: a group of tiles times a panel of output channels,
// with all sums in registers.
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN
namespace {

constexpr int kLine = 16;    // floats in a cache line
constexpr int kAhead = 768;  // floats between the weights read and those fetched

template <int R, int W>
void product(int64_t in_blocks, const float* v, int64_t v_step, const float* u, float* m,
             int64_t m_step) {
  constexpr int B = kBlockLanes;
  VB acc[R][W] = {};
  for (int64_t block = 0; block < in_blocks; ++block, v += v_step) {
#pragma GCC unroll 4
    for (int k = 0; k < B; ++k, u += W * B) {
      VB right[W];
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) right[w] = load_block(u + w * B);
      for (int w = 0; w < W * B; w += kLine) __builtin_prefetch(u + kAhead + w);
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const VB left = splat_block(v[r * B + k]);
#pragma GCC unroll 2
        for (int w = 0; w < W; ++w) acc[r][w] = fma(left, right[w], acc[r][w]);
      }
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) store_block(m + w * m_step + r * B, acc[r][w]);
  }
}

typedef void (*Product)(int64_t, const float*, int64_t, const float*, float*, int64_t);

// The product of R tiles and W out blocks is at [R - 1][W - 1].
struct Products {
  Product entry[kTileGroup][kPanel];
  template <int R = kTileGroup>
  constexpr Products& fill() {
    entry[R - 1][0] = product<R, 1>;
    entry[R - 1][1] = product<R, 2>;
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }
};
constexpr Products kProducts = Products{}.fill();

}  // namespace

void multiply_point(int tiles, int outs, int64_t in_blocks, const float* v, int64_t v_step,
                    const float* u, float* m, int64_t m_step) {
  const int groups = ceil_div(tiles, kTileGroup);
  const int most = ceil_div(tiles, groups);
  for (int t = 0; t < tiles; t += most) {
    const int some = tiles - t < most ? tiles - t : most;
    kProducts.entry[some - 1][outs - 1](in_blocks, v + t * kBlockLanes, v_step, u,
                                        m + t * kBlockLanes, m_step);
  }
}

MX_LEAF_END
