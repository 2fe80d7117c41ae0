// Sums of int8 products, see bytes.h.
#include "leaf/quantization/bytes.h"

#include <utility>

#if MX_ISA_LEVEL >= 3
MX_LEAF_BEGIN
namespace {

// Pixels per sum, by registers of filters, so that all sums stay in registers.
#if MX_ISA_LEVEL == 4
constexpr int kMaxPixels[kMaxVectors + 1] = {0, 8, 8, 8, 6};
#else
constexpr int kMaxPixels[kMaxVectors + 1] = {0, 8, 6};
#endif

// Convert the sums of N registers of filters to results of type D, with or without a residual.
// `bounded`: see ByteSink; then bytes are limited instead of floats.
template <class D, bool adds, int N, bool bounded = false>
struct Finish {
  const ByteSink sink;  // a local copy, which stores cannot alias
  const int64_t filter;
  const VF high, share;
  const Bytes top;
  Inside inside[kMaxVectors];
  VF scale[N], bias[N];

  Finish(const ByteSink& shared, int64_t first)
      : sink(shared),
        filter(first),
        high(splat<VF>(sink.high)),
        share(splat<VF>(sink.other_scale)),
        top(splat<Bytes>(bounded ? (uint8_t)(int)__builtin_rintf(sink.high) : 0)) {
#pragma GCC unroll 4
    for (int n = 0; n < kMaxVectors; ++n)
      inside[n] = inside_of(n < N ? sink.filters - first - n * kFilterLanes : 0);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      const int64_t at = filter + n * kFilterLanes;
      scale[n] = load_floats(sink.scale + at, inside[n]);
      bias[n] = sink.bias ? load_floats(sink.bias + at, inside[n]) : VF{};
    }
  }
  // Offset of a pixel's results.
  int64_t at(int64_t pixel) const { return pixel * sink.filters + filter; }

  VF result(const Sums& sum, int64_t pixel, int n) const {
    VF x = fma(to_floats(sum), scale[n], bias[n]);
    if (adds) {
      const char* other = (const char*)sink.other + at(pixel) + n * kFilterLanes;
      x = fma(load_bytes(other, sink.other_type == MX_I8, inside[n]), share, x);
    }
    return bounded ? x : min(x, high);
  }

  Bytes narrow(const Sums* numbers) const {
    constexpr bool is_signed = (D)-1 < 0;
    const Bytes bytes = narrowed<is_signed>(numbers, sink.positive);
    if (!bounded) return bytes;
    return (Bytes)min((Vec<D>)bytes, (Vec<D>)top);
  }

  void one(const Sums (&sums)[N], int64_t pixel) const {
    Sums numbers[4] = {};
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      VF x = result(sums[n], pixel, n);
      if constexpr (sizeof(D) == 1) {
        numbers[n] = to_integers(x);
      } else {
        if (sink.positive) x = max(x, VF{});
        store_floats((float*)sink.out + at(pixel) + n * kFilterLanes, x, inside[n]);
      }
    }
    if constexpr (sizeof(D) == 1)
      store_bytes<N>((char*)sink.out + at(pixel), narrow(numbers), inside);
  }

  // Two pixels' sums of two registers of filters are narrowed together.
  void two(const Sums (&sums)[2 * N], int64_t pixel) const {
    static_assert(N == 2 && sizeof(D) == 1, "else `one` is as good");
    Sums numbers[4];
#pragma GCC unroll 4
    for (int i = 0; i < 2 * N; ++i) numbers[i] = to_integers(result(sums[i], pixel + i / N, i % N));
    const Bytes bytes = narrow(numbers);
    char* to = (char*)sink.out + at(pixel);
    store_bytes<N>(to, bytes, inside);
    store_bytes<N>(to + sink.filters, upper_half(bytes), inside);
  }
};

template <class D, bool adds, int M, int N>
inline __attribute__((always_inline)) void finish_as(const Sums (&sums)[M][N], const ByteSink& sink,
                                                     int64_t pixel, int64_t filter) {
  const Finish<D, adds, N> finish(sink, filter);
  constexpr int kPaired = N == 2 && sizeof(D) == 1 ? M / 2 * 2 : 0;
  if constexpr (kPaired > 0) {
#pragma GCC unroll 4
    for (int m = 0; m < kPaired; m += 2) {
      const Sums four[4] = {sums[m][0], sums[m][1], sums[m + 1][0], sums[m + 1][1]};
      finish.two(four, pixel + m);
    }
  }
#pragma GCC unroll 8
  for (int m = kPaired; m < M; ++m) finish.one(sums[m], pixel + m);
}

