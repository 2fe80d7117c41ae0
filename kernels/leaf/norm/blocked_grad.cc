// Gradients of training-mode batch normalisation of blocked arrays: "blocked_batch_norm_grad"
// (gradient, data, gamma, mean, inverse, moving_mean, moving_var[, beta] -> data, gamma, beta);
// "_relu" and "_relu6" are those of clipped outputs. "blocked_norm_sum_grad" (gradient, data,
// gamma, mean, inverse, moving_mean, moving_var, positive[, second gradient] -> data, gamma, beta,
// sum) is that of "blocked_norm_sum", whose output's gradient may be the sum of two.
#include "leaf/norm/blocked.h"

MX_LEAF_BEGIN
namespace {
using namespace blocked_norm;

// Sums for the gradient of a plane.
struct Products {
  double gradient[B], product[B];  // of gradients, and of gradients times deviations from the mean

  void add(const VB& gradients, const VB& distances) {
    double numbers[B];
    widen(gradients, numbers);
    for (int c = 0; c < B; ++c) gradient[c] += numbers[c];
    widen(distances, numbers);
    for (int c = 0; c < B; ++c) product[c] += numbers[c];
  }
};

// dx = scale * (g - shift - (x - mean) * slope), for the gradients g within the limits. With
// `parts`, g is the gradient of a sum before relu: that of the output, given as so many summands,
// where the sum is positive.
template <class Act, int parts, bool streams, class T>
struct Backward {
  const Shape s;
  const T *gradient, *in;
  const float *gamma, *mean, *inverse, *beta;
  float *moving_mean, *moving_var;
  const LaneBits* positive;
  const T* other;  // the second summand of the output's gradient
  T *out, *total;  // gradients of data and sum, NULL if not wanted
  float *by_gamma, *by_beta;
  Products* products;  // per plane; those of a block's images are contiguous
  float *scale, *shift, *slope;

  static size_t memory(const Shape& s) {
    return (size_t)(s.images * s.blocks) * sizeof(Products) +
           (size_t)(3 * s.p.channels) * sizeof(float);
  }
  Backward(const mx_call* call, void* own)
      : s(call),
        gradient(data<T>(call->in[0])),
        in(data<T>(call->in[1])),
        gamma(data<float>(call->in[2])),
        mean(data<float>(call->in[3])),
        inverse(data<float>(call->in[4])),
        beta(data<float>(call->in[!parts && call->nin > 7 ? 7 : 2])),
        moving_mean(data<float>(call->in[5])),
        moving_var(data<float>(call->in[6])),
        positive(parts ? data<LaneBits>(call->in[7]) : nullptr),
        other(parts > 1 ? data<T>(call->in[8]) : nullptr),
        out(data<T>(call->out[0])),
        total(parts ? data<T>(call->out[3]) : nullptr),
        by_gamma(data<float>(call->out[1])),
        by_beta(data<float>(call->out[2])),
        products((Products*)own),
        scale((float*)(products + s.images * s.blocks)),
        shift(scale + s.p.channels),
        slope(shift + s.p.channels) {}

  // The gradient of a pixel of `block`'s channels before clipping, and its deviation from the mean.
  struct Pixel {
    const VB mean, wide, add;
    Pixel(const Backward& b, int64_t block)
        : mean(load_block(b.mean + block * B)),
          wide(load_block(b.gamma + block * B) * load_block(b.inverse + block * B)),
          add(load_block(b.beta + block * B)) {}
    MX_INLINE VB passed(const T* gradient, const VB& distance) const {
      return Act::passed(load_block(gradient), fma(distance, wide, add));
    }
  };

  // The gradient of the sum at an element.
  MX_INLINE VB of_sum(int64_t at) const {
    VB g = load_block(gradient + at);
    if constexpr (parts > 1) g += load_block(other + at);
    return keep_lanes(positive[at / B], g);
  }

