// "argmax" and "argmin": where along a dimension of (outer, extent, inner) arrays the largest or
// smallest element lies. The first of equal ones counts, and a NaN more than any number.
#include "leaf/simd/cast.h"
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kColumns = 256;  // lines side by side

template <bool largest, class V>
MX_INLINE Mask<V> better(V x, V best) {
  const Mask<V> more = largest ? x > best : x < best;
  return more | ((x != x) & (best == best));
}

template <bool largest, class S>
int64_t position_in_row(const S* row, int64_t extent) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>;
  // Two passes, one for the value and one for its first place, are simpler than lanes of places.
  constexpr int kChains = 4;  // which do not wait for each other
  const Vec<T> start = splat<Vec<T>>(scalar_as<T>(row[0]));
  Vec<T> best[kChains] = {start, start, start, start};
  Mask<Vec<T>> no_number = {};
  const auto take = [&](int chain, Vec<T> x) MX_ALWAYS {
    best[chain] = largest ? max(x, best[chain]) : min(x, best[chain]);
    if constexpr (is_real<Vec<T>>) no_number |= x != x;
  };
  int64_t i = 0;
  for (; i + kChains * L <= extent; i += kChains * L)
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) take(c, load_as<T>(row + i + c * L));
  for (; i + L <= extent; i += L) take(0, load_as<T>(row + i));
  for (; i < extent; ++i) take(1, splat<Vec<T>>(scalar_as<T>(row[i])));
  for (int c = 1; c < kChains; ++c)
    best[0] = largest ? max(best[c], best[0]) : min(best[c], best[0]);
  T found = best[0][0];
  for (int e = 1; e < L; ++e)
    if (largest ? best[0][e] > found : best[0][e] < found) found = best[0][e];
  if constexpr (is_real<Vec<T>>)
    if (any(no_number)) found = (T)__builtin_nan("");

  i = 0;
  for (; i + L <= extent; i += L) {
    const Vec<T> x = load_as<T>(row + i);
    if (any(found == found ? x == found : x != x)) break;
  }
  for (; i < extent; ++i) {
    const T x = scalar_as<T>(row[i]);
    if (found == found ? x == found : x != x) break;
  }
  return i;
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

// The same of bytes, whose places need more bits than they have.
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
    int64_t found[kColumns];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kColumns, at = i / blocks;
      const int64_t width = least(p.inner - first, kColumns);
      const S* from = in + at * line + first;
      if (p.inner == 1)
        found[0] = position_in_row<largest>(from, p.extent);
      else if constexpr (sizeof(S) == 1)
        positions_in_byte_columns<largest>(found, from, p.extent, p.inner, width);
      else
        positions_in_columns<largest>(found, from, p.extent, p.inner, width);
      save(data<char>(call->out[0]) + (at * p.inner + first) * size, found, width);
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
