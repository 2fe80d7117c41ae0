// "conv_winograd_bf16": Winograd convolution of bfloat16 data with 3 x 3 filters on CPUs with
// bfloat16 products. With tiles of 2 x 2 outputs V has sums of at most four elements, so rounding V
// to bfloat16 doubles the error of a direct convolution; with 4 x 4 outputs it would be five times
// as large.
#include "leaf/convolution/winograd_form.h"
#include "leaf/convolution/winograd_groups.h"
#include "leaf/queries.h"
#include "leaf/simd/bf16.h"

MX_LEAF_BEGIN
#if MX_ISA_LEVEL >= 4

// One weight for each of the panel's output channels, next to that of the pair's other channel.
MX_INLINE void store_weights(bf16* u, int64_t c, int64_t width, int64_t first, const VB& x) {
  bf16 row[kBlockLanes];
  store_block(row, x);
  u += c / 2 * 2 * width + c % 2 + 2 * first;
  for (int i = 0; i < kBlockLanes; ++i) u[2 * i] = row[i];
}

namespace {

constexpr int kAhead = 1024;  // prefetch distance of the weights, in elements

struct Pairwise {
  static constexpr int64_t kBytes = 2 * kBlockLanes * sizeof(bf16);  // of a pair of channels

  template <int R, int W, int lines>
  static void product(int64_t in_blocks, const bf16* v, int64_t v_step, const bf16* u, float* m,
                      int64_t m_step, const char* prefetch_at, int64_t step) {
    constexpr int B = kBlockLanes;
    VB acc[R][W] = {};
    for (int64_t block = 0; block < in_blocks; ++block, v += v_step) {
#pragma GCC unroll 2
      for (int k = 0; k < B; k += 2, u += 2 * W * B) {
        Pairs right[W];
#pragma GCC unroll 2
        for (int w = 0; w < W; ++w) {
          right[w] = load_pairs(u + 2 * w * B);
          __builtin_prefetch(u + kAhead + 2 * w * B);
        }
#pragma GCC unroll 2
        for (int i = 0; i < lines; ++i) __builtin_prefetch(prefetch_at + 64 * i, 0, 2);
        if (lines) prefetch_at += step;
#pragma GCC unroll 14
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
          for (int w = 0; w < W; ++w) add_products(acc[r][w], v + r * B + k, right[w]);
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

constexpr auto kProducts = GroupProducts<Pairwise, bf16>{}.fill();

}  // namespace

void multiply_point(int tiles, int outs, int64_t in_blocks, const bf16* v, int64_t v_step,
                    const bf16* u, const bf16* next, float* m, int64_t m_step) {
  kProducts.multiply(tiles, outs, in_blocks, v, v_step, u, next, m, m_step);
}

namespace {

typedef Toom<2, 3> Three;
typedef Form<Three, Three, bf16> Narrow;
constexpr WinogradEntry kEntry = {
    3, 3, Narrow::run, Narrow::pack, Narrow::packed, Narrow::workspace};

const char* refusal(const mx_fused_conv_params& p) {
  if (!multiplies_bf16()) return "this CPU has no AVX512-BF16";
  if (p.kernel[1] != kEntry.rows || p.kernel[2] != kEntry.cols) return "the kernel is not 3 x 3";
  return winograd_refusal(p);
}

const mx_fused_conv_params& params_of(const mx_call* call) {
  return *(const mx_fused_conv_params*)call->params;
}

int64_t query(const mx_call* call, int32_t what) {
  if (const char* reason = refusal(params_of(call)))
    return refused("conv_winograd_bf16", reason, what);
  return winograd_answer(call, what, kEntry);
}

int convolve(const mx_call* call) {
  if (const char* reason = refusal(params_of(call)))
    return mx_fail("conv_winograd_bf16: %s", reason);
  return winograd_run(call, kEntry);
}

int pack(const mx_call* call) {
  if (const char* reason = refusal(params_of(call)))
    return mx_fail("conv_winograd_bf16_pack: %s", reason);
  return kEntry.pack(call, params_of(call), false);
}

}  // namespace

void register_winograd_bf16() {
  add_with_query("conv_winograd_bf16", convolve, MX_BIT(BF16), query);
  add_with_query("conv_winograd_bf16_pack", pack, MX_BIT(F32), query);
}

#else

void register_winograd_bf16() {}

#endif
MX_LEAF_END
