// Bitonic sorting network in registers.
//
// The bits of an element's index are split into lane bits and vector bits. Elements whose indices
// differ in a vector bit are compared without data movement; a lane bit is first exchanged with the
// vector bit that is needed last.
#pragma once
#include <utility>

#include "leaf/simd/lanes.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

// --- plan --------------------------------------------------------------------------------------

// One step: optionally exchange a lane bit, then compare.
struct NetworkStep {
  int lane, vector;  // the exchanged lane and vector bit, as powers of two; lane 0: none
  int flipped;       // lanes of the second vector that are reversed by the exchange
  int compared;      // compared vectors differ in this bit ...
  int mirrored;      // ... and in these
};
struct NetworkPlan {
  NetworkStep steps[40];
  int size;
  int lane, vector;  // the last exchange, after which elements are in order
  int source[8];     // per lane bit: the bit it comes from
  int number[16];    // per vector: its final index
};

// The network for 2^vectors vectors of 2^lanes elements. Lane bits come first, then vector bits.
constexpr NetworkPlan network_plan(int vectors, int lanes) {
  NetworkPlan plan = {};
  const int bits = vectors + lanes;
  // The bits in the order of comparisons; then those of vector indices.
  int order[64] = {}, count = 0;
  for (int level = 1; level <= bits; ++level)
    for (int bit = level - 1; bit >= 0; --bit) order[count++] = bit;
  int place[8] = {};
  for (int bit = 0; bit < bits; ++bit) place[bit] = bit < vectors ? lanes + bit : bit - vectors;
  const auto evicted = [&](int next) {
    int chosen = -1, longest = -1;
    for (int bit = 0; bit < bits; ++bit) {
      if (place[bit] < lanes) continue;
      int wait = next;
      while (wait < count && order[wait] != bit) ++wait;
      if (wait == count && bit < lanes) wait = count + 1;  // a lane bit
      if (wait > longest) longest = wait, chosen = bit;
    }
    return chosen;
  };
  int level = 1, first = 0;
  for (int at = 0; at < count; ++at) {
    if (at - first == level) first = at, ++level;
    const int bit = order[at];
    NetworkStep& step = plan.steps[at];
    if (place[bit] < lanes) {
      const int out = evicted(at + 1), lane = place[bit];
      step.lane = 1 << lane, step.vector = 1 << (place[out] - lanes);
      place[bit] = place[out];
      place[out] = lane;
    }
    step.compared = 1 << (place[bit] - lanes);
    if (at == first)
      for (int lower = 0; lower < bit; ++lower) {
        if (place[lower] < lanes)
          step.flipped |= 1 << place[lower];
        else
          step.mirrored |= 1 << (place[lower] - lanes);
      }
  }
  plan.size = count;
  // At most one lane bit is left among the vector indices.
  for (int bit = 0; bit < lanes; ++bit)
    if (place[bit] >= lanes)
      for (int other = lanes; other < bits; ++other)
        if (place[other] < lanes) {
          plan.lane = 1 << place[other], plan.vector = 1 << (place[bit] - lanes);
          const int lane = place[other];
          place[other] = place[bit];
          place[bit] = lane;
          break;
        }
  for (int bit = 0; bit < lanes; ++bit) plan.source[bit] = place[bit];
  for (int vector = 0; vector < 1 << vectors; ++vector) {
    int number = 0;
    for (int bit = lanes; bit < bits; ++bit)
      number |= (vector >> (place[bit] - lanes) & 1) << (bit - lanes);
    plan.number[vector] = number;
  }
  return plan;
}
template <class T>
constexpr int kLaneBits = kLanes<T> == 16 ? 4 : 3;
constexpr int log2_of(int n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }
template <int m, class T>
constexpr NetworkPlan kNetworkPlan = network_plan(log2_of(m), kLaneBits<T>);

// --- execution ---------------------------------------------------------------------------------

