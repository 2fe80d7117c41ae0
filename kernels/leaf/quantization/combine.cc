// Operations on quantized arrays: "quantized_add" (two arrays of one shape and their ranges, to 8
// bits) and "quantized_concat" (arrays, then their ranges) combine ranges; "quantized_relu" and
// "quantized_pool" keep them. Each returns data, minimum and maximum. Without ranges: "linear_sum"
// adds two arrays with a scale each, "linear_map" rescales, and "linear_mean" rescales the means of
// channels-last images.
#include "leaf/leaf.h"
#include "leaf/quantization/steps.h"
#include "params/quantization.gen.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

void write_range(const mx_call* call, float low, float high) {
  if (call->out[1].data) *data<float>(call->out[1]) = low;
  if (call->out[2].data) *data<float>(call->out[2]) = high;
}

void keep_range(const mx_call* call) {
  write_range(call, *data<float>(call->in[1]), *data<float>(call->in[2]));
}

// --- sums

template <class L, class R, class D>
void add_as(const mx_call* call, float top) {
  const float left = rescale<L, D>(reach(call, 2), top), right = rescale<R, D>(reach(call, 4), top);
  const L* lhs = data<L>(call->in[0]);
  const R* rhs = data<R>(call->in[1]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const L* a = lhs;
    const R* b = rhs;
    const float x = left, y = right;
    fill_run(dst, begin, end,
             [=](int64_t i) { return saturated<D>((float)a[i] * x + (float)b[i] * y); });
  });
}

template <class L>
int add(const mx_call* call) {
  const auto& p = *(const mx_calibrated_params*)call->params;
  const float top = larger((float)p.low, (float)p.high);
  const bool is_signed = call->in[1].dtype == MX_I8;
  if (is_signed)
    add_as<L, int8_t, int8_t>(call, top);
  else if (call->out[0].dtype == MX_U8)
    add_as<L, uint8_t, uint8_t>(call, top);
  else
    add_as<L, uint8_t, int8_t>(call, top);
  write_range(call, (float)p.low, (float)p.high);
  return 0;
}

template <class L, class R, class D>
void sum_as(const mx_call* call) {
  const auto& p = *(const mx_linear_sum_params*)call->params;
  const float left = (float)p.lhs, right = (float)p.rhs, offset = (float)p.offset;
  const L* lhs = data<L>(call->in[0]);
  const R* rhs = data<R>(call->in[1]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const L* a = lhs;
    const R* b = rhs;
    const float x = left, y = right, z = offset;
    fill_run(dst, begin, end,
             [=](int64_t i) { return saturated<D>((float)a[i] * x + (float)b[i] * y + z); });
  });
}

template <class L, class R>
void sum_to(const mx_call* call) {
  call->out[0].dtype == MX_I8 ? sum_as<L, R, int8_t>(call) : sum_as<L, R, uint8_t>(call);
}

template <class L>
int linear_sum(const mx_call* call) {
  call->in[1].dtype == MX_I8 ? sum_to<L, int8_t>(call) : sum_to<L, uint8_t>(call);
  return 0;
}

template <class S, class D>
void map_as(const mx_call* call) {
  const auto& p = *(const mx_linear_map_params*)call->params;
  const float factor = (float)p.factor, offset = (float)p.offset;
  const S* src = data<S>(call->in[0]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), 1 << 14, [&](int64_t begin, int64_t end) {
    const S* from = src;  // may be the output itself
    const float x = factor, z = offset;
    fill_run(dst, begin, end, [=](int64_t i) { return saturated<D>((float)from[i] * x + z); });
  });
}

template <class S>
int linear_map(const mx_call* call) {
  call->out[0].dtype == MX_I8 ? map_as<S, int8_t>(call) : map_as<S, uint8_t>(call);
  return 0;
}