  void sum_plane(int64_t image, int64_t block) const {
    const Pixel pixel(*this, block);
    Products& part = products[block * s.images + image];
    part = {};
    for (int64_t i = 0; i < s.pixels; i += kChunk) {
      const int64_t n = s.pixels - i < kChunk ? s.pixels - i : kChunk;
      const int64_t at = s.place(image, block) + i * B;
      VB sums[2] = {}, others[2] = {};
      for (int64_t k = 0; k < n; ++k) {
        const VB distance = load_block(in + at + k * B) - pixel.mean;
        VB g;
        if constexpr (parts) {
          g = of_sum(at + k * B);
          if (total) write_block(total + at + k * B, g);
        } else {
          g = pixel.passed(gradient + at + k * B, distance);
        }
        sums[k & 1] = sums[k & 1] + g;
        others[k & 1] = fma(g, distance, others[k & 1]);
      }
      part.add(sums[0] + sums[1], others[0] + others[1]);
    }
  }

  // Compute the gradients of gamma and beta, the moving statistics, and the coefficients of the
  // data gradient.
  void finish_block(int64_t block) const {
    const auto& p = s.p;
    for (int c = 0; c < B; ++c) {
      const int64_t channel = block * B + c;
      double sum = 0, product = 0;
      for (int64_t i = 0; i < s.images; ++i) {
        sum += products[block * s.images + i].gradient[c];
        product += products[block * s.images + i].product[c];
      }
      const double inv = inverse[channel];
      if (by_gamma) by_gamma[channel] = p.fix_gamma ? 0 : (float)(product * inv);
      if (by_beta) by_beta[channel] = (float)sum;
      scale[channel] = p.fix_gamma ? (float)inv : (float)(gamma[channel] * inv);
      shift[channel] = (float)(sum / s.count);
      slope[channel] = (float)(product * inv * inv / s.count);
      const double keep = p.momentum, move = 1 - keep;
      moving_mean[channel] = (float)(keep * moving_mean[channel] + move * mean[channel]);
      moving_var[channel] = (float)(keep * moving_var[channel] + move * (1 / (inv * inv) - p.eps));
    }
  }

  void write_plane(int64_t image, int64_t block) const {
    if (!out) return;
    const Pixel pixel(*this, block);
    const VB scales = load_block(scale + block * B), shifts = load_block(shift + block * B);
    const VB slopes = load_block(slope + block * B);
    const int64_t at = s.place(image, block), n = s.pixels * B;
    for (int64_t i = at; i < at + n; i += B) {
      const VB distance = load_block(in + i) - pixel.mean;
      VB g;
      if constexpr (parts) {
        g = total ? load_block(total + i) : of_sum(i);
      } else {
        g = pixel.passed(gradient + i, distance);
      }
      put_block<streams>(out + i, scales * (g - shifts - distance * slopes));
    }
    if constexpr (streams) end_streams();
  }
};

template <class Act, int parts, bool streams, class T>
int backward_by(const mx_call* call) {
  typedef Backward<Act, parts, streams, T> Gradients;
  void* own = scratch(kSharedSlot, Gradients::memory(Shape(call)));
  if (!own) return -1;
  const Gradients b(call, own);
  in_passes(
      call->threads, b.s, [&](int64_t image, int64_t block) { b.sum_plane(image, block); },
      [&](int64_t block) { b.finish_block(block); },
      [&](int64_t image, int64_t block) { b.write_plane(image, block); });
  return 0;
}

template <class Act, int parts, class T>
int backward(const mx_call* call) {
  return can_stream<T>(call->out[0]) ? backward_by<Act, parts, true, T>(call)
                                     : backward_by<Act, parts, false, T>(call);
}

int backward_of_sum(const mx_call* call) {
  return call->nin > 8 ? backward<Open, 2, float>(call) : backward<Open, 1, float>(call);
}

template <class T>
void add(uint32_t dtype) {
  add_with_query("blocked_batch_norm_grad", backward<Open, 0, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu_grad", backward<Relu, 0, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu6_grad", backward<Relu6, 0, T>, dtype, query);
}

}  // namespace

void register_blocked_norm_grad() {
  add<float>(MX_BIT(F32));
  add<bf16>(MX_BIT(BF16));
  add_with_query("blocked_norm_sum_grad", backward_of_sum, MX_BIT(F32), query);
}
MX_LEAF_END