// Exchange of a vector bit with a lane bit between two vectors: the source, in both concatenated,
// of lane `to` of the vector with bit `set`.
constexpr int lane_exchanged(int to, int lane, bool set, int lanes) {
  return ((to & ~lane) | (set ? lane : 0)) + (to & lane ? lanes : 0);
}
constexpr int lane_in_order(const NetworkPlan& plan, int to, bool set, int bits) {
  int from = 0;
  for (int bit = 0; bit < bits; ++bit) from |= (to >> bit & 1) << plan.source[bit];
  return plan.lane ? lane_exchanged(from, plan.lane, set, 1 << bits) : from;
}
template <class T, int at, int m, bool set, int... to>
MX_INLINE Mask<Vec<T>> exchange_lanes(std::integer_sequence<int, to...>) {
  constexpr NetworkStep step = kNetworkPlan<m, T>.steps[at];
  return Mask<Vec<T>>{lane_exchanged(to ^ (set ? step.flipped : 0), step.lane, set, kLanes<T>)...};
}
template <class T, int m, bool set, int... to>
MX_INLINE Mask<Vec<T>> final_lanes(std::integer_sequence<int, to...>) {
  return Mask<Vec<T>>{lane_in_order(kNetworkPlan<m, T>, to, set, kLaneBits<T>)...};
}

// The smaller element of each lane to a, the larger one to b.
template <bool by_mask, class V>
MX_INLINE void compare(V& a, V& b) {
  const V x = a, y = b;
  if constexpr (by_mask) {  // minimum and maximum share one port, so this is not slower
    if constexpr (sizeof(Element<V>) == 4) {
      const __mmask16 swap = _mm512_cmpgt_epi32_mask((__m512i)x, (__m512i)y);
      a = (V)_mm512_mask_blend_epi32(swap, (__m512i)x, (__m512i)y);
      b = (V)_mm512_mask_blend_epi32(swap, (__m512i)y, (__m512i)x);
    } else {
      const __mmask8 swap = _mm512_cmpgt_epi64_mask((__m512i)x, (__m512i)y);
      a = (V)_mm512_mask_blend_epi64(swap, (__m512i)x, (__m512i)y);
      b = (V)_mm512_mask_blend_epi64(swap, (__m512i)y, (__m512i)x);
    }
  } else {
    a = min(x, y);
    b = max(x, y);
  }
}
template <class T, int m, int at, int i>
MX_INLINE void exchange_pair(Vec<T>* x) {
  constexpr NetworkStep step = kNetworkPlan<m, T>.steps[at];
  if constexpr (!(i & step.vector)) {
    constexpr auto lanes = std::make_integer_sequence<int, kLanes<T>>();
    const Vec<T> a = x[i], b = x[i | step.vector];
    x[i] = __builtin_shuffle(a, b, exchange_lanes<T, at, m, false>(lanes));
    x[i | step.vector] = __builtin_shuffle(a, b, exchange_lanes<T, at, m, true>(lanes));
  }
}
template <class T, int m, int at, int i>
MX_INLINE void compare_pair(Vec<T>* x) {
  constexpr NetworkStep step = kNetworkPlan<m, T>.steps[at];
  if constexpr (!(i & step.compared))
    compare<sizeof(T) == 8>(x[i], x[i ^ step.compared ^ step.mirrored]);
}
template <class T, int m, int at, int... i>
MX_INLINE void network_step(Vec<T>* x, std::integer_sequence<int, i...>) {
  if constexpr (kNetworkPlan<m, T>.steps[at].lane != 0) (exchange_pair<T, m, at, i>(x), ...);
  (compare_pair<T, m, at, i>(x), ...);
}
template <class T, int m, int... at>
MX_INLINE void network_steps(Vec<T>* x, std::integer_sequence<int, at...>) {
  (network_step<T, m, at>(x, std::make_integer_sequence<int, m>()), ...);
}
template <class T, int m, int i>
MX_INLINE void in_place(const Vec<T>* x, Vec<T>* sorted) {
  constexpr NetworkPlan plan = kNetworkPlan<m, T>;
  constexpr auto lanes = std::make_integer_sequence<int, kLanes<T>>();
  constexpr bool set = i & plan.vector;
  sorted[plan.number[i]] =
      __builtin_shuffle(x[i & ~plan.vector], x[i | plan.vector], final_lanes<T, m, set>(lanes));
}
template <class T, int m, int... i>
MX_INLINE void in_places(const Vec<T>* x, Vec<T>* sorted, std::integer_sequence<int, i...>) {
  (in_place<T, m, i>(x, sorted), ...);
}
// Sort the elements of m vectors, a power of two of at least 2.
template <int m, class T>
MX_INLINE void sort_vectors(Vec<T>* x) {
  network_steps<T, m>(x, std::make_integer_sequence<int, kNetworkPlan<m, T>.size>());
  Vec<T> sorted[m];
  in_places<T, m>(x, sorted, std::make_integer_sequence<int, m>());
  for (int i = 0; i < m; ++i) x[i] = sorted[i];
}
MX_LEAF_END
#endif
