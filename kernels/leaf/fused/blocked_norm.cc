// Inference-mode normalisation of blocked arrays (batch, channels / B, spatial..., B):
// "blocked_scale_shift" (data, scale, shift) and "blocked_lrn" (data).
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/bf16.h"
#include "leaf/simd/half.h"
#include "leaf/simd/math.h"
#include "leaf/simd/plane.h"
#include "params/fused.gen.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
MX_INLINE Vec<T> read(const T* src, int n) {
  return n == kLanes<T> ? load(src) : load_first(src, n);
}
template <class T>
MX_INLINE void write(T* dst, Vec<T> x, int n) {
  n == kLanes<T> ? store(dst, x) : store_first(dst, x, n);
}
MX_INLINE VF read(const bf16* src, int n) {
  VH bits = {};
  n == kLanes<float> ? memcpy(&bits, src, sizeof bits) : memcpy(&bits, src, n * sizeof(bf16));
  return widen(bf16{}, bits);
}
MX_INLINE void put(bf16* dst, const VH& bits, int n) {
  n == kLanes<float> ? memcpy(dst, &bits, sizeof bits) : memcpy(dst, &bits, n * sizeof(bf16));
}
MX_INLINE void write(bf16* dst, VF x, int n) { put(dst, narrow(bf16{}, x), n); }

#if MX_ISA_LEVEL == 4
// bfloat16 rounded by a CPU instruction.
struct QuickBf16 {
  bf16 number;
};
MX_INLINE VF read(const QuickBf16* src, int n) { return read(&src->number, n); }
MX_INLINE void write(QuickBf16* dst, VF x, int n) {
  VH bits;
  asm("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(x));
  put(&dst->number, bits, n);
}
#endif

// H: dtype of the data; T: dtype of the parameters and of the computation.
template <class H, class T, bool relu>
MX_INLINE void scale_shift_at(const H* in, H* out, Vec<T> scale, Vec<T> shift, int lanes) {
  Vec<T> x = fma(read(in, lanes), scale, shift);
  if (relu) x = x < 0 ? Vec<T>{} : x;
  write(out, x, lanes);
}

// `n` positions of a block of channels. If a block is one vector, its factors stay in registers;
// wider ones are processed in memory order.
template <class H, class T, bool relu>
void scale_shift_strip(const H* in, H* out, const T* scales, const T* shifts, int64_t n,
                       int64_t block) {
  if (block <= kLanes<T>) {
    const int lanes = (int)block;
    const Vec<T> scale = read(scales, lanes), shift = read(shifts, lanes);
    for (int64_t k = 0; k < n; ++k, in += block, out += block)
      scale_shift_at<H, T, relu>(in, out, scale, shift, lanes);
    return;
  }
  const int64_t whole = block / kLanes<T> * kLanes<T>;
  for (int64_t k = 0; k < n; ++k, in += block, out += block) {
    for (int64_t c = 0; c < whole; c += kLanes<T>)
      scale_shift_at<H, T, relu>(in + c, out + c, load(scales + c), load(shifts + c), kLanes<T>);
    if (whole < block) {
      const int lanes = (int)(block - whole);
      scale_shift_at<H, T, relu>(in + whole, out + whole, read(scales + whole, lanes),
                                 read(shifts + whole, lanes), lanes);
    }
  }
}

template <class H, class T, bool relu>
void scale_shift(const mx_call* call, const mx_scale_shift_params& p) {
  const T *scales = data<T>(call->in[1]), *shifts = data<T>(call->in[2]);
  const H* in = data<H>(call->in[0]);
  H* out = data<H>(call->out[0]);
  constexpr int64_t kStrip = 64;
  const int64_t strips = ceil_div(p.inner, kStrip);
  parallel_for(call->threads, p.outer * p.blocks * strips, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / strips, first = i % strips * kStrip;
      const int64_t channel = plane % p.blocks * p.block;
      const int64_t at = (plane * p.inner + first) * p.block;
      scale_shift_strip<H, T, relu>(in + at, out + at, scales + channel, shifts + channel,
                                    least(kStrip, p.inner - first), p.block);
    }
  });
}

template <class H, class T>
int blocked_scale_shift(const mx_call* call) {
  const auto& p = *(const mx_scale_shift_params*)call->params;
  p.relu ? scale_shift<H, T, true>(call, p) : scale_shift<H, T, false>(call, p);
  return 0;
}

// x ** -beta for positive x.
template <class V>
MX_INLINE V negative_power(V x, Element<V> beta) {
  if (beta == (Element<V>)0.75) {
    const V root = sqrt(x);
    return 1 / (root * sqrt(root));
  }
  return exp(-beta * log(x));
}

// Position by position: the squares of all channels in a row, padded with zeros by a window on both
// sides.
template <class T>
int blocked_lrn(const mx_call* call) {
  typedef Vec<T> V;
  const auto& p = *(const mx_lrn_params*)call->params;
  const T share = (T)(p.alpha / (double)p.nsize), knorm = (T)p.knorm, beta = (T)p.beta;
  const int64_t half = least((p.nsize - 1) / 2, p.channels);  // no window is wider
  const int64_t block = call->in[0].shape[call->in[0].ndim - 1];
  const int64_t step = p.inner * block, image = p.channels * p.inner;
  return parallel_try(call->threads, p.outer * p.inner, 16, [&](int64_t begin, int64_t end) {
    const size_t padded = (size_t)(p.channels + 2 * half + kLanes<T>);
    T* squares = (T*)scratch(kTempSlot, padded * sizeof(T));
    if (!squares) return false;
    memset(squares, 0, padded * sizeof(T));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / p.inner * image + i % p.inner * block;
      const T* in = data<T>(call->in[0]) + first;
      T* out = data<T>(call->out[0]) + first;
      const auto each_vector = [&](const auto& body) {
        for (int64_t b = 0; b < p.channels / block; ++b) {
          for (int64_t c = 0; c < block; c += kLanes<T>) {
            body(b * step + c, b * block + c, (int)least(kLanes<T>, block - c));
          }
        }
      };
      each_vector([&](int64_t at, int64_t channel, int lanes) {
        const V x = read(in + at, lanes);
        write(squares + half + channel, x * x, lanes);
      });
      each_vector([&](int64_t at, int64_t channel, int lanes) {
        V sum = load(squares + channel);
        for (int64_t k = 1; k <= 2 * half; ++k) sum += load(squares + channel + k);
        const V power = negative_power(knorm + share * sum, beta);
        write(out + at, read(in + at, lanes) * power, lanes);
      });
    }
    return true;
  });
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("blocked_scale_shift", blocked_scale_shift<T, T>, dtype, 0);
  mx_kernel_add("blocked_lrn", blocked_lrn<T>, dtype, 0);
}

}  // namespace

void register_blocked_norm() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  auto* narrow_scale_shift = blocked_scale_shift<bf16, float>;
#if MX_ISA_LEVEL == 4
  if (multiplies_bf16()) narrow_scale_shift = blocked_scale_shift<QuickBf16, float>;
#endif
  mx_kernel_add("blocked_scale_shift", narrow_scale_shift, MX_BIT(BF16), 0);
}
MX_LEAF_END
