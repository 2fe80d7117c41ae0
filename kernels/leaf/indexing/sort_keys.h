// Quicksort of integers by vectorised partitioning, with a register network for short runs. Needs
// an instruction that compresses selected lanes.
#pragma once
#include "leaf/indexing/sort_digits.h"
#include "leaf/indexing/sort_network.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// --- short runs --------------------------------------------------------------------------------

// Compare each lane with lane (number xor `distance`): the larger goes where `upper` is set.
template <class V>
MX_INLINE V exchanged(V x, int distance, int upper) {
  const V other = swap_lanes(x, distance), low = min(x, other);
  const int above = upper == 1 ? 0xaaaa : upper == 2 ? 0xcccc : upper == 4 ? 0xf0f0 : 0xff00;
  if constexpr (sizeof(Element<V>) == 4)
    return (V)_mm512_mask_max_epi32((__m512i)low, (__mmask16)above, (__m512i)x, (__m512i)other);
  else
    return (V)_mm512_mask_max_epi64((__m512i)low, (__mmask8)above, (__m512i)x, (__m512i)other);
}
template <class V>
MX_INLINE V sorted_lanes(V x) {
#pragma GCC unroll 4
  for (int size = 2; size <= kLanes<Element<V>>; size *= 2) {
    x = exchanged(x, size - 1, size / 2);
#pragma GCC unroll 4
    for (int half = size / 4; half; half /= 2) x = exchanged(x, half, half);
  }
  return x;
}

constexpr int64_t kFewVectors = 16;

// Sort n keys, at most m vectors of them.
template <int m, class T>
__attribute__((noinline)) void sort_few(T* to, const T* from, int64_t n) {
  typedef Vec<T> V;
  constexpr int64_t L = kLanes<T>;
  const V most = splat<V>((T) ~((uint64_t)1 << (8 * sizeof(T) - 1)));
  V x[m];
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
    const int64_t rest = n - i * L;
    x[i] = rest >= L  ? load(from + i * L)
           : rest > 0 ? load_first(from + i * L, (int)rest, most)
                      : most;
  }
  if constexpr (m == 1)
    x[0] = sorted_lanes(x[0]);
  else
    sort_vectors<m, T>(x);
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
    const int64_t rest = n - i * L;
    if (rest >= L)
      store(to + i * L, x[i]);
    else if (rest > 0)
      store_first(to + i * L, x[i], (int)rest);
  }
}
template <class T>
void sort_few(T* to, const T* from, int64_t n) {
  constexpr int64_t L = kLanes<T>;
  if (n > 8 * L)
    sort_few<16>(to, from, n);
  else if (n > 4 * L)
    sort_few<8>(to, from, n);
  else if (n > 2 * L)
    sort_few<4>(to, from, n);
  else if (n > L)
    sort_few<2>(to, from, n);
  else if (n > 0)
    sort_few<1>(to, from, n);
}

// --- partition ---------------------------------------------------------------------------------

// Move the selected lanes to the front; the others are unspecified.
template <class V>
MX_INLINE V gathered(uint32_t lanes, V x) {
  if constexpr (sizeof(Element<V>) == 4)
    return (V)_mm512_maskz_compress_epi32((__mmask16)lanes, (__m512i)x);
  else
    return (V)_mm512_maskz_compress_epi64((__mmask8)lanes, (__m512i)x);
}
// Mask of the lanes above the pivot: larger ones and, with `equals`, equal ones.
template <bool equals, class V>
MX_INLINE uint32_t lanes_above(V x, V pivot) {
  if constexpr (sizeof(Element<V>) == 4)
    return _mm512_cmp_epi32_mask((__m512i)x, (__m512i)pivot,
                                 equals ? _MM_CMPINT_NLT : _MM_CMPINT_NLE);
  else
    return _mm512_cmp_epi64_mask((__m512i)x, (__m512i)pivot,
                                 equals ? _MM_CMPINT_NLT : _MM_CMPINT_NLE);
}

// Keys read from memory as they are. Other KeyOf types compute keys from elements.
struct Plain {
  template <class V>
  MX_INLINE V operator()(V x) const {
    return x;
  }
};

