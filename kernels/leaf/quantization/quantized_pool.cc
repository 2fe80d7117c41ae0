// Pooling of 8-bit data: "quantized_pool" (data, minimum, maximum -> the same), maxima and averages
// rounded half to even, over (outer, spatial..., inner) arrays.
#include "leaf/leaf.h"
#include "leaf/quantization/bytes.h"
#include "leaf/quantization/steps.h"
#include "leaf/simd/vec.h"
#include "params/pooling.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_pool_params P;

struct Window {
  int64_t begin[3], end[3], whole, inside;

  Window(const P& p, const int64_t* place) : whole(1), inside(1) {
    for (int i = 0; i < 3; ++i) {
      const int64_t first = place[i] * p.stride[i] - p.pad[i];
      const int64_t last = least(first + p.kernel[i], p.source[i] + p.pad[i]);
      whole *= last > first ? last - first : 0;
      begin[i] = first > 0 ? first : 0;
      end[i] = least(last, p.source[i]);
      if (end[i] < begin[i]) end[i] = begin[i];
      inside *= end[i] - begin[i];
    }
  }

 private:
  static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
};

// Call body(pointer to the data of a position) for each position of a window.
template <class D, class Body>
void each_place(const P& p, const Window& w, const D* plane, const Body& body) {
  for (int64_t i = w.begin[0]; i < w.end[0]; ++i)
    for (int64_t j = w.begin[1]; j < w.end[1]; ++j)
      for (int64_t k = w.begin[2]; k < w.end[2]; ++k)
        body(plane + ((i * p.source[1] + j) * p.source[2] + k) * p.inner);
}

template <class D>
void maximum(const P& p, const Window& w, const D* plane, D* dst) {
  typedef Vec<D> V;
  const D lowest = (D)-1 < 0 ? (D)-128 : (D)0;
  int64_t done = 0;
  for (; done + kLanes<D> <= p.inner; done += kLanes<D>) {
    V top = splat<V>(lowest);
    each_place(p, w, plane + done, [&](const D* src) {
      const V x = load(src);
      top = x > top ? x : top;
    });
    store(dst + done, top);
  }
  const int64_t n = p.inner - done;
  for (int64_t c = 0; c < n; ++c) dst[done + c] = lowest;
  each_place(p, w, plane + done, [=](const D* source) {
    const D* __restrict src = source;
    D* __restrict to = dst + done;
    for (int64_t c = 0; c < n; ++c) to[c] = src[c] > to[c] ? src[c] : to[c];
  });
}

// The sums of `n` <= kStripe neighbouring channels over a window, in integers of type W.
constexpr int64_t kStripe = kVecBytes / 2;

template <class W, class D>
void add_up(const P& p, const Window& w, const D* plane, int64_t n, W* sums) {
  typedef W V __attribute__((vector_size(kStripe * sizeof(W))));
  typedef D Narrow __attribute__((vector_size(kStripe)));
  if (n == kStripe) {
    V total = {0};
    each_place(p, w, plane, [&](const D* src) {
      Narrow numbers;
      memcpy(&numbers, src, sizeof numbers);
      total += __builtin_convertvector(numbers, V);
    });
    memcpy(sums, &total, sizeof total);
    return;
  }
  memset(sums, 0, kStripe * sizeof(W));
  each_place(p, w, plane, [&](const D* src) {
    for (int64_t c = 0; c < n; ++c) sums[c] += src[c];
  });
}

// Sums of at most kMostNarrow elements fit in 16 bits. Their quotients differ from a half by enough
// for float precision, or are exactly one.
constexpr int64_t kMaxNarrow = 128;

#if MX_ISA_LEVEL == 4
inline __m512i wide(const int8_t* p) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)p));
}
inline __m512i wide(const uint8_t* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)p));
}

