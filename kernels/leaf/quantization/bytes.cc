// Sums of int8 products, see bytes.h.
#include "leaf/quantization/bytes.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN
namespace {

// Pixels per sum, by registers of filters, so that all sums fit in 32 registers.
constexpr int kMaxPixels[kMaxVectors + 1] = {0, 8, 8, 8, 6};

struct Lanes {
  __mmask16 inside[kMaxVectors];  // masks of the filters that exist

  Lanes(int64_t filters, int vectors) {
    for (int n = 0; n < kMaxVectors; ++n) {
      const int64_t left = n < vectors ? filters - n * kFilterLanes : 0;
      inside[n] = left >= kFilterLanes ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
    }
  }
};

inline __m512 other_of(const ByteSink& sink, int64_t at, __mmask16 inside) {
  const __m128i bytes = _mm_maskz_loadu_epi8(inside, (const char*)sink.other + at);
  return _mm512_cvtepi32_ps(sink.other_type == MX_I8 ? _mm512_cvtepi8_epi32(bytes)
                                                     : _mm512_cvtepu8_epi32(bytes));
}

template <int N>
inline void store_bytes(char* to, __m512i bytes, const Lanes& lanes) {
  if (lanes.inside[N - 1] != 0xffff) {
    const __mmask64 inside = (uint64_t)lanes.inside[0] | (uint64_t)lanes.inside[1] << 16 |
                             (uint64_t)lanes.inside[2] << 32 | (uint64_t)lanes.inside[3] << 48;
    _mm512_mask_storeu_epi8(to, inside, bytes);
    return;
  }
  if (N == 4) _mm512_storeu_si512(to, bytes);
  if (N == 1) _mm_storeu_si128((__m128i*)to, _mm512_castsi512_si128(bytes));
  if (N == 2 || N == 3) _mm256_storeu_si256((__m256i*)to, _mm512_castsi512_si256(bytes));
  if (N == 3) _mm_storeu_si128((__m128i*)(to + 32), _mm512_extracti32x4_epi32(bytes, 2));
}

// Convert the sums of N registers of filters to results of type D, with or without a residual.
// `bounded`: see ByteSink; then bytes are limited instead of floats.
template <class D, bool adds, int N, bool bounded = false>
struct Finish {
  const ByteSink sink;  // a local copy, which stores cannot alias
  const Lanes lanes;
  const int64_t filter;
  const __m512 high, share;
  const __m512i top;
  __m512 scale[N], bias[N];

  Finish(const ByteSink& shared, int64_t first)
      : sink(shared),
        lanes(sink.filters - first, N),
        filter(first),
        high(_mm512_set1_ps(sink.high)),
        share(_mm512_set1_ps(sink.other_scale)),
        top(_mm512_set1_epi8(bounded ? (char)(int)__builtin_rintf(sink.high) : 0)) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      const int64_t at = filter + n * kFilterLanes;
      scale[n] = _mm512_maskz_loadu_ps(lanes.inside[n], sink.scale + at);
      bias[n] =
          sink.bias ? _mm512_maskz_loadu_ps(lanes.inside[n], sink.bias + at) : _mm512_setzero_ps();
    }
  }
  // Offset of a pixel's results.
  int64_t at(int64_t pixel) const { return pixel * sink.filters + filter; }

  __m512 result(__m512i sum, int64_t pixel, int n) const {
    __m512 x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale[n], bias[n]);
    if (adds) {
      const __m512 other = other_of(sink, at(pixel) + n * kFilterLanes, lanes.inside[n]);
      x = _mm512_fmadd_ps(other, share, x);
    }
    return bounded ? x : _mm512_min_ps(x, high);
  }

  __m512i narrow(const __m512i* numbers) const {
    constexpr bool is_signed = (D)-1 < 0;
    const __m512i bytes = narrowed<is_signed>(numbers, sink.positive);
    if (!bounded) return bytes;
    return is_signed ? _mm512_min_epi8(bytes, top) : _mm512_min_epu8(bytes, top);
  }

  void one(const __m512i (&sums)[N], int64_t pixel) const {
    __m512i numbers[kMaxVectors] = {};
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      __m512 x = result(sums[n], pixel, n);
      if (sizeof(D) == 1) {
        numbers[n] = _mm512_cvtps_epi32(x);
        continue;
      }
      if (sink.positive) x = _mm512_max_ps(x, _mm512_setzero_ps());
      float* to = (float*)sink.out + at(pixel) + n * kFilterLanes;
      _mm512_mask_storeu_ps(to, lanes.inside[n], x);
    }
    if (sizeof(D) > 1) return;
    store_bytes<N>((char*)sink.out + at(pixel), narrow(numbers), lanes);
  }

  // Two pixels' sums of two registers fill a register of bytes.
  void two(const __m512i (&sums)[2 * N], int64_t pixel) const {
    static_assert(N == 2 && sizeof(D) == 1, "else `one` is as good");
    __m512i numbers[kMaxVectors];
#pragma GCC unroll 4
    for (int i = 0; i < 2 * N; ++i)
      numbers[i] = _mm512_cvtps_epi32(result(sums[i], pixel + i / N, i % N));
    const __m512i bytes = narrow(numbers);
    char* to = (char*)sink.out + at(pixel);
    store_bytes<N>(to, bytes, lanes);
    store_bytes<N>(to + sink.filters, _mm512_shuffle_i64x2(bytes, bytes, 0x4e), lanes);
  }
};