template <class D, int M, int N>
inline __attribute__((always_inline)) void finish_with(const Sums (&sums)[M][N],
                                                       const ByteSink& sink, int64_t pixel,
                                                       int64_t filter) {
  sink.other ? finish_as<D, true>(sums, sink, pixel, filter)
             : finish_as<D, false>(sums, sink, pixel, filter);
}

template <int M, int N>
inline __attribute__((always_inline)) void finish(const Sums (&sums)[M][N], const ByteSink& sink,
                                                  int64_t pixel, int64_t filter) {
  if (sink.type == MX_U8) return finish_with<uint8_t>(sums, sink, pixel, filter);
  if (sink.type == MX_I8) return finish_with<int8_t>(sums, sink, pixel, filter);
  if (sink.type == MX_F32) return finish_as<float, false>(sums, sink, pixel, filter);
  int32_t* out = (int32_t*)sink.out + pixel * sink.filters + filter;
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      store((uint32_t*)out + m * sink.filters + n * kFilterLanes, sums[m][n]);
  }
}

template <int M, int N>
void sum_tile(const Cell* const* from, const ByteReach& reach, const int8_t* weights,
              const ByteStart& start, const ByteSink& sink, int64_t pixel, int64_t filter) {
  Sums sums[M][N];
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      sums[m][n] = load((const uint32_t*)start.sums + m * start.step + n * kFilterLanes);
  }
  for (int r = 0; r < reach.runs; ++r) {
    const Cell* at[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) at[m] = from[m] + reach.offset[r];
    for (int64_t i = 0; i < reach.bytes;
         i += kLaneProducts, weights += N * kFilterLanes * kLaneProducts) {
      Sums w[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) w[n] = load_group(weights + n * kFilterLanes * kLaneProducts);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        uint32_t group;
        memcpy(&group, at[m] + i, sizeof group);
        const Sums u = splat<Sums>(group);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) add_group(sums[m][n], u, w[n]);
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
      const uint32_t *first = (const uint32_t*)sums, *second = first + step;
      const Sums four[4] = {load(first), load(first + kFilterLanes), load(second),
                            load(second + kFilterLanes)};
      finish.two(four, pixel + i);
    }
  }
  for (; i < pixels; ++i, sums += step) {
    Sums own[N];
    for (int n = 0; n < N; ++n) own[n] = load((const uint32_t*)sums + n * kFilterLanes);
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

typedef void (*Tile)(const Cell* const*, const ByteReach&, const int8_t*, const ByteStart&,
                     const ByteSink&, int64_t, int64_t);
template <int N, int... pixels>
Tile tile_of(int count, std::integer_sequence<int, pixels...>) {
  static constexpr Tile all[] = {sum_tile<pixels + 1, N>...};
  return all[count - 1];
}
template <int N>
Tile tile_of(int count) {
  return tile_of<N>(count, std::make_integer_sequence<int, kMaxPixels[N]>());
}

}  // namespace

int most_pixels(int vectors) { return kMaxPixels[vectors]; }

void sum_bytes(int pixels, int vectors, const Cell* const* from, const ByteReach& reach,
               const int8_t* weights, const ByteStart& start, const ByteSink& sink, int64_t pixel,
               int64_t filter) {
  Tile tile = vectors == 1 ? tile_of<1>(pixels) : tile_of<2>(pixels);
#if MX_ISA_LEVEL == 4
  if (vectors > 2) tile = vectors == 3 ? tile_of<3>(pixels) : tile_of<4>(pixels);
#endif
  tile(from, reach, weights, start, sink, pixel, filter);
}

void finish_rows(const int32_t* sums, int64_t step, int64_t pixels, int vectors,
                 const ByteSink& sink, int64_t pixel, int64_t filter) {
  auto* finish = vectors == 1 ? finish_lines<1, false> : finish_lines<2, false>;
  if (sink.bounded) finish = vectors == 1 ? finish_lines<1, true> : finish_lines<2, true>;
  finish(sums, step, pixels, sink, pixel, filter);
}

MX_LEAF_END
#endif
