// Register tiles of direct convolution, stored after bias, residual and bounds are applied.
#include "core/cache.h"
#include "leaf/convolution/direct.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int kLine = 16;    // floats per cache line
constexpr int kAhead = 768;  // prefetch distance of the weights, in floats

// Sums of a first half of a block, for the last block of outputs if the rest is padding. A vector
// of half the width takes half of the time on some CPUs with AVX-512; others have none of these.
template <int R, bool half>
struct HalfSums {
  MX_INLINE void take(const float*) {}
  MX_INLINE void add(int, const VB&) {}
  MX_INLINE VB block(int) const { return VB{}; }
};
#if MX_ISA_LEVEL >= 4
template <int R>
struct HalfSums<R, true> {
  __m256 sums[R] = {}, right;
  MX_INLINE void take(const float* weights) { right = _mm256_loadu_ps(weights); }
  MX_INLINE void add(int r, const VB& left) {
    sums[r] = _mm256_fmadd_ps(_mm512_castps512_ps256((__m512)left), right, sums[r]);
  }
  MX_INLINE VB block(int r) const { return (VB)_mm512_zextps256_ps512(sums[r]); }
};
#endif

// The sums of a register tile of R columns and W out blocks, of the last one half a block if
// `half`.
template <int R, int W, bool half>
struct Tile {
  static constexpr int kWhole = W - half, kWeights = W * B - half * B / 2;
  VB whole[R][kWhole ? kWhole : 1] = {};
  HalfSums<R, half> rest;

  // Add column r of `at` times a row of weights, for all r; neighbouring columns are `run` apart,
  // rows of columns `row`. Prefetches later weights if they are `far`, not in the first cache.
  template <int run, bool far, int rows = 1>
  MX_INLINE void add_channel(const float* at, const float* weights, int64_t row = 0) {
    constexpr int kWidth = R / rows;
    VB right[kWhole ? kWhole : 1];
#pragma GCC unroll 2
    for (int w = 0; w < kWhole; ++w) right[w] = load_block(weights + w * B);
    rest.take(weights + kWhole * B);
    for (int w = 0; far && w < kWeights; w += kLine) __builtin_prefetch(weights + kAhead + w);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const VB left = splat_block(at[r / kWidth * row + r % kWidth * run]);
#pragma GCC unroll 2
      for (int w = 0; w < kWhole; ++w) whole[r][w] = fma(left, right[w], whole[r][w]);
      rest.add(r, left);
    }
  }

  // Store the results with bias, residual and bounds.
  MX_INLINE void store(const Sink& sink) const {
    const VB low = splat_block(sink.low), high = splat_block(sink.high);
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      const VB bias = sink.bias ? load_block(sink.bias + w * B) : VB{};
      const int64_t at = w * sink.out_step;
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        VB x = (w < kWhole ? whole[r][w] : rest.block(r)) + bias;
        if (sink.other) x += load_block(sink.other + at + r * B);
        x = low > x ? low : x;  // NaN passes
        x = high < x ? high : x;
        store_block(sink.out + at + r * B, x);
      }
    }
  }
};

// There are `run` channels at each offset, reach.last in the last plane. Prefetches the next
// weights if `prefetches`.
template <int R, int W, bool half, int run, bool far, bool prefetches, int rows>
void sum(const Reach& reach, const float* in, const float* weights, const Sink& sink,
         Prefetch* prefetch) {
  constexpr int kStep = run < kDepthStep ? run : kDepthStep, kWidth = R / rows;
  const char* next = prefetches ? (const char*)prefetch->weights : nullptr;
  const int64_t step = prefetches ? prefetch->step : 0;
  Tile<R, W, half> tile;
  // To the data some planes ahead, and behind the last plane to that of the next tile.
  int64_t ahead = reach.blocks > reach.ahead ? reach.ahead * reach.plane : kWidth * B;
  for (int64_t block = 0; block < reach.blocks; ++block, in += reach.plane) {
    if (block + reach.ahead == reach.blocks && block)
      ahead += kWidth * B - reach.blocks * reach.plane;
    const int depth = block + 1 < reach.blocks ? run : reach.last;
    for (int tap = 0; tap < reach.taps; ++tap) {
      const float* at = in + reach.offset[tap];
      // The hardware prefetcher does not follow from one plane to the next.
      const auto prefetch_column = [&](int r) MX_ALWAYS {
        __builtin_prefetch(at + ahead + r / kWidth * reach.row + r % kWidth * B);
      };
      const auto channel = [&](int k) MX_ALWAYS {
        if (prefetches) __builtin_prefetch(next, 0, 2), next += step;
        tile.template add_channel<run, far, rows>(at + k, weights, reach.row);
        weights += tile.kWeights;
      };
      if constexpr (kStep == B) {
        // Statements between the sums of channels keep GCC from loading for several channels at
        // once, for which there are too few registers. Prefetches take instructions, too, so only
        // every second line of the data has one.
#pragma GCC unroll 8
        for (int k = 0; k < B; ++k) {
          if (k < R && k % (2 * kLine / B) == 0) {
            prefetch_column(k);
          } else {
            __asm__ volatile("" ::: "memory");
          }
          channel(k);
        }
        continue;
      }
      if (run == B) {
#pragma GCC unroll 14
        for (int r = 0; r < R; ++r) prefetch_column(r);
      }
      for (int k = 0; k < depth; k += kStep) {
#pragma GCC unroll 4
        for (int i = k; i < k + kStep; ++i) channel(i);
      }
    }
  }
  if (prefetches) prefetch->weights = (const float*)next;
  tile.store(sink);
}

