// The matrix product of Winograd convolution: a group of tiles times a panel of output channels,
// with all sums in registers.
#include "leaf/convolution/winograd_groups.h"

MX_LEAF_BEGIN
namespace {

constexpr int kLine = 16;  // floats per cache line
// Prefetch distance of the weights in floats: short if the second-level cache holds them already.
constexpr int ahead_of(int lines) { return lines ? 256 : 768; }
constexpr int kBlocksAhead = 2;  // prefetch distance of the data, which another core may have made

struct Floats {
  static constexpr int64_t kBytes = kBlockLanes * sizeof(float);  // of a channel's weights

  template <int R, int W, int lines>
  static void product(int64_t in_blocks, const float* v, int64_t v_step, const float* u, float* m,
                      int64_t m_step, const char* prefetch_at, int64_t step) {
    constexpr int B = kBlockLanes;
    VB acc[R][W] = {};
    for (int64_t block = 0; block < in_blocks; ++block, v += v_step) {
#pragma GCC unroll 14
      for (int r = 0; r < R; r += kLine / B) __builtin_prefetch(v + kBlocksAhead * v_step + r * B);
#pragma GCC unroll 4
      for (int k = 0; k < B; ++k, u += W * B) {
        VB right[W];
#pragma GCC unroll 2
        for (int w = 0; w < W; ++w) right[w] = load_block(u + w * B);
        for (int w = 0; w < W * B; w += kLine) __builtin_prefetch(u + ahead_of(lines) + w);
#pragma GCC unroll 2
        for (int i = 0; i < lines; ++i) __builtin_prefetch(prefetch_at + 64 * i, 0, 2);
        if (lines) prefetch_at += step;
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
};

constexpr auto kProducts = GroupProducts<Floats, float>{}.fill();

}  // namespace

void multiply_point(int tiles, int outs, int64_t in_blocks, const float* v, int64_t v_step,
                    const float* u, const float* next, float* m, int64_t m_step) {
  kProducts.multiply(tiles, outs, in_blocks, v, v_step, u, next, m, m_step);
}

MX_LEAF_END
