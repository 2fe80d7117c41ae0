// "quantize_last": floats of (batch, channels, area) as numbers of 8 bits of (batch, area,
// channels), rounded as "quantize_v2" does with a range that is given.
#include "leaf/quantization/steps.h"
#include "leaf/simd/vec.h"
#include "params/quantization.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kPixels = 64, kChannels = 64;  // of a block

// Put bytes of `channels` planes, kPixels apart, beside each other.
template <class D>
void interleave(const D* planes, int64_t pixels, int64_t channels, D* to, int64_t step) {
  if (channels == 3 && step == 3 && pixels == kPixels) {
    // Images: a pixel's three bytes go out as four, and the next pixel covers the fourth.
    uint32_t words[kPixels];
    const D* from = planes;
    fill_run(words, 0, kPixels, [=](int64_t i) {
      return (uint32_t)(uint8_t)from[i] | (uint32_t)(uint8_t)from[kPixels + i] << 8 |
             (uint32_t)(uint8_t)from[2 * kPixels + i] << 16;
    });
    for (int64_t i = 0; i < kPixels - 1; ++i) memcpy(to + 3 * i, words + i, 4);
    memcpy(to + 3 * (kPixels - 1), words + kPixels - 1, 3);
    return;
  }
  for (int64_t i = 0; i < pixels; ++i, to += step)
    for (int64_t c = 0; c < channels; ++c) to[c] = planes[c * kPixels + i];
}

template <class D>
int quantize_as(const mx_call* call, float top) {
  const mx_tensor& in = call->in[0];
  const int64_t batch = in.shape[0], channels = in.shape[1];
  const int64_t all = count(in);
  if (all == 0) return 0;
  const int64_t area = all / batch / channels, blocks = ceil_div(area, kPixels);
  const float* src = data<float>(in);
  D* dst = data<D>(call->out[0]);
  const float factor = per_unit(limit_of<D>(), top);
  const int64_t grain = (1 << 14) / (kPixels * channels) + 1;
  parallel_for(call->threads, batch * blocks, grain, [&](int64_t begin, int64_t end) {
    D planes[kChannels * kPixels];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / blocks, first = i % blocks * kPixels;
      const int64_t pixels = area - first < kPixels ? area - first : kPixels;
      const float* from = src + image * channels * area + first;
      D* to = dst + (image * area + first) * channels;
      for (int64_t c0 = 0; c0 < channels; c0 += kChannels) {
        const int64_t n = channels - c0 < kChannels ? channels - c0 : kChannels;
        for (int64_t c = 0; c < n; ++c) {
          const float *plane = from + (c0 + c) * area, by = factor;
          const auto narrow = [=](int64_t j) { return saturated<D>(plane[j] * by); };
          if (pixels == kPixels)  // a count that the compiler knows
            fill_run(planes + c * kPixels, 0, kPixels, narrow);
          else
            fill_run(planes + c * kPixels, 0, pixels, narrow);
        }
        interleave(planes, pixels, n, to + c0, channels);
      }
    }
  });
  return 0;
}

int quantize_last(const mx_call* call) {
  const float top = larger((float)((const mx_calibrated_params*)call->params)->high, 0);
  return call->out[0].dtype == MX_I8 ? quantize_as<int8_t>(call, top)
                                     : quantize_as<uint8_t>(call, top);
}

}  // namespace

void register_quantize_last() { mx_kernel_add("quantize_last", quantize_last, MX_BIT(F32), 0); }
MX_LEAF_END