inline MX_ALWAYS void scale_block(float* to, const float* from, const float* scale,
                                  const float* shift, const VB& low) {
  const VB x = fma(load_block(from), load_block(scale), load_block(shift));
  store_block(to, low > x ? low : x);  // NaN passes
}

// Scales a column of the next block beside each channel's sums, so that loads and stores are free.
template <int R, int W>
void sum_scaled(const Reach& reach, const Scaled& scaled, float* band, const float* weights,
                const Sink& sink, Prefetch* prefetch) {
  const char* next = (const char*)(prefetch->step ? prefetch->weights : weights);
  const float *from = scaled.from, *scale = scaled.scale, *shift = scaled.shift;
  const VB low = splat_block(scaled.low);
  for (int r = 0; r < R; ++r) scale_block(band + r * B, from + r * B, scale, shift, low);
  Tile<R, W, false> tile;
  for (int64_t block = 0; block < reach.blocks; ++block) {
    const float* at = band;
    // The last block is scaled twice instead of one past the end.
    if (block + 1 < reach.blocks) {
      from += scaled.plane, band += reach.plane, scale += B, shift += B;
    }
#pragma GCC unroll 16
    for (int k = 0; k < B; ++k, weights += W * B) {
      if (k < R) {
        scale_block(band + k * B, from + k * B, scale, shift, low);
        __builtin_prefetch(from + scaled.plane + k * B);
      }
      __builtin_prefetch(next, 0, 2), next += prefetch->step;
      tile.template add_channel<B, true>(at + k, weights);
    }
  }
  if (prefetch->step) prefetch->weights = (const float*)next;
  tile.store(sink);
}

typedef void (*SumFunction)(const Reach&, const float*, const float*, const Sink&, Prefetch*);

// Function table: R columns of each of `rows` rows and W out blocks are at [R - 1][W - 1], those
// with half a block at [1][R - 1][W - 1].
template <int run, bool far, bool prefetches, int rows = 1>
struct Sums {
  static constexpr int kMost = kColumns / rows;
  SumFunction entry[1 + kHalves][kMost][kPanelBlocks];
  template <int R = kMost>
  constexpr Sums& fill() {
    fill_half<R, false>();
    if constexpr (kHalves) fill_half<R, true>();
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }
  template <int R, bool half>
  constexpr void fill_half() {
    entry[half][R - 1][0] = sum<rows * R, 1, half, run, far, prefetches, rows>;
    entry[half][R - 1][1] = sum<rows * R, 2, half, run, far, prefetches, rows>;
  }
};
constexpr auto kPlainSums = Sums<1, true, false>{}.fill();
constexpr auto kNearSums = Sums<B, false, false>{}.fill();
constexpr auto kFarSums = Sums<B, true, false>{}.fill();
constexpr auto kPrefetchingSums = Sums<B, true, true>{}.fill();
constexpr auto kPairSums = Sums<B, true, false, 2>{}.fill();
constexpr auto kPrefetchingPairSums = Sums<B, true, true, 2>{}.fill();

typedef void (*ScaledSumFunction)(const Reach&, const Scaled&, float*, const float*, const Sink&,
                                  Prefetch*);
struct ScaledSums {
  ScaledSumFunction entry[kColumns][kPanelBlocks];
  template <int R = kColumns>
  constexpr ScaledSums& fill() {
    entry[R - 1][0] = sum_scaled<R, 1>;
    entry[R - 1][1] = sum_scaled<R, 2>;
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }
};
constexpr ScaledSums kScaledSums = ScaledSums{}.fill();

}  // namespace

void direct_sum(bool blocked, int rows, int columns, int outs, bool half, const Reach& reach,
                const float* in, const float* weights, const Sink& sink, Prefetch* prefetch) {
  if (rows == 2) {
    const auto& entry = prefetch->step ? kPrefetchingPairSums.entry : kPairSums.entry;
    return entry[half][columns / 2 - 1][outs - 1](reach, in, weights, sink, prefetch);
  }
  const int64_t panel = reach.blocks * reach.taps * B * outs * B * (int64_t)sizeof(float);
  const auto& entry = !blocked                         ? kPlainSums.entry
                      : prefetch->step                 ? kPrefetchingSums.entry
                      : panel <= first_cache() * 3 / 4 ? kNearSums.entry
                                                       : kFarSums.entry;
  entry[half][columns - 1][outs - 1](reach, in, weights, sink, prefetch);
}

void direct_sum_scaled(int columns, int outs, const Reach& reach, const Scaled& scaled, float* band,
                       const float* weights, const Sink& sink, Prefetch* prefetch) {
  kScaledSums.entry[columns - 1][outs - 1](reach, scaled, band, weights, sink, prefetch);
}

MX_LEAF_END
