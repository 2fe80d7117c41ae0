// "quantized_norm" (data, gamma, beta, mean, variance, minimum, maximum -> data, minimum, maximum):
// each channel of (outer, channels, inner) 8-bit integers is scaled and shifted into a given range,
// optionally followed by ReLU.
#include "leaf/leaf.h"
#include "leaf/quantization/bytes.h"
#include "leaf/quantization/steps.h"
#include "params/quantization.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_quantized_norm_params P;

// Channels [0, n) of a position, given scales and shifts.
template <class S>
void norm_place(const S* from, int8_t* to, int64_t n, const float* a, const float* b, float by,
                float low) {
  int64_t done = 0;
#if MX_ISA_LEVEL >= 3
  constexpr int64_t kStep = 4 * kFilterLanes;
  const VF unit = splat<VF>(by), highest = splat<VF>(127.f);
  for (; done + kStep <= n; done += kStep) {
    Sums numbers[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int64_t at = done + i * kFilterLanes;
      VF x = load_bytes((const char*)from + at, (S)-1 < 0, inside_of(kFilterLanes));
      x = (x * load(a + at) + load(b + at)) * unit;
      numbers[i] = to_integers(min(x, highest));
    }
    store((uint8_t*)to + done, narrowed<true>(numbers, low == 0));
  }
#endif
  fill_run(to, done, n, [=](int64_t c) {
    const float x = ((float)from[c] * a[c] + b[c]) * by;
    return saturated<int8_t>(x < low ? low : x);
  });
}

template <class S>
int norm(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const int64_t channels = p.channels, inner = p.inner;
  const float step = reach(call, 5) / limit_of<S>();
  const float unit = per_unit(127.5f, larger((float)p.low, (float)p.high));
  const float *gamma = data<float>(call->in[1]), *beta = data<float>(call->in[2]);
  const float *mean = data<float>(call->in[3]), *variance = data<float>(call->in[4]);
  float *factors = (float*)call->workspace, *shifts = factors + channels;
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = gamma[c] / __builtin_sqrtf(variance[c] + (float)p.eps);
    shifts[c] = beta[c] - mean[c] * scale;
    factors[c] = scale * step;
  }
  const float lowest = p.relu ? 0.f : -128.f;
  const S* src = data<S>(call->in[0]);
  int8_t* dst = data<int8_t>(call->out[0]);
  if (inner == 1) {
    const int64_t grain = (1 << 14) / (channels + 1) + 1;
    parallel_for(call->threads, p.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        norm_place(src + r * channels, dst + r * channels, channels, factors, shifts, unit, lowest);
    });
  } else {
    const int64_t grain = (1 << 14) / (inner + 1) + 1;
    parallel_for(call->threads, p.outer * channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float factor = factors[r % channels], shift = shifts[r % channels];
        const float by = unit, low = lowest;
        const S* from = src;
        fill_run(dst, r * inner, (r + 1) * inner, [=](int64_t i) {
          const float x = ((float)from[i] * factor + shift) * by;
          return saturated<int8_t>(x < low ? low : x);
        });
      }
    });
  }
  if (call->out[1].data) *data<float>(call->out[1]) = (float)p.low;
  if (call->out[2].data) *data<float>(call->out[2]) = (float)p.high;
  return 0;
}

}  // namespace

void register_quantize_norm() {
  mx_kernel_add("quantized_norm", norm<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("quantized_norm", norm<uint8_t>, MX_BIT(U8), 0);
}
MX_LEAF_END
