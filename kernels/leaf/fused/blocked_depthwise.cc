// "conv_depthwise_blocked": depthwise convolution of blocked activations with packed weights,
// including the epilogue. "conv_depthwise_blocked_pack" packs the weights as [block of
// channels][tap][channel of the block].
#include "leaf/fused/depthwise_sums.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int kOutputs = kVecBytes >= 32 ? 8 : 4;  // neighbouring outputs that are summed together

// The range [low, high) of a window's taps along one dimension that lie in the source; tap k is at
// start + k * dilate.
struct Taps {
  int64_t start, low, high;
  Taps(const mx_fused_conv_params& p, int i, int64_t position) {
    const int64_t step = p.dilate[i];
    start = position * p.stride[i] - p.pad[i];
    const int64_t remaining = p.source[i] - 1 - start;
    low = start < 0 ? (step == 1 ? -start : (-start + step - 1) / step) : 0;
    high = remaining >= 0 ? least(p.kernel[i], (step == 1 ? remaining : remaining / step) + 1) : 0;
    if (high < low) low = high = 0;
  }
};

alignas(64) const float kZeros[B] = {};

// Sums of `count` neighbouring outputs of a row, from position x on. At an edge, taps beyond it
// read zeros. `stride` is a template constant for 1 and 2, else 0.
template <int count, int stride, bool edge>
MX_INLINE void collect(const mx_fused_conv_params& p, const Taps& d, const Taps& h, int64_t x,
                       const float* in, const float* weights, VB* sums) {
  const int64_t next = stride ? stride : p.stride[2], start = x * next - p.pad[2];
  VB kept[count] = {};
  for (int64_t i = d.low; i < d.high; ++i) {
    for (int64_t j = h.low; j < h.high; ++j) {
      const int64_t plane = d.start + i * p.dilate[0], row = h.start + j * p.dilate[1];
      const float* from = in + (plane * p.source[1] + row) * p.source[2] * B;
      const float* taps = weights + (i * p.kernel[1] + j) * p.kernel[2] * B;
      for (int64_t k = 0; k < p.kernel[2]; ++k) {
        const VB weight = load_block(taps + k * B);
        const int64_t first = start + k * p.dilate[2];
        const float* at = from + first * B;
#pragma GCC unroll 8
        for (int u = 0; u < count; ++u) {
          const bool inside = !edge || (uint64_t)(first + u * next) < (uint64_t)p.source[2];
          kept[u] = fma(load_block(inside ? at + u * next * B : kZeros), weight, kept[u]);
        }
      }
    }
  }
  for (int u = 0; u < count; ++u) sums[u] = kept[u];
}

const mx_fused_conv_params& params_of(const mx_call* call) {
  return *(const mx_fused_conv_params*)call->params;
}

// The reason the kernel rejects a call, or NULL.
const char* refusal(const mx_fused_conv_params& p) {
  if (p.channels != 1 || p.filters != 1)
    return "only one channel and one filter per group are supported";
  if (p.in_block != B || p.out_block != B)
    return "the arrays are not blocked by this CPU's block size";
  if (p.groups % B) return "the channels are not a multiple of the block size";
  return nullptr;
}

int64_t taps_of(const mx_fused_conv_params& p) { return p.kernel[0] * p.kernel[1] * p.kernel[2]; }

int64_t query(const mx_call* call, int32_t what) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return refused("conv_depthwise_blocked", reason, what);
  if (what == MX_QUERY_PACKED) return p.groups * taps_of(p) * (int64_t)sizeof(float);
  return what != MX_QUERY_WORKSPACE;  // accepted; there is a single layout of weights
}

