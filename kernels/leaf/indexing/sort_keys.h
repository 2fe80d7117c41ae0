// Integers in ascending order: by partitions around a pivot as long as they are many, the few by a
// network in registers. Needs an instruction that brings chosen lanes together.
#pragma once
#include "leaf/simd/lanes.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// --- few ---------------------------------------------------------------------------------------

// Each lane and the one `distance` away (by exclusive or): the larger goes where `upper` is set.
template <class V>
MX_INLINE V exchanged(V x, int distance, int upper) {
  const V other = swap_lanes(x, distance), low = min(x, other);
  const int above = upper == 1 ? 0xaaaa : upper == 2 ? 0xcccc : upper == 4 ? 0xf0f0 : 0xff00;
  if constexpr (sizeof(Element<V>) == 4)
    return (V)_mm512_mask_max_epi32((__m512i)low, (__mmask16)above, (__m512i)x, (__m512i)other);
  else
    return (V)_mm512_mask_max_epi64((__m512i)low, (__mmask8)above, (__m512i)x, (__m512i)other);
}
// The lanes of a vector which rise and then fall, or the reverse, in order.
template <class V>
MX_INLINE V merged_lanes(V x) {
#pragma GCC unroll 4
  for (int half = kLanes<Element<V>> / 2; half; half /= 2) x = exchanged(x, half, half);
  return x;
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
// All elements of m vectors in order, a power of two of them.
template <int m, class V>
MX_INLINE void sort_vectors(V* x) {
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) x[i] = sorted_lanes(x[i]);
#pragma GCC unroll 4
  for (int run = 1; run < m; run *= 2)
#pragma GCC unroll 4
    for (V* first = x; first < x + m; first += 2 * run) {
#pragma GCC unroll 4
      for (int i = 0; i < (run + 1) / 2; ++i) {
        // The second run backwards, from both ends.
        const int last = 2 * run - 1 - i, j = run - 1 - i;
        const V high = swap_lanes(first[last], kLanes<Element<V>> - 1);
        const V low = swap_lanes(first[run + i], kLanes<Element<V>> - 1);
        const V a = first[i], b = first[j];
        first[i] = min(a, high), first[run + i] = max(a, high);
        if (i != j) first[j] = min(b, low), first[run + j] = max(b, low);
      }
#pragma GCC unroll 4
      for (int half = run / 2; half; half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < 2 * run; ++i)
          if (!(i & half)) {
            const V a = first[i], b = first[i + half];
            first[i] = min(a, b), first[i + half] = max(a, b);
          }
#pragma GCC unroll 8
      for (int i = 0; i < 2 * run; ++i) first[i] = merged_lanes(first[i]);
    }
}

constexpr int64_t kFewVectors = 8;

template <int m, class T>
void sort_few(T* keys, int64_t n) {
  typedef Vec<T> V;
  constexpr int64_t L = kLanes<T>;
  const V most = splat<V>((T) ~((uint64_t)1 << (8 * sizeof(T) - 1)));
  V x[m];
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    const int64_t rest = n - i * L;
    x[i] = rest >= L ? load(keys + i * L) : rest > 0 ? load_first(keys + i * L, rest, most) : most;
  }
  sort_vectors<m>(x);
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    const int64_t rest = n - i * L;
    if (rest >= L)
      store(keys + i * L, x[i]);
    else if (rest > 0)
      store_first(keys + i * L, x[i], rest);
  }
}

// --- many --------------------------------------------------------------------------------------

template <class V>
MX_INLINE V compressed(uint32_t lanes, V x) {
  if constexpr (sizeof(Element<V>) == 4)
    return (V)_mm512_maskz_compress_epi32((__mmask16)lanes, (__m512i)x);
  else
    return (V)_mm512_maskz_compress_epi64((__mmask8)lanes, (__m512i)x);
}
// Which lanes go above the pivot: the larger ones, and its equals if so asked.
template <bool equals, class V>
MX_INLINE uint32_t lanes_above(V x, V pivot) {
  if constexpr (sizeof(Element<V>) == 4)
    return _mm512_cmp_epi32_mask((__m512i)x, (__m512i)pivot,
                                 equals ? _MM_CMPINT_NLT : _MM_CMPINT_NLE);
  else
    return _mm512_cmp_epi64_mask((__m512i)x, (__m512i)pivot,
                                 equals ? _MM_CMPINT_NLT : _MM_CMPINT_NLE);
}

// Bring what lies above the pivot behind the rest; how many the rest are. `spare` has a vector more
// than n keys.
template <bool equals, class T>
int64_t partition(T* keys, int64_t n, T* spare, T pivot_key) {
  typedef Vec<T> V;
  constexpr int L = kLanes<T>;
  constexpr uint32_t all = (uint32_t)((1ull << L) - 1);
  const V pivot = splat<V>(pivot_key);
  int64_t low = 0, high = 0, i = 0;
#pragma GCC unroll 4
  for (; i + L <= n; i += L) {
    const V x = load(keys + i);
    const uint32_t above = lanes_above<equals>(x, pivot);
    const int count = __builtin_popcount(above);
    store(keys + low, compressed(above ^ all, x));
    store(spare + high, compressed(above, x));
    low += L - count, high += count;
  }
  if (i < n) {
    const uint32_t rest = (1u << (n - i)) - 1;
    const V x = load_first(keys + i, (int)(n - i));
    const uint32_t above = lanes_above<equals>(x, pivot) & rest;
    const int count = __builtin_popcount(above);
    store_first(keys + low, compressed(above ^ rest, x), (int)(n - i) - count);
    store(spare + high, compressed(above, x));
    low += n - i - count, high += count;
  }
  __builtin_memcpy(keys + low, spare, high * sizeof(T));
  return low;
}

// The median of keys from everywhere.
template <class T>
T pivot_of(const T* keys, int64_t n) {
  typedef Vec<T> V;
  constexpr int L = kLanes<T>;
  const auto drawn = [=](int64_t from, int64_t step) MX_ALWAYS {
    V x;
    for (int i = 0; i < L; ++i) x[i] = keys[from + i * step];
    return x;
  };
  if (n < 4096) return sorted_lanes(drawn(n / (2 * L), n / L))[L / 2];
  V x[kFewVectors];
  const int64_t part = n / kFewVectors;
  for (int i = 0; i < kFewVectors; ++i) x[i] = drawn(i * part, part / L);
  sort_vectors<kFewVectors>(x);
  return x[kFewVectors / 2][0];
}

// Sort n keys. False when the pivots were bad for too long: the keys are the same in another order.
template <class T>
bool sort_keys(T* keys, int64_t n, T* spare, int patience) {
  constexpr int64_t L = kLanes<T>;
  while (n > kFewVectors * L) {
    if (!patience--) return false;
    const T pivot = pivot_of(keys, n);
    int64_t low = partition<false>(keys, n, spare, pivot);
    if (low == n) {  // nothing is larger, and its equals are in their place
      n = partition<true>(keys, n, spare, pivot);
      continue;
    }
    T* above = keys + low;
    if (!sort_keys(above, n - low, spare, patience)) return false;
    n = low;
  }
  if (n > 4 * L)
    sort_few<8>(keys, n);
  else if (n > 2 * L)
    sort_few<4>(keys, n);
  else if (n > L)
    sort_few<2>(keys, n);
  else if (n > 1)
    sort_few<1>(keys, n);
  return true;
}

MX_LEAF_END
#endif