// The averages of 64 channels. If no quotient is a half, or the reciprocal of the divisor is exact,
// multiplication by the reciprocal rounds like division.
template <class D>
void average_wide(const P& p, const Window& w, const D* plane, float divisor, bool by_product,
                  D* dst) {
  __m512i low = _mm512_setzero_si512(), high = low;
  each_place(p, w, plane, [&](const D* src) {
    low = _mm512_add_epi16(low, wide(src));
    high = _mm512_add_epi16(high, wide(src + 32));
  });
  const __m512 by = _mm512_set1_ps(divisor), share = _mm512_set1_ps(1 / divisor);
  const __m256i parts[4] = {_mm512_castsi512_si256(low), _mm512_extracti64x4_epi64(low, 1),
                            _mm512_castsi512_si256(high), _mm512_extracti64x4_epi64(high, 1)};
  __m512i numbers[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(parts[i]));
    numbers[i] =
        _mm512_cvtps_epi32(by_product ? _mm512_mul_ps(sum, share) : _mm512_div_ps(sum, by));
  }
  _mm512_storeu_si512(dst, narrowed<(D)-1 < 0>(numbers, false));
}
#endif

template <class D>
void average(const P& p, const Window& w, const D* plane, D* dst) {
  const int64_t divisor = p.count_pad ? w.whole : w.inside;
  if (w.inside <= 0) {
    memset(dst, 0, p.inner);
    return;
  }
  int64_t first = 0;
#if MX_ISA_LEVEL == 4
  if (w.inside <= kMaxNarrow && divisor <= kMaxNarrow) {
    const bool by_product = divisor % 2 || (divisor & (divisor - 1)) == 0;
    for (; first + 64 <= p.inner; first += 64)
      average_wide(p, w, plane + first, (float)divisor, by_product, dst + first);
  }
#endif
  for (; first < p.inner; first += kStripe) {
    const int64_t n = p.inner - first < kStripe ? p.inner - first : kStripe;
    if (w.inside <= kMaxNarrow && divisor <= kMaxNarrow) {
      int16_t sums[kStripe];
      add_up(p, w, plane + first, n, sums);
      const float by = (float)divisor;
      const int16_t* from = sums;
      if (n == kStripe)  // a compile-time constant
        fill_run(dst + first, 0, kStripe,
                 [=](int64_t c) { return (D)(int32_t)__builtin_rintf((float)from[c] / by); });
      else
        fill_run(dst + first, 0, n,
                 [=](int64_t c) { return (D)(int32_t)__builtin_rintf((float)from[c] / by); });
      continue;
    }
    int32_t sums[kStripe];
    add_up(p, w, plane + first, n, sums);
    for (int64_t c = 0; c < n; ++c)
      dst[first + c] = (D)(int32_t)__builtin_rint((double)sums[c] / (double)divisor);
  }
}

template <class D>
int pool(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const D* src = data<D>(call->in[0]);
  D* dst = data<D>(call->out[0]);
  const int64_t area = p.target[0] * p.target[1] * p.target[2];
  const int64_t plane = p.source[0] * p.source[1] * p.source[2] * p.inner;
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  const int64_t grain = (1 << 14) / (taps * p.inner + 1) + 1;
  parallel_for(call->threads, p.outer * area, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i % area;
      const int64_t place[3] = {at / (p.target[1] * p.target[2]), at / p.target[2] % p.target[1],
                                at % p.target[2]};
      const Window window(p, place);
      const D* from = src + i / area * plane;
      p.kind == 0 ? maximum(p, window, from, dst + i * p.inner)
                  : average(p, window, from, dst + i * p.inner);
    }
  });
  for (int i = 1; i < 3; ++i)
    if (call->out[i].data) *data<float>(call->out[i]) = *data<float>(call->in[i]);
  return 0;
}

}  // namespace

void register_quantize_pool() {
  mx_kernel_add("quantized_pool", pool<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("quantized_pool", pool<uint8_t>, MX_BIT(U8), 0);
}
MX_LEAF_END