// Partition n keys: those above the pivot go to `high`, the others to `low`; returns the number of
// the latter. Both buffers have room for n keys; `from` may be one of them.
template <bool equals, class T, class KeyOf>
int64_t partition(T* low, T* high, const T* from, int64_t n, T pivot_key, const KeyOf& key_of) {
  typedef Vec<T> V;
  constexpr int L = kLanes<T>;
  constexpr uint32_t all = (uint32_t)((1ull << L) - 1);
  const V pivot = splat<V>(pivot_key);
  const T* const first = low;
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + L <= n; i += L) {
    const V x = key_of(load(from + i));
    const uint32_t above = lanes_above<equals>(x, pivot);
    const int count = __builtin_popcount(above);
    store(low, gathered(above ^ all, x));
    store(high, gathered(above, x));
    low += L - count, high += count;
  }
  if (i < n) {
    const int rest = (int)(n - i);
    const V x = key_of(load_first(from + i, rest));
    const uint32_t some = all >> (L - rest), above = lanes_above<equals>(x, pivot) & some;
    const int count = __builtin_popcount(above);
    if (count < rest) store_first(low, gathered(above ^ some, x), rest - count);
    if (count) store_first(high, gathered(above, x), count);
    low += rest - count;
  }
  return low - first;
}

// The median of keys sampled across the run.
template <class T, class KeyOf>
T pivot_of(const T* from, int64_t n, const KeyOf& key_of) {
  typedef Vec<T> V;
  constexpr int L = kLanes<T>, m = 4;
  const auto drawn = [=](int64_t first, int64_t step) MX_ALWAYS {
    V x;
    for (int i = 0; i < L; ++i) x[i] = from[first + i * step];
    return key_of(x);
  };
  if (n < 128 * L) return sorted_lanes(drawn(n / (2 * L), n / L))[L / 2];
  V x[m];
  const int64_t part = n / m;
  for (int i = 0; i < m; ++i) x[i] = drawn(i * part, part / L);
  sort_vectors<m, T>(x);
  return x[m / 2][0];
}

// --- whole runs --------------------------------------------------------------------------------

// Number of partitions of a line of n keys after which its pivots count as bad.
inline int patience_for(int64_t n) { return 2 * (64 - __builtin_clzll(n | 1)); }

// Sort n keys at `from`, which is `out` or `spare`, into `out`; both have room for n keys.
// `finish(place, n)` is called for each part once it is sorted.
template <class T, class Finish>
void sort_keys(T* from, T* out, T* spare, int64_t n, int patience, const Finish& finish) {
  while (n > kFewVectors * kLanes<T>) {
    if (!patience--) {
      const T* sorted = sort_digits(from, from == out ? spare : out, n);
      if (sorted != out) memcpy(out, sorted, n * sizeof(T));
      return finish(out, n);
    }
    const T pivot = pivot_of(from, n, Plain());
    int64_t low = partition<false>(out, spare, from, n, pivot, Plain());
    if (low == n) {  // nothing is larger, and the equal keys are in place
      low = partition<true>(out, spare, out, n, pivot, Plain());
      for (int64_t i = low; i < n; ++i) out[i] = pivot;
      finish(out + low, n - low);
      from = out, n = low;
      continue;
    }
    sort_keys(out, out, spare + (n - low), low, patience, finish);
    from = spare, out += low, n -= low;
  }
  sort_few(out, from, n);
  finish(out, n);
}

// Sort the keys of n elements at `from`, which is neither of the buffers.
template <class T, class KeyOf, class Finish>
void sort_elements(const T* from, T* out, T* spare, int64_t n, const KeyOf& key_of,
                   const Finish& finish) {
  constexpr int L = kLanes<T>;
  if (n <= kFewVectors * L) {
    int64_t i = 0;
    for (; i + L <= n; i += L) store(spare + i, key_of(load(from + i)));
    if (i < n) store_first(spare + i, key_of(load_first(from + i, (int)(n - i))), (int)(n - i));
    sort_few(out, spare, n);
    return finish(out, n);
  }
  const int64_t low = partition<false>(out, spare, from, n, pivot_of(from, n, key_of), key_of);
  const int patience = patience_for(n);
  sort_keys(out, out, spare + (n - low), low, patience, finish);
  sort_keys(spare, out + low, spare, n - low, patience, finish);
}

MX_LEAF_END
#endif
