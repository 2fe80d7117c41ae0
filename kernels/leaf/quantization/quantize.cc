// Conversion between floats, int32 sums and 8-bit integers with a range: "quantize" (data, minimum,
// maximum -> data, minimum, maximum), "quantize_v2" (data -> the same), "requantize" (sums,
// minimum, maximum -> the same) and "dequantize" (data, minimum, maximum -> floats); with scale and
// zero point, "quantize_linear" and "dequantize_linear". Rounding is specified in ops/quantization.
#include "leaf/leaf.h"
#include "leaf/quantization/steps.h"
#include "params/quantization.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int kBlocks = 64;

struct Extremes {
  float low, high;
};

// Minimum and maximum, ignoring NaN; zeros if empty.
template <class S>
Extremes extremes(int threads, const S* src, int64_t n) {
  Extremes parts[kBlocks];
  const int64_t step = n / kBlocks + 1;
  parallel_for(threads, kBlocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      float low = __builtin_inff(), high = -__builtin_inff();
      const int64_t last = block * step + step < n ? block * step + step : n;
      for (int64_t i = block * step; i < last; ++i) {
        const float x = (float)src[i];
        low = x < low ? x : low;
        high = x > high ? x : high;
      }
      parts[block] = {low, high};
    }
  });
  Extremes extremes = parts[0];
  for (const Extremes& part : parts) {
    extremes.low = part.low < extremes.low ? part.low : extremes.low;
    extremes.high = part.high > extremes.high ? part.high : extremes.high;
  }
  return extremes.low <= extremes.high ? extremes : Extremes{0, 0};
}

template <class S, class D>
void narrow(const mx_call* call, float factor) {
  const S* src = data<S>(call->in[0]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const S* from = src;
    const float by = factor;
    fill_run(dst, begin, end, [=](int64_t i) { return saturated<D>((float)from[i] * by); });
  });
}

void write_range(const mx_call* call, float low, float high) {
  if (call->out[1].data) *data<float>(call->out[1]) = low;
  if (call->out[2].data) *data<float>(call->out[2]) = high;
}

// Half away from zero, -127 to 127.
void narrow_away(const mx_call* call, float factor) {
  const float* src = data<float>(call->in[0]);
  int8_t* dst = data<int8_t>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const float* from = src;
    const float by = factor;
    fill_run(dst, begin, end, [=](int64_t i) {
      const float size = __builtin_fabsf(from[i]) * by + 0.5f;
      const float number = __builtin_floorf(size < 127 ? size : 127);
      return (int8_t)(from[i] < 0 ? -number : number);
    });
  });
}

int quantize(const mx_call* call) {
  const float top = reach(call, 1);
  if (call->out[0].dtype == MX_I8) {
    narrow_away(call, per_unit(127.f, top));
    write_range(call, -top, top);
  } else {
    narrow<float, uint8_t>(call, per_unit(255.f, top));
    write_range(call, *data<float>(call->in[1]), *data<float>(call->in[2]));
  }
  return 0;
}

int quantize_v2(const mx_call* call) {
  const auto& p = *(const mx_calibrated_params*)call->params;
  const Extremes range =
      p.given ? Extremes{(float)p.low, (float)p.high}
              : extremes(call->threads, data<float>(call->in[0]), count(call->in[0]));
  const float top = larger(range.low, range.high);
  const bool is_signed = call->out[0].dtype == MX_I8;
  const float factor = per_unit(is_signed ? 127.5f : 255.5f, top);
  if (is_signed) {
    narrow<float, int8_t>(call, factor);
    write_range(call, -top, top);
  } else {
    narrow<float, uint8_t>(call, factor);
    write_range(call, range.low, range.high);
  }
  return 0;
}

int requantize(const mx_call* call) {
  const auto& p = *(const mx_calibrated_params*)call->params;
  const float step = reach(call, 1) / 2147483647.f;
  float top = larger((float)p.low, (float)p.high);
  if (!p.given) {
    const Extremes range = extremes(call->threads, data<int32_t>(call->in[0]), count(call->in[0]));
    top = larger(range.low, range.high) * step;
  }
  const bool is_signed = call->out[0].dtype == MX_I8;
  const float factor = step * per_unit(is_signed ? 127.f : 255.f, top);
  is_signed ? narrow<int32_t, int8_t>(call, factor) : narrow<int32_t, uint8_t>(call, factor);
  write_range(call, is_signed ? -top : 0, top);
  return 0;
}

template <class S>
int dequantize(const mx_call* call) {
  const float step = reach(call, 1) / limit_of<S>();
  const S* src = data<S>(call->in[0]);
  float* dst = data<float>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const S* from = src;
    const float by = step;
    fill_run(dst, begin, end, [=](int64_t i) { return (float)from[i] * by; });
  });
  return 0;
}

template <class D>
void narrow_linear(const mx_call* call) {
  const auto& p = *(const mx_linear_params*)call->params;
  const float step = (float)p.step, zero = (float)p.zero;
  const float* src = data<float>(call->in[0]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const float* from = src;
    const float by = step, shift = zero;
    fill_run(dst, begin, end,
             [=](int64_t i) { return saturated<D>(__builtin_rintf(from[i] / by) + shift); });
  });
}

int quantize_linear(const mx_call* call) {
  call->out[0].dtype == MX_I8 ? narrow_linear<int8_t>(call) : narrow_linear<uint8_t>(call);
  return 0;
}

template <class S>
int dequantize_linear(const mx_call* call) {
  const auto& p = *(const mx_linear_params*)call->params;
  const float step = (float)p.step, zero = (float)p.zero;
  const S* src = data<S>(call->in[0]);
  float* dst = data<float>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const S* from = src;
    const float by = step, shift = zero;
    fill_run(dst, begin, end, [=](int64_t i) { return ((float)from[i] - shift) * by; });
  });
  return 0;
}

}  // namespace

void register_quantize() {
  mx_kernel_add("quantize", quantize, MX_BIT(F32), 0);
  mx_kernel_add("quantize_v2", quantize_v2, MX_BIT(F32), 0);
  mx_kernel_add("requantize", requantize, MX_BIT(I32), 0);
  mx_kernel_add("dequantize", dequantize<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("dequantize", dequantize<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("quantize_linear", quantize_linear, MX_BIT(F32), 0);
  mx_kernel_add("dequantize_linear", dequantize_linear<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("dequantize_linear", dequantize_linear<uint8_t>, MX_BIT(U8), 0);
}
MX_LEAF_END
