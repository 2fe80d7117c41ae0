// "quantize_last": floats (batch, channels, area) to 8-bit integers (batch, area, channels),
// rounded like "quantize_v2" with a given range.
#include "leaf/quantization/steps.h"
#include "leaf/simd/vec.h"
#include "params/quantization.gen.h"

#if MX_ISA_LEVEL == 4
#include "intrinsics.h"
#endif

MX_LEAF_BEGIN
namespace {

constexpr int64_t kPixels = 64, kChannels = 64;  // per block

// Interleave the bytes of `channels` planes that are kPixels apart.
template <class D>
void interleave(const D* planes, int64_t pixels, int64_t channels, D* to, int64_t step) {
  for (int64_t i = 0; i < pixels; ++i, to += step)
    for (int64_t c = 0; c < channels; ++c) to[c] = planes[c * kPixels + i];
}

// Pack the low three bytes of kPixels words.
void join_threes(const uint32_t* words, void* to) {
#if MX_ISA_LEVEL == 4
  const __m512i bytes =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
  for (int64_t i = 0; i < kPixels; i += 16) {
    const __m512i threes = _mm512_shuffle_epi8(_mm512_loadu_si512(words + i), bytes);
    _mm512_mask_storeu_epi32((char*)to + 3 * i, 0xfff, _mm512_permutexvar_epi32(lanes, threes));
  }
#else
  // Each pixel stores four bytes; the next pixel overwrites the fourth.
  char* pixel = (char*)to;
  for (int64_t i = 0; i < kPixels - 1; ++i) memcpy(pixel + 3 * i, words + i, 4);
  memcpy(pixel + 3 * (kPixels - 1), words + kPixels - 1, 3);
#endif
}

// kPixels pixels of three planes, for RGB images.
template <class D>
void quantize_threes(const float* from, int64_t area, float by, D* to) {
  const float *green = from + area, *blue = green + area;
  uint32_t words[kPixels];
  fill_run(words, 0, kPixels, [=](int64_t i) {
    return (uint32_t)(uint8_t)saturated<D>(from[i] * by) |
           (uint32_t)(uint8_t)saturated<D>(green[i] * by) << 8 |
           (uint32_t)(uint8_t)saturated<D>(blue[i] * by) << 16;
  });
  join_threes(words, to);
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
      if (channels == 3 && pixels == kPixels) {
        quantize_threes(from, area, factor, to);
        continue;
      }
      for (int64_t c0 = 0; c0 < channels; c0 += kChannels) {
        const int64_t n = channels - c0 < kChannels ? channels - c0 : kChannels;
        for (int64_t c = 0; c < n; ++c) {
          const float *plane = from + (c0 + c) * area, by = factor;
          const auto narrow = [=](int64_t j) { return saturated<D>(plane[j] * by); };
          if (pixels == kPixels)  // a compile-time constant
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
