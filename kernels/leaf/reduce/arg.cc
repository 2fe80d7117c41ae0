// "argmax" and "argmin": positions of the maximum or minimum along a dimension of (outer, extent,
// inner) arrays. The first one among equals wins, and NaN wins over numbers.
#include "leaf/simd/cast.h"
#include "leaf/simd/lanes.h"
#include "leaf/simd/pack.h"
#include "leaf/simd/plane.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kColumns = 256;  // lines processed together
template <class T>
constexpr int64_t kShortRow = sizeof(T) == 1 ? 127 : 8 * kLanes<T>;  // bytes can count up to here

template <bool largest, class V>
MX_INLINE Mask<V> better(V x, V best) {
  const Mask<V> more = largest ? x > best : x < best;
  return more | ((x != x) & (best == best));
}

// The first position of a value in a row; of a NaN if the value is one.
template <bool is_number, class S, class T = Sum<S>>
int64_t place_of(const S* row, int64_t extent, T value) {
  constexpr int L = kLanes<T>;
  const Vec<T> wanted = splat<Vec<T>>(value);
  int64_t i = 0;
  for (; i + L <= extent; i += L) {
    const Vec<T> x = load_as<T>(row + i);
    if (any(is_number ? x == wanted : x != x)) break;
  }
  for (; i < extent; ++i) {
    const T x = scalar_as<T>(row[i]);
    if (is_number ? x == value : x != x) break;
  }
  return i;
}

template <class V, class F>
MX_INLINE Element<V> fold_lanes(V x, const F& join) {
#pragma GCC unroll 8
  for (int half = kLanes<Element<V>> / 2; half; half /= 2) x = join(x, swap_lanes(x, half));
  return x[0];
}

// Index of the first non-zero byte.
MX_INLINE int first_set(Vec<uint8_t> x) {
#if MX_ISA_LEVEL == 4
  return __builtin_ctzll(_mm512_test_epi8_mask((__m512i)x, (__m512i)x));
#elif MX_ISA_LEVEL == 3
  return __builtin_ctz(_mm256_movemask_epi8((__m256i)(x != 0)));
#else
  return __builtin_ctz(_mm_movemask_epi8((__m128i)(x != 0)));
#endif
}

// Where a or b is NaN.
template <class V>
MX_INLINE Mask<V> unordered(V a, V b) {
  constexpr bool is_float = sizeof(Element<V>) == 4;
#if MX_ISA_LEVEL == 4
  if constexpr (is_float)
    return (Mask<V>)_mm512_movm_epi32(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q));
  else
    return (Mask<V>)_mm512_movm_epi64(_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q));
#elif MX_ISA_LEVEL == 3
  return is_float ? (Mask<V>)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q)
                  : (Mask<V>)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q);
#else
  return is_float ? (Mask<V>)_mm_cmpunord_ps((__m128)a, (__m128)b)
                  : (Mask<V>)_mm_cmpunord_pd((__m128d)a, (__m128d)b);
#endif
}

template <bool largest, class S>
int64_t position_in_row(const S* row, int64_t extent) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  typedef Mask<V> I;
  constexpr int64_t L = kLanes<T>, kRun = kVecBytes;
  const auto better_of = [](V x, V y) MX_ALWAYS { return largest ? max(x, y) : min(x, y); };
  V best = splat<V>(scalar_as<T>(row[0]));
  I run = {}, at = {}, no_number = {};
  // Runs of several vectors are compared as one; the last run overlaps its predecessor.
  const int64_t runs = extent < kRun ? 0 : ceil_div(extent, kRun);
  const auto begin_of = [=](int64_t i) { return least(i * kRun, extent - kRun); };
  for (int64_t i = 0; i < runs; ++i) {
    const S* from = row + begin_of(i);
    V x[sizeof(T)];
#pragma GCC unroll 8
    for (int c = 0; c < (int)sizeof(T); ++c) {
      x[c] = load_as<T>(from + c * L);
      if constexpr (is_real<V>)
        if (c % 2) no_number |= unordered(x[c - 1], x[c]);
    }
#pragma GCC unroll 3
    for (int half = sizeof(T) / 2; half; half /= 2)
      for (int c = 0; c < half; ++c) x[c] = better_of(x[c], x[c + half]);
    const V most = x[0];
    if constexpr (sizeof(T) > 1) {
      run = (largest ? most > best : most < best) ? at : run;
      at += 1;
    }
    best = better_of(most, best);
  }
  for (int64_t i = runs * kRun; i < extent; ++i) {
    const V x = splat<V>(scalar_as<T>(row[i]));
    if constexpr (is_real<V>) no_number |= x != x;
    best = better_of(x, best);
  }
  const T value = fold_lanes(best, better_of);
  if constexpr (is_real<V>)
    if (any(no_number)) return place_of<false>(row, extent, value);
  // Bytes cannot count runs.
  if (runs == 0 || sizeof(T) == 1) return place_of<true>(row, extent, value);
  const V wanted = splat<V>(value);
  const I first = best == wanted ? run : splat<I>((Element<I>)runs);
  const int64_t begin = begin_of(fold_lanes(first, [](I x, I y) MX_ALWAYS { return min(x, y); }));
  return begin + first_set(packed<T>(
                     [=](int c) MX_ALWAYS { return load_as<T>(row + begin + c * L) == wanted; }));
}