template <class D, bool adds, int M, int N>
inline __attribute__((always_inline)) void finish_as(const __m512i (&sums)[M][N],
                                                     const ByteSink& sink, int64_t pixel,
                                                     int64_t filter) {
  const Finish<D, adds, N> finish(sink, filter);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) finish.one(sums[m], pixel + m);
}

template <class D, int M, int N>
inline __attribute__((always_inline)) void finish_with(const __m512i (&sums)[M][N],
                                                       const ByteSink& sink, int64_t pixel,
                                                       int64_t filter) {
  sink.other ? finish_as<D, true>(sums, sink, pixel, filter)
             : finish_as<D, false>(sums, sink, pixel, filter);
}

template <int M, int N>
inline __attribute__((always_inline)) void finish(const __m512i (&sums)[M][N], const ByteSink& sink,
                                                  int64_t pixel, int64_t filter) {
  if (sink.type == MX_U8) return finish_with<uint8_t>(sums, sink, pixel, filter);
  if (sink.type == MX_I8) return finish_with<int8_t>(sums, sink, pixel, filter);
  if (sink.type == MX_F32) return finish_as<float, false>(sums, sink, pixel, filter);
  int32_t* out = (int32_t*)sink.out + pixel * sink.filters + filter;
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      _mm512_storeu_si512(out + m * sink.filters + n * kFilterLanes, sums[m][n]);
  }
}

template <int M, int N>
void sum_tile(const uint8_t* const* from, const ByteReach& reach, const int8_t* weights,
              const ByteStart& start, const ByteSink& sink, int64_t pixel, int64_t filter) {
  __m512i sums[M][N];
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      sums[m][n] = _mm512_loadu_si512(start.sums + m * start.step + n * kFilterLanes);
  }
  for (int r = 0; r < reach.runs; ++r) {
    const uint8_t* at[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) at[m] = from[m] + reach.offset[r];
    for (int64_t i = 0; i < reach.bytes; i += 4, weights += N * 64) {
      __m512i w[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) w[n] = _mm512_loadu_si512(weights + n * 64);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        int32_t four;
        memcpy(&four, at[m] + i, 4);
        const __m512i u = _mm512_set1_epi32(four);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) add_products(sums[m][n], u, w[n]);
      }
    }
  }
  finish<M, N>(sums, sink, pixel, filter);
}

// Convert sums in memory, of pixels that are `step` elements apart.
template <class D, bool adds, int N, bool bounded>
void finish_lines(const int32_t* sums, int64_t step, int64_t pixels, const ByteSink& sink,
                  int64_t pixel, int64_t filter) {
  const Finish<D, adds, N, bounded> finish(sink, filter);
  int64_t i = 0;
  if constexpr (N == 2 && sizeof(D) == 1) {
    for (; i + 2 <= pixels; i += 2, sums += 2 * step) {
      const int32_t *first = sums, *second = sums + step;
      const __m512i four[4] = {_mm512_load_si512(first), _mm512_load_si512(first + kFilterLanes),
                               _mm512_load_si512(second), _mm512_load_si512(second + kFilterLanes)};
      finish.two(four, pixel + i);
    }
  }
  for (; i < pixels; ++i, sums += step) {
    __m512i own[N];
    for (int n = 0; n < N; ++n) own[n] = _mm512_load_si512(sums + n * kFilterLanes);
    finish.one(own, pixel + i);
  }
}

template <int N, bool bounded>
void finish_lines(const int32_t* sums, int64_t step, int64_t pixels, const ByteSink& sink,
                  int64_t pixel, int64_t filter) {
  const bool adds = sink.other != nullptr;
  auto* finish = finish_lines<float, false, N, false>;
  if (sink.type == MX_U8)
    finish =
        adds ? finish_lines<uint8_t, true, N, bounded> : finish_lines<uint8_t, false, N, bounded>;
  if (sink.type == MX_I8)
    finish =
        adds ? finish_lines<int8_t, true, N, bounded> : finish_lines<int8_t, false, N, bounded>;
  finish(sums, step, pixels, sink, pixel, filter);
}

typedef void (*Tile)(const uint8_t* const*, const ByteReach&, const int8_t*, const ByteStart&,
                     const ByteSink&, int64_t, int64_t);
#define MX_TILES(N) \
  {                 \
    sum_tile<1, N>, sum_tile<2, N>, sum_tile<3, N>, sum_tile<4, N>, sum_tile<5, N>, sum_tile<6, N>
constexpr Tile kTiles[kMaxVectors][8] = {MX_TILES(1), sum_tile<7, 1>, sum_tile<8, 1>},
               MX_TILES(2), sum_tile<7, 2>, sum_tile<8, 2>
}
, MX_TILES(3), sum_tile<7, 3>, sum_tile<8, 3>
}
, MX_TILES(4), nullptr, nullptr
}
,
}
;
#undef MX_TILES

}  // namespace

int most_pixels(int vectors) { return kMaxPixels[vectors]; }

void sum_bytes(int pixels, int vectors, const uint8_t* const* from, const ByteReach& reach,
               const int8_t* weights, const ByteStart& start, const ByteSink& sink, int64_t pixel,
               int64_t filter) {
  kTiles[vectors - 1][pixels - 1](from, reach, weights, start, sink, pixel, filter);
}

void finish_rows(const int32_t* sums, int64_t step, int64_t pixels, int vectors,
                 const ByteSink& sink, int64_t pixel, int64_t filter) {
  auto* finish = vectors == 1 ? finish_lines<1, false> : finish_lines<2, false>;
  if (sink.bounded) finish = vectors == 1 ? finish_lines<1, true> : finish_lines<2, true>;
  finish(sums, step, pixels, sink, pixel, filter);
}

MX_LEAF_END
#endif
