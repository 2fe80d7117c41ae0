// Lanes of a vector: their numbers, and exchanging them.
#pragma once
#include <utility>

#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

template <class I, int... number>
MX_INLINE I listed_lanes(std::integer_sequence<int, number...>) {
  return I{number...};
}
// 0, 1, 2, ... A loop that fills them in is not folded: it would run whenever they are needed.
template <class I>
MX_INLINE I lane_numbers() {
  return listed_lanes<I>(std::make_integer_sequence<int, sizeof(I) / sizeof(Element<I>)>());
}

// Each lane from the one so far away, a power of two.
template <class V>
MX_INLINE V swap_lanes(V x, int distance) {
  typedef Mask<V> I;
  return __builtin_shuffle(x, lane_numbers<I>() ^ splat<I>((Element<I>)distance));
}

MX_LEAF_END