// `count` outputs of a row or, at its end, fewer.
template <int act, int stride, int count>
MX_INLINE void convolve_some(const mx_fused_conv_params& p, const Taps& d, const Taps& h, int64_t x,
                             const float* in, const float* weights, const Finish& finish,
                             const VB& bias, int64_t at) {
  const int64_t start = x * p.stride[2] - p.pad[2];
  const int64_t last = start + (count - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilate[2];
  VB sums[count];
  if (start >= 0 && last < p.source[2]) {
    collect<count, stride, false>(p, d, h, x, in, weights, sums);
  } else {
    collect<count, stride, true>(p, d, h, x, in, weights, sums);
  }
  const int n = (int)least(count, p.target[2] - x);
  for (int u = 0; u < n; ++u) finish.write<act>(at + (x + u) * B, sums[u], bias);
}

// A run of outputs of a row from x on, by `depthwise_sums`; returns the first output behind it, or
// x if there is no function for it. At the end of the row, a run may begin before x.
template <int act>
MX_INLINE int64_t convolve_run(const mx_fused_conv_params& p, const Taps& d, const Taps& h,
                               int64_t x, const float* in, const float* weights,
                               const Finish& finish, const VB& bias, int64_t at) {
  const int64_t width = p.target[2], taps = p.kernel[2];
  const bool longer = width >= kRunOutputs && width - x > kShortRun;
  const int64_t outputs = longer ? kRunOutputs : kShortRun, first = least(x, width - outputs);
  const int64_t start = first * p.stride[2] - p.pad[2];
  const int64_t behind = start + (outputs - 1) * p.stride[2] + taps - p.source[2];
  if (first < 0 || p.kernel[0] != 1 || p.dilate[1] != 1 || p.dilate[2] != 1) return x;
  const RunSums sum =
      depthwise_sums(longer, taps, p.stride[2], start < 0 ? -start : 0, behind > 0 ? behind : 0);
  if (!sum || d.low == d.high) return x;
  alignas(64) float sums[kRunOutputs * B];
  sum(in + ((d.start * p.source[1] + h.start + h.low) * p.source[2] + start) * B, p.source[2] * B,
      h.high - h.low, weights + h.low * taps * B, sums);
  for (int64_t i = x; i < first + outputs; ++i)
    finish.write<act>(at + i * B, load_block(sums + (i - first) * B), bias);
  return first + outputs;
}

// One output row of one block of channels.
template <int act, int stride>
void convolve_row(const mx_fused_conv_params& p, const Taps& d, const Taps& h, const float* in,
                  const float* weights, const Finish& finish, const VB& bias, int64_t at) {
  for (int64_t x = 0; x < p.target[2];) {
    const int64_t behind = convolve_run<act>(p, d, h, x, in, weights, finish, bias, at);
    if (behind > x) {
      x = behind;
    } else if (p.target[2] - x > kOutputs / 2) {
      convolve_some<act, stride, kOutputs>(p, d, h, x, in, weights, finish, bias, at);
      x += kOutputs;
    } else {
      convolve_some<act, stride, kOutputs / 2>(p, d, h, x, in, weights, finish, bias, at);
      x += kOutputs / 2;
    }
  }
}

template <int act>
void convolve(const mx_call* call, const mx_fused_conv_params& p, const Finish& finish) {
  const float *in = data<float>(call->in[0]), *weights = data<float>(call->in[1]);
  const int64_t blocks = p.groups / B, rows = p.target[0] * p.target[1];
  const int64_t source = p.source[0] * p.source[1] * p.source[2] * B, taps = taps_of(p);
  const auto row = p.stride[2] == 1   ? convolve_row<act, 1>
                   : p.stride[2] == 2 ? convolve_row<act, 2>
                                      : convolve_row<act, 0>;
  parallel_for(call->threads, p.batch * blocks * rows, 1, [&](int64_t begin, int64_t end) {
    int64_t plane = begin / rows, z = begin % rows / p.target[1], y = begin % p.target[1];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = plane % blocks;
      row(p, Taps(p, 0, z), Taps(p, 1, y), in + plane * source, weights + block * taps * B, finish,
          finish.bias_of(block), i * p.target[2] * B);
      if (++y == p.target[1]) y = 0, ++z;
      if (z == p.target[0]) z = 0, ++plane;
    }
  });
}

int conv_depthwise_blocked(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_depthwise_blocked: %s", reason);
  with_activation(p.act,
                  [&](auto act) { convolve<decltype(act)::value>(call, p, finish_of(call, p)); });
  return 0;
}

int conv_depthwise_blocked_pack(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_depthwise_blocked_pack: %s", reason);
  const float* weight = data<float>(call->in[0]);
  float* packed = data<float>(call->out[0]);
  const int64_t taps = taps_of(p);
  for (int64_t c = 0; c < p.groups; ++c) {
    for (int64_t k = 0; k < taps; ++k)
      packed[(c / B * taps + k) * B + c % B] = weight[c * taps + k];
  }
  return 0;
}

}  // namespace

void register_blocked_depthwise() {
  add_with_query("conv_depthwise_blocked", conv_depthwise_blocked, MX_BIT(F32), query);
  add_with_query("conv_depthwise_blocked_pack", conv_depthwise_blocked_pack, MX_BIT(F32), query);
}
MX_LEAF_END
