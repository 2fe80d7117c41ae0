// "conv_depthwise_bf16": depthwise convolutions of channels-last bfloat16 data with 3 x 3 filters,
// including the epilogue; "conv_depthwise_bf16_pack" packs the weights, which stay float32.
//
// 32 channels are processed at a time, split into even and odd ones. Each column of the data is
// read once for the three output columns it contributes to, whose sums move along, and with stride
// 1 each row once for two output rows.
#include "leaf/convolution/channels_last_bf16.h"
#include "leaf/convolution/depthwise.h"
#include "leaf/queries.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN
namespace {

typedef mx_fused_conv_params P;
constexpr int kTaps = 3;
constexpr int64_t kChannels = 32;  // processed at a time
constexpr int64_t kFilter = kTaps * kTaps * kChannels;

struct Work {
  const P& p;
  const bf16* in;
  const float* weights;  // per 32 channels: [tap][even, odd]
  LastSink sink;
  int64_t channels;

  Work(const mx_call* call, const P& params)
      : p(params),
        in(data<bf16>(call->in[0])),
        weights(data<float>(call->in[1])),
        sink(call, params, params.groups),
        channels(params.groups) {}

  int64_t rows_at_once() const { return p.stride[1] == 1 && p.stride[2] == 1 ? 2 : 1; }
};

// The channels' bias, with which sums begin, or zeros.
MX_INLINE Halves bias_of(const float* bias, __mmask32 inside) {
  if (!bias) return {_mm512_setzero_ps(), _mm512_setzero_ps()};
  const __m512 low = _mm512_maskz_loadu_ps((__mmask16)inside, bias);
  const __m512 high = _mm512_maskz_loadu_ps((__mmask16)(inside >> 16), bias + kBlockLanes);
  const __m512i evens = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
  return {_mm512_permutex2var_ps(low, evens, high), _mm512_permutex2var_ps(low, odds, high)};
}

// `rows` neighbouring output rows of 32 channels, from row `first` on.
template <int kind, int rows>
struct Rows {
  static constexpr int kRead = kTaps + rows - 1;
  const LastSink& sink;
  const int64_t channels, width, out_width, step, pad;
  const __mmask32 inside;  // mask of the channels that exist
  const int64_t to;        // offset of the first result
  const __m512 alpha, beta;
  const bf16* row[kRead];  // NULL above and below the image
  Halves filter[kTaps][kTaps], start;

  MX_INLINE Rows(const Work& work, int64_t image, int64_t chunk, int64_t first)
      : sink(work.sink),
        channels(work.channels),
        width(work.p.source[2]),
        out_width(work.p.target[2]),
        step(work.p.stride[2]),
        pad(work.p.pad[2]),
        inside(channels - chunk * kChannels >= kChannels
                   ? ~0u
                   : (1u << (channels - chunk * kChannels)) - 1),
        to(((image * work.p.target[1] + first) * out_width) * channels + chunk * kChannels),
        alpha(_mm512_set1_ps(sink.rest.alpha)),
        beta(_mm512_set1_ps(sink.rest.beta)) {
    const P& p = work.p;
#pragma GCC unroll 4
    for (int y = 0; y < kRead; ++y) {
      const int64_t at = first * p.stride[1] - p.pad[1] + y;
      const bool in_image = at >= 0 && at < p.source[1];
      row[y] = in_image
                   ? work.in + (image * p.source[1] + at) * width * channels + chunk * kChannels
                   : nullptr;
    }
    const float* weights = work.weights + chunk * kFilter;
#pragma GCC unroll 3
    for (int y = 0; y < kTaps; ++y) {
#pragma GCC unroll 3
      for (int x = 0; x < kTaps; ++x, weights += kChannels)
        filter[y][x] = {_mm512_loadu_ps(weights), _mm512_loadu_ps(weights + kBlockLanes)};
    }
    start = bias_of(sink.rest.bias ? sink.rest.bias + chunk * kChannels : nullptr, inside);
  }

  MX_INLINE Halves read(int y, int64_t column) const {
    return widened(_mm512_maskz_loadu_epi16(inside, row[y] + column * channels));
  }
  // Add the products of row y's elements and column `tap` of the filter.
  MX_INLINE void add(Halves (&sums)[rows], const Halves& x, int y, int tap) const {
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) {
      if (y - r < 0 || y - r >= kTaps) continue;
      sums[r].even = _mm512_fmadd_ps(x.even, filter[y - r][tap].even, sums[r].even);
      sums[r].odd = _mm512_fmadd_ps(x.odd, filter[y - r][tap].odd, sums[r].odd);
    }
  }
  MX_INLINE void store(int r, int64_t x, Halves sum) const {
    const int64_t at = to + (r * out_width + x) * channels;
    if (sink.rest.other) {
      const Halves other = widened(_mm512_maskz_loadu_epi16(inside, sink.rest.other + at));
      sum.even = _mm512_add_ps(sum.even, other.even), sum.odd = _mm512_add_ps(sum.odd, other.odd);
    }
    sum.even = sink.result<kind>(sum.even, alpha, beta);
    sum.odd = sink.result<kind>(sum.odd, alpha, beta);
    _mm512_mask_storeu_epi16(sink.rest.out + at, inside, joined(sum.even, sum.odd));
  }