template <class S, class D>
void mean_as(const mx_call* call) {
  const auto& p = *(const mx_linear_mean_params*)call->params;
  constexpr int64_t kStripe = 256;  // channels whose sums stay in the cache
  const int64_t stripes = ceil_div(p.channels, kStripe);
  const int64_t grain = (1 << 15) / (p.positions * kStripe + 1) + 1;
  parallel_for(call->threads, p.outer * stripes, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / stripes, first = i % stripes * kStripe;
      const int64_t left = p.channels - first, n = left < kStripe ? left : kStripe;
      const S* src = data<S>(call->in[0]) + image * p.positions * p.channels + first;
      int32_t sums[kStripe] = {};
      for (int64_t k = 0; k < p.positions; ++k, src += p.channels)
        for (int64_t c = 0; c < n; ++c) sums[c] += src[c];
      const int32_t* from = sums;
      const float x = (float)p.factor, z = (float)p.offset;
      fill_run(data<D>(call->out[0]) + image * p.channels + first, 0, n,
               [=](int64_t c) { return saturated<D>((float)from[c] * x + z); });
    }
  });
}

template <class S>
int linear_mean(const mx_call* call) {
  call->out[0].dtype == MX_I8 ? mean_as<S, int8_t>(call) : mean_as<S, uint8_t>(call);
  return 0;
}

// --- concatenation

template <class S, class D>
void join_rows(const S* src, D* dst, int64_t n, float factor) {
  fill_run(dst, 0, n, [=](int64_t i) { return saturated<D>((float)src[i] * factor); });
}

template <class D>
int concat_as(const mx_call* call, int64_t rows) {
  const int arrays = call->nin / 3;
  float low = *data<float>(call->in[arrays]), high = *data<float>(call->in[arrays + 1]);
  for (int i = 1; i < arrays; ++i) {
    const float a = *data<float>(call->in[arrays + 2 * i]);
    const float b = *data<float>(call->in[arrays + 2 * i + 1]);
    low = a < low ? a : low;
    high = b > high ? b : high;
  }
  const float top = larger(low, high);
  const int64_t whole = count(call->out[0]) / rows;
  const int64_t grain = (1 << 14) / (whole + 1) + 1;
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, rows, grain, [&](int64_t begin, int64_t end) {
    int64_t at = 0;
    for (int i = 0; i < arrays; ++i) {
      const mx_tensor& in = call->in[i];
      const float own = reach(call, arrays + 2 * i);
      const int64_t n = count(in) / rows;
      const bool moves = in.dtype == call->out[0].dtype && own == top;
      for (int64_t r = begin; r < end; ++r) {
        D* to = dst + r * whole + at;
        if (moves)
          memcpy(to, data<D>(in) + r * n, n);
        else if (in.dtype == MX_I8)
          join_rows(data<int8_t>(in) + r * n, to, n, rescale<int8_t, D>(own, top));
        else
          join_rows(data<uint8_t>(in) + r * n, to, n, rescale<uint8_t, D>(own, top));
      }
      at += n;
    }
  });
  write_range(call, low, high);
  return 0;
}

int concat(const mx_call* call) {
  const int64_t rows = ((const mx_blocks_params*)call->params)->rows;
  return call->out[0].dtype == MX_I8 ? concat_as<int8_t>(call, rows)
                                     : concat_as<uint8_t>(call, rows);
}

// --- operations that keep the range

template <class D>
int rectify(const mx_call* call) {
  const D* src = data<D>(call->in[0]);
  D* dst = data<D>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), 1 << 15, [&](int64_t begin, int64_t end) {
    const D* from = src;  // may be the output itself
    fill_run(dst, begin, end, [=](int64_t i) { return from[i] > 0 ? from[i] : (D)0; });
  });
  keep_range(call);
  return 0;
}

}  // namespace

void register_quantize_combine() {
  mx_kernel_add("quantized_add", add<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("quantized_add", add<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("linear_sum", linear_sum<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("linear_sum", linear_sum<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("linear_map", linear_map<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("linear_map", linear_map<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("linear_mean", linear_mean<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("linear_mean", linear_mean<uint8_t>, MX_BIT(U8), 0);
  mx_kernel_add("quantized_concat", concat, MX_BIT(I8) | MX_BIT(U8), 0);
  mx_kernel_add("quantized_relu", rectify<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("quantized_relu", rectify<uint8_t>, MX_BIT(U8), 0);
}
MX_LEAF_END
