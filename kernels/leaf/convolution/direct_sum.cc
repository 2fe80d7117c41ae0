// Register tiles of direct convolution, stored after bias, residual and bounds are applied.
#include "leaf/convolution/direct.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int kLine = 16;    // floats per cache line
constexpr int kAhead = 768;  // prefetch distance of the weights, in floats

// There are `run` channels at each offset; neighbouring columns are as many floats apart.
// Prefetches upcoming weights if `prefetches`.
template <int R, int W, int run, bool prefetches>
void sum(const Reach& reach, const float* in, const float* weights, const Sink& sink,
         Prefetch* prefetch) {
  const char* next = prefetches ? (const char*)prefetch->weights : nullptr;
  const int64_t step = prefetches ? prefetch->step : 0;
  VB acc[R][W] = {};
  for (int64_t block = 0; block < reach.blocks; ++block, in += reach.plane) {
    for (int tap = 0; tap < reach.taps; ++tap) {
      const float* at = in + reach.offset[tap];
      // The hardware prefetcher does not follow from one plane to the next.
      if (run == B) {
#pragma GCC unroll 14
        for (int r = 0; r < R * run; r += kLine) __builtin_prefetch(at + reach.plane + r);
      }
#pragma GCC unroll 4
      for (int k = 0; k < run; ++k, weights += W * B) {
        VB right[W];
#pragma GCC unroll 2
        for (int w = 0; w < W; ++w) right[w] = load_block(weights + w * B);
        for (int w = 0; w < W * B; w += kLine) __builtin_prefetch(weights + kAhead + w);
        if (prefetches) __builtin_prefetch(next, 0, 2), next += step;
#pragma GCC unroll 14
        for (int r = 0; r < R; ++r) {
          const VB left = splat_block(at[r * run + k]);
#pragma GCC unroll 2
          for (int w = 0; w < W; ++w) acc[r][w] = fma(left, right[w], acc[r][w]);
        }
      }
    }
  }
  if (prefetches) prefetch->weights = (const float*)next;
  const VB low = splat_block(sink.low), high = splat_block(sink.high);
#pragma GCC unroll 2
  for (int w = 0; w < W; ++w) {
    const VB bias = sink.bias ? load_block(sink.bias + w * B) : VB{};
    const int64_t at = w * sink.out_step;
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      VB x = acc[r][w] + bias;
      if (sink.other) x += load_block(sink.other + at + r * B);
      x = low > x ? low : x;  // NaN passes
      x = high < x ? high : x;
      store_block(sink.out + at + r * B, x);
    }
  }
}

typedef void (*SumFunction)(const Reach&, const float*, const float*, const Sink&, Prefetch*);

// Function table: R columns and W out blocks are at [R - 1][W - 1].
template <int run, bool prefetches>
struct Sums {
  SumFunction entry[kColumns][kPanelBlocks];
  template <int R = kColumns>
  constexpr Sums& fill() {
    entry[R - 1][0] = sum<R, 1, run, prefetches>;
    entry[R - 1][1] = sum<R, 2, run, prefetches>;
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }
};
constexpr Sums<1, false> kPlainSums = Sums<1, false>{}.fill();
constexpr Sums<B, false> kBlockedSums = Sums<B, false>{}.fill();
constexpr Sums<B, true> kPrefetchingSums = Sums<B, true>{}.fill();

}  // namespace

void direct_sum(bool blocked, int columns, int outs, const Reach& reach, const float* in,
                const float* weights, const Sink& sink, Prefetch* prefetch) {
  const SumFunction run = !blocked         ? kPlainSums.entry[columns - 1][outs - 1]
                          : prefetch->step ? kPrefetchingSums.entry[columns - 1][outs - 1]
                                           : kBlockedSums.entry[columns - 1][outs - 1];
  run(reach, in, weights, sink, prefetch);
}

MX_LEAF_END
