// "blocked_pool_bf16": pooling of channels-last bfloat16 arrays over two dimensions, in float32.
//
// For 64 channels of a row of results, the rows under its windows are first reduced to one, then
// the columns of each window.
#include "core/parallel_try.h"
#include "leaf/convolution/channels_last_bf16.h"
#include "params/pooling.gen.h"

#if MX_ISA_LEVEL == 4
#include "core/memory/scratch.h"

MX_LEAF_BEGIN
namespace {

typedef mx_pool_params P;
enum Kind { kMax, kAverage, kSum };
constexpr int64_t kChannels = 32;  // of a register

// The part [begin, end) of a window inside the array, and its length with padding.
struct Extent {
  int64_t begin, end, whole;
  Extent(const P& p, int i, int64_t position) {
    const int64_t first = position * p.stride[i] - p.pad[i];
    const int64_t last = least(first + p.kernel[i], p.source[i] + p.pad[i]);
    whole = last > first ? last - first : 0;
    begin = first > 0 ? first : 0;
    end = least(last, p.source[i]) > begin ? least(last, p.source[i]) : begin;
  }
  int64_t size() const { return end - begin; }
};

template <int kind>
MX_INLINE void join(Halves& sum, const Halves& x) {
  if (kind == kMax) {  // NaN is never a maximum
    sum = {_mm512_max_ps(x.even, sum.even), _mm512_max_ps(x.odd, sum.odd)};
  } else {
    sum = {_mm512_add_ps(x.even, sum.even), _mm512_add_ps(x.odd, sum.odd)};
  }
}

// One row of results for N registers of channels, of which `left` exist; `sums` has room for a row
// of the data.
template <int kind, int N>
void pool_row(const P& p, const Extent& h, const bf16* in, bf16* out, int64_t left, Halves* sums) {
  const __m512 lowest = _mm512_set1_ps(kind == kMax ? -0x1.FEp127f : 0);
  const int64_t row = p.source[2] * p.inner, last = left - (N - 1) * kChannels;
  const __mmask32 inside = last >= kChannels ? ~0u : (1u << last) - 1;
  const auto mask = [&](int n) MX_ALWAYS { return n == N - 1 ? inside : ~0u; };
  for (int64_t x = 0; x < p.source[2]; ++x) {
    Halves sum[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sum[n] = {lowest, lowest};
    for (int64_t y = h.begin; y < h.end; ++y) {
      const bf16* from = in + y * row + x * p.inner;
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n)
        join<kind>(sum[n], widened(_mm512_maskz_loadu_epi16(mask(n), from + n * kChannels)));
    }
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sums[x * N + n] = sum[n];
  }
  for (int64_t x = 0; x < p.target[2]; ++x, out += p.inner) {
    const Extent w(p, 2, x);
    const int64_t size = p.count_pad ? h.whole * w.whole : h.size() * w.size();
    const __m512 factor = _mm512_set1_ps(size ? 1 / (float)size : 0);
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      Halves sum = {lowest, lowest};
      for (int64_t i = w.begin; i < w.end; ++i) join<kind>(sum, sums[i * N + n]);
      if (kind == kAverage) sum = {_mm512_mul_ps(sum.even, factor), _mm512_mul_ps(sum.odd, factor)};
      _mm512_mask_storeu_epi16(out + n * kChannels, mask(n), joined(sum.even, sum.odd));
    }
  }
}

template <int kind>
int pool(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const int64_t source = p.source[1] * p.source[2] * p.inner, width = p.target[2] * p.inner;
  const int64_t rows = p.outer * p.target[1];
  return parallel_try(call->threads, rows, 1, [&](int64_t begin, int64_t end) {
    Halves* sums = (Halves*)scratch(kTempSlot, (size_t)p.source[2] * 2 * sizeof(Halves));
    if (!sums) return false;
    for (int64_t i = begin; i < end; ++i) {
      const Extent h(p, 1, i % p.target[1]);
      const bf16* in = data<bf16>(call->in[0]) + i / p.target[1] * source;
      bf16* out = data<bf16>(call->out[0]) + i * width;
      for (int64_t c = 0; c < p.inner; c += 2 * kChannels) {
        const int64_t left = p.inner - c;
        left > kChannels ? pool_row<kind, 2>(p, h, in + c, out + c, left, sums)
                         : pool_row<kind, 1>(p, h, in + c, out + c, left, sums);
      }
    }
    return true;
  });
}

int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return mx_fail("blocked_pool_bf16: three spatial dimensions are not supported");
  switch (p.kind) {
    case kMax:
      return pool<kMax>(call);
    case kAverage:
      return pool<kAverage>(call);
    case kSum:
      return pool<kSum>(call);
    default:
      return mx_fail("blocked_pool_bf16: p-norm pooling is not supported");
  }
}

}  // namespace

void register_blocked_pool_bf16() {
  if (multiplies_bf16()) mx_kernel_add("blocked_pool_bf16", run, MX_BIT(BF16), 0);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_blocked_pool_bf16() {}  // requires AVX512-BF16
MX_LEAF_END
#endif
