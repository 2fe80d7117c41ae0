// Training-mode batch normalisation of blocked arrays (batch, channels / B, spatial..., B):
// "blocked_batch_norm" (data, gamma, beta, moving_mean, moving_var -> output, mean, inverse) and
// "blocked_batch_norm_grad" (gradient, data, gamma, mean, inverse, moving_mean, moving_var[, beta]
// -> data, gamma, beta); the "_relu" and "_relu6" variants clip the output.
//
// Data, output and their gradients are float32 or bfloat16 (T), everything else is float32. Each
// plane (one block of one image) is summed separately, in chunks, and planes are added in order, so
// results do not depend on the number of threads.
#include "core/memory/scratch.h"
#include "leaf/fused/block.h"
#include "leaf/norm/limits.h"
#include "leaf/queries.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int64_t kChunk = 256;  // pixels summed in float while they are in the cache
constexpr int kSums = 4;         // independent sums, to hide the latency of additions

MX_INLINE void write_block(float* p, const VB& x) { store_block(p, x); }
MX_INLINE void write_block(bf16* p, const VB& x) {
  const UB bits = (UB)x, rounded = bits + 0x7fffu + ((bits >> 16) & 1u);  // ties to even
  const HB narrow = __builtin_convertvector((x != x ? bits | 0x400000u : rounded) >> 16, HB);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}

struct Shape {
  const mx_batch_norm_params& p;
  int64_t images, blocks, pixels;
  double count;  // elements per channel

  explicit Shape(const mx_call* call)
      : p(*(const mx_batch_norm_params*)call->params),
        images(p.outer),
        blocks(p.channels / B),
        pixels(p.inner),
        count((double)(p.outer * p.inner > 0 ? p.outer * p.inner : 1)) {}
  int64_t place(int64_t image, int64_t block) const {
    return (image * blocks + block) * pixels * B;
  }
};

// Call first(image, block) for all planes, then between(block), then last(image, block). Threads
// divide blocks, whose planes then stay in their caches, or planes if there are too few blocks.
template <class First, class Between, class Last>
void in_passes(int threads, const Shape& s, const First& first, const Between& between,
               const Last& last) {
  if (ceil_div(s.blocks, threads) * threads * 4 <= s.blocks * 5) {
    parallel_for(threads, s.blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        for (int64_t image = 0; image < s.images; ++image) first(image, block);
        between(block);
        for (int64_t image = s.images; image-- > 0;) last(image, block);
      }
    });
    return;
  }
  const auto planes = [&](const auto& body) {
    parallel_for(threads, s.blocks * s.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i % s.images, i / s.images);
    });
  };
  planes(first);
  parallel_for(threads, s.blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) between(block);
  });
  planes(last);
}

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

void widen(const VB& from, double* to) {
  float numbers[B];
  store_block(numbers, from);
  for (int c = 0; c < B; ++c) to[c] = numbers[c];
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

template <class Act, class T>
int forward(const mx_call* call) {
  const Shape s(call);
  const auto& p = s.p;
  const T* in = data<T>(call->in[0]);
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
          const VB x = load_block(in + i);
          const VB y = fma(x - m, scale, shift);
          write_block(out + i, Act::value(y));
        }
      });
  return 0;
}

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

// dx = scale * (g - shift - (x - mean) * slope), for the gradients g within the limits.
template <class Act, class T>
struct Backward {
  const Shape s;
  const T *gradient, *in;
  const float *gamma, *mean, *inverse, *beta;
  float *moving_mean, *moving_var;
  T* out;
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
        beta(data<float>(call->in[call->nin > 7 ? 7 : 2])),
        moving_mean(data<float>(call->in[5])),
        moving_var(data<float>(call->in[6])),
        out(data<T>(call->out[0])),
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
        const VB g = pixel.passed(gradient + at + k * B, distance);
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
    const T *x = in + at, *own = gradient + at;
    T* to = out + at;
    for (int64_t i = 0; i < n; i += B) {
      const VB distance = load_block(x + i) - pixel.mean;
      const VB g = pixel.passed(own + i, distance);
      write_block(to + i, scales * (g - shifts - distance * slopes));
    }
  }
};

template <class Act, class T>
int backward(const mx_call* call) {
  typedef Backward<Act, T> Gradients;
  void* own = scratch(kSharedSlot, Gradients::memory(Shape(call)));
  if (!own) return -1;
  const Gradients b(call, own);
  in_passes(
      call->threads, b.s, [&](int64_t image, int64_t block) { b.sum_plane(image, block); },
      [&](int64_t block) { b.finish_block(block); },
      [&](int64_t image, int64_t block) { b.write_plane(image, block); });
  return 0;
}

int64_t query(const mx_call* call, int32_t what) {
  const auto& p = *(const mx_batch_norm_params*)call->params;
  const mx_tensor& blocked = call->in[0];
  if (p.channels % B || blocked.ndim < 1 || blocked.shape[blocked.ndim - 1] != B)
    return refused("blocked_batch_norm", "the data is not blocked by this CPU's block size", what);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;
}

template <class T>
void add(uint32_t dtype) {
  add_with_query("blocked_batch_norm", forward<Open, T>, dtype, query);
  add_with_query("blocked_batch_norm_grad", backward<Open, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu", forward<Relu, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu_grad", backward<Relu, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu6", forward<Relu6, T>, dtype, query);
  add_with_query("blocked_batch_norm_relu6_grad", backward<Relu6, T>, dtype, query);
}

}  // namespace

void register_blocked_batch_norm() {
  add<float>(MX_BIT(F32));
  add<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