// The same for a row that fits in a few vectors: two passes without a branch.
template <bool largest, class S>
int64_t position_in_short_row(const S* row, int64_t extent) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  typedef Mask<V> I;
  constexpr int64_t L = kLanes<T>;
  const I lane = lane_numbers<I>();
  const auto better_of = [](V x, V y) MX_ALWAYS { return largest ? max(x, y) : min(x, y); };
  // The last vector overlaps its predecessor, or is partial.
  const bool lacking = extent < L;
  V tail = splat<V>(scalar_as<T>(row[0]));
  if (lacking)
    tail = select(lane < splat<I>((Element<I>)extent), load_first_as<T>(row, (int)extent), tail);
  else
    tail = load_as<T>(row + extent - L);
  V best = tail;
  I no_number = tail != tail;
  for (int64_t i = 0; i + L < extent; i += L) {
    const V x = load_as<T>(row + i);
    if constexpr (is_real<V>) no_number |= x != x;
    best = better_of(x, best);
  }
  const T value = fold_lanes(best, better_of);
  if constexpr (is_real<V>)
    if (any(no_number)) return place_of<false>(row, extent, value);
  const V wanted = splat<V>(value);
  const I begin = splat<I>((Element<I>)(lacking ? 0 : extent - L));
  I place = tail == wanted ? lane + begin : splat<I>((Element<I>)extent);
  for (int64_t i = (extent - 1) / L * L - L; i >= 0; i -= L)
    place = load_as<T>(row + i) == wanted ? lane + splat<I>((Element<I>)i) : place;
  return fold_lanes(place, [](I x, I y) MX_ALWAYS { return min(x, y); });
}

template <bool largest, class S>
void positions_in_columns(int64_t* out, const S* in, int64_t extent, int64_t stride,
                          int64_t width) {
  typedef Sum<S> T;
  typedef Mask<Vec<T>> I;
  typedef Element<I> Place;
  constexpr int L = kLanes<T>;
  alignas(64) T best[kColumns];
  alignas(64) Place place[kColumns] = {};
  for (int64_t k = 0; k < extent; ++k)
    for (int64_t c = 0; c < width; c += L) {
      const S* from = in + k * stride + c;
      const int n = (int)(width - c);
      const Vec<T> x = n >= L ? load_as<T>(from) : load_first_as<T>(from, n);
      const Vec<T> before = k ? load(best + c) : x;
      const I moved = better<largest>(x, before);
      store(best + c, moved ? x : before);
      store(place + c, moved ? splat<I>((Place)k) : load(place + c));
    }
  for (int64_t c = 0; c < width; ++c) out[c] = place[c];
}

// The same for bytes, which cannot hold positions.
template <bool largest, class S>
void positions_in_byte_columns(int64_t* out, const S* in, int64_t extent, int64_t stride,
                               int64_t width) {
  int32_t best[kColumns];
  for (int64_t c = 0; c < width; ++c) best[c] = in[c], out[c] = 0;
  for (int64_t k = 1; k < extent; ++k)
    for (int64_t c = 0; c < width; ++c) {
      const int32_t x = in[k * stride + c];
      const bool moved = largest ? x > best[c] : x < best[c];
      best[c] = moved ? x : best[c];
      out[c] = moved ? k : out[c];
    }
}

template <bool largest, class S>
int position(const mx_call* call) {
  const auto& p = *static_cast<const mx_arg_params*>(call->params);
  const S* in = data<S>(call->in[0]);
  const CastRow save = cast_row(call->out[0].dtype, MX_I64);
  const int64_t size = element_size(call->out[0].dtype);
  const int64_t blocks = ceil_div(p.inner, kColumns), line = p.extent * p.inner;
  const int64_t grain = 4096 / (line + 1) + 1;
  parallel_for(call->threads, p.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    int64_t positions[kColumns];
    for (int64_t i = begin, rows; p.inner == 1 && i < end; i += rows) {
      rows = least(end - i, kColumns);
      const bool is_short = p.extent <= kShortRow<Sum<S>>;
      for (int64_t r = 0; r < rows; ++r) {
        const S* row = in + (i + r) * line;
        positions[r] = is_short ? position_in_short_row<largest>(row, p.extent)
                                : position_in_row<largest>(row, p.extent);
      }
      save(data<char>(call->out[0]) + i * size, positions, rows);
    }
    for (int64_t i = begin; p.inner > 1 && i < end; ++i) {
      const int64_t first = i % blocks * kColumns, at = i / blocks;
      const int64_t width = least(p.inner - first, kColumns);
      const S* from = in + at * line + first;
      if constexpr (sizeof(S) == 1)
        positions_in_byte_columns<largest>(positions, from, p.extent, p.inner, width);
      else
        positions_in_columns<largest>(positions, from, p.extent, p.inner, width);
      save(data<char>(call->out[0]) + (at * p.inner + first) * size, positions, width);
    }
  });
  return 0;
}

}  // namespace

void register_reduce_arg() {
#define MX_POSITION(S, bits)                           \
  mx_kernel_add("argmax", position<true, S>, bits, 0); \
  mx_kernel_add("argmin", position<false, S>, bits, 0)
  MX_POSITION(float, MX_BIT(F32));
  MX_POSITION(double, MX_BIT(F64));
  MX_POSITION(f16, MX_BIT(F16));
  MX_POSITION(bf16, MX_BIT(BF16));
  MX_POSITION(int8_t, MX_BIT(I8));
  MX_POSITION(uint8_t, MX_BIT(U8) | MX_BIT(BOOL));
  MX_POSITION(int32_t, MX_BIT(I32));
  MX_POSITION(int64_t, MX_BIT(I64));
}
MX_LEAF_END