  // Stride 1: of the three columns of sums in progress, the first is complete once the column under
  // its last tap has been read.
  MX_INLINE void slide() const {
    Halves sums[kTaps][rows];
#pragma GCC unroll 3
    for (int k = 0; k < kTaps; ++k) {
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) sums[k][r] = start;
    }
    for (int64_t column = -pad; column < out_width - pad + kTaps - 1; ++column) {
      if (column >= 0 && column < width) {
#pragma GCC unroll 4
        for (int y = 0; y < kRead; ++y) {
          if (!row[y]) continue;
          const Halves x = read(y, column);
          add(sums[0], x, y, 2), add(sums[1], x, y, 1), add(sums[2], x, y, 0);
        }
      }
      const int64_t done = column + pad - (kTaps - 1);
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) {
        if (done >= 0 && done < out_width) store(r, done, sums[0][r]);
        sums[0][r] = sums[1][r], sums[1][r] = sums[2][r], sums[2][r] = start;
      }
    }
  }

  // Any stride: one output column at a time.
  MX_INLINE void stride() const {
    for (int64_t x = 0; x < out_width; ++x) {
      Halves sums[rows];
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) sums[r] = start;
#pragma GCC unroll 3
      for (int k = 0; k < kTaps; ++k) {
        const int64_t column = x * step - pad + k;
        if (column < 0 || column >= width) continue;
#pragma GCC unroll 4
        for (int y = 0; y < kRead; ++y) {
          if (row[y]) add(sums, read(y, column), y, k);
        }
      }
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) store(r, x, sums[r]);
    }
  }
};

template <int kind, int rows>
void convolve_rows(const Work& work, int64_t image, int64_t chunk, int64_t first) {
  const Rows<kind, rows> own(work, image, chunk, first);
  own.step == 1 ? own.slide() : own.stride();
}

// Output row `first`, or the two from there if two are computed at once.
template <int kind>
void convolve(const Work& work, int64_t image, int64_t chunk, int64_t first) {
  work.rows_at_once() == 2 && first + 1 < work.p.target[1]
      ? convolve_rows<kind, 2>(work, image, chunk, first)
      : convolve_rows<kind, 1>(work, image, chunk, first);
}

const char* refusal(const P& p) {
  if (!multiplies_bf16()) return "this CPU has no AVX512-BF16";
  if (const char* reason = depthwise_3x3_refusal(p)) return reason;
  if (p.before) return "scaling of the data is not supported";
  if (p.in_block != p.groups || p.out_block != p.groups) return "arrays are not channels-last";
  return nullptr;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("conv_depthwise_bf16", reason, what);
  if (what == MX_QUERY_PACKED) return ceil_div(p.groups, kChannels) * kFilter * sizeof(float);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;  // accepted; there is a single layout of weights
}

int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("conv_depthwise_bf16: %s", reason);
  const Work work(call, p);
  const int64_t parts = ceil_div(p.groups, kChannels), size = work.rows_at_once();
  const int64_t bundles = ceil_div(p.target[1], size), units = p.batch * bundles * parts;
  if (p.target[2] < 1 || units < 1) return 0;
  with_activation(p.act, [&](auto act) {
    parallel_for(call->threads, units, ceil_div(units, call->threads),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     convolve<decltype(act)::value>(work, i / parts / bundles, i % parts,
                                                    i / parts % bundles * size);
                 });
  });
  return 0;
}

int pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("conv_depthwise_bf16_pack: %s", reason);
  const float* plain = data<float>(call->in[0]);
  float* blob = data<float>(call->out[0]);
  for (int64_t c = 0; c < round_up(p.groups, kChannels); ++c) {
    const int64_t lane = c % kChannels, place = lane % 2 * kBlockLanes + lane / 2;
    for (int tap = 0; tap < kTaps * kTaps; ++tap)
      blob[c / kChannels * kFilter + tap * kChannels + place] =
          c < p.groups ? plain[c * kTaps * kTaps + tap] : 0;
  }
  return 0;
}

}  // namespace

void register_depthwise_bf16() {
  if (!multiplies_bf16()) return;
  add_with_query("conv_depthwise_bf16", run, MX_BIT(BF16), query);
  add_with_query("conv_depthwise_bf16_pack", pack, MX_BIT(F32), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_depthwise_bf16() {}  // requires AVX512-BF16
MX_LEAF_END
#endif
