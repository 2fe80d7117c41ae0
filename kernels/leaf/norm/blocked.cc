// Training-mode batch normalisation of blocked arrays, forward: "blocked_batch_norm" (data, gamma,
// beta, moving_mean, moving_var -> output, mean, inverse); "_relu" and "_relu6" clip the output.
// "blocked_norm_sum" has one input more, which is added before relu, and returns which elements of
// the sum are positive: one bit each.
#include "leaf/norm/blocked.h"

MX_LEAF_BEGIN
namespace {
using namespace blocked_norm;

constexpr int kSums = 4;  // independent sums, to hide the latency of additions

// Mean and sum of squared deviations of some elements of each channel.
struct Moments {
  double count, mean[B], squares[B];

  void add(double n, const double* other_mean, const double* other_squares) {
    if (n == 0) return;
    const double all = count + n, share = n / all;
    for (int c = 0; c < B; ++c) {
      const double apart = other_mean[c] - mean[c];
      mean[c] += apart * share;
      squares[c] += other_squares[c] + apart * apart * (count * share);
    }
    count = all;
  }
  void add(const Moments& other) { add(other.count, other.mean, other.squares); }
};

// The sum of f(pixel index) over n pixels.
template <class F>
MX_INLINE VB sum_of(int64_t n, const F& f) {
  VB sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) sums[k] = sums[k] + f(i + k);
  }
  for (; i < n; ++i) sums[0] = sums[0] + f(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class T>
Moments moments_of(const T* x, int64_t pixels) {
  Moments all = {};
  for (int64_t i = 0; i < pixels; i += kChunk, x += kChunk * B) {
    const int64_t n = pixels - i < kChunk ? pixels - i : kChunk;
    const VB mean = sum_of(n, [=](int64_t k) { return load_block(x + k * B); }) / (float)n;
    const VB squares = sum_of(n, [=](int64_t k) {
      const VB apart = load_block(x + k * B) - mean;
      return apart * apart;
    });
    double means[B], sums[B];
    widen(mean, means);
    widen(squares, sums);
    all.add((double)n, means, sums);
  }
  return all;
}

template <class Act, bool sums, bool streams, class T>
int forward_by(const mx_call* call) {
  const Shape s(call);
  const auto& p = s.p;
  const T* in = data<T>(call->in[0]);
  const T* other = sums ? data<T>(call->in[5]) : nullptr;
  LaneBits* positive = sums ? data<LaneBits>(call->out[3]) : nullptr;
  T* out = data<T>(call->out[0]);
  const float* beta = data<float>(call->in[2]);
  float* gamma = data<float>(call->in[1]);
  float *mean = data<float>(call->out[1]), *inverse = data<float>(call->out[2]);
  // Statistics that the caller does not want have no memory of their own.
  const size_t parts = (size_t)(s.images * s.blocks) * sizeof(Moments);
  Moments* moments =
      (Moments*)scratch(kSharedSlot, parts + (size_t)(2 * p.channels) * sizeof(float));
  if (!moments) return -1;
  float* own = (float*)(moments + s.images * s.blocks);
  if (!mean) mean = own;
  if (!inverse) inverse = own + p.channels;
  in_passes(
      call->threads, s,
      [&](int64_t image, int64_t block) {
        moments[block * s.images + image] = moments_of(in + s.place(image, block), s.pixels);
      },
      [&](int64_t block) {
        Moments all = {};
        for (int64_t i = 0; i < s.images; ++i) all.add(moments[block * s.images + i]);
        for (int c = 0; c < B; ++c) {
          const int64_t channel = block * B + c;
          mean[channel] = (float)all.mean[c];
          inverse[channel] = (float)(1 / __builtin_sqrt(all.squares[c] / s.count + p.eps));
          if (p.fix_gamma) gamma[channel] = 1;
        }
      },
      [&](int64_t image, int64_t block) {
        const VB m = load_block(mean + block * B), shift = load_block(beta + block * B);
        const VB scale = load_block(gamma + block * B) * load_block(inverse + block * B);
        const int64_t at = s.place(image, block);
        for (int64_t i = at; i < at + s.pixels * B; i += B) {
          VB y = fma(load_block(in + i) - m, scale, shift);
          if constexpr (sums) {
            y += load_block(other + i);
            if (positive) positive[i / B] = positive_lanes(y);
          }
          put_block<streams>(out + i, Act::value(y));
        }
        if constexpr (streams) end_streams();
      });
  return 0;
}

template <class Act, bool sums, class T>
int forward(const mx_call* call) {
  return can_stream<T>(call->out[0]) ? forward_by<Act, sums, true, T>(call)
                                     : forward_by<Act, sums, false, T>(call);
}

template <class T>
void add(uint32_t dtype) {
  add_with_query("blocked_batch_norm", forward<Open, false, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu", forward<Relu, false, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu6", forward<Relu6, false, T>, dtype, query);
}

}  // namespace

void register_blocked_batch_norm() {
  add<float>(MX_BIT(F32));
  add<bf16>(MX_BIT(BF16));
  add_with_query("blocked_norm_sum", forward<Relu, true, float>, MX_BIT(F32), query);
}
MX_LEAF_END
