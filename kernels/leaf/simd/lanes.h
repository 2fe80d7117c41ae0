// Lane numbers and lane exchanges of vectors.
#pragma once
#include <utility>

#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

template <class I, int... number>
MX_INLINE I listed_lanes(std::integer_sequence<int, number...>) {
  return I{number...};
}
// 0, 1, 2, ... as a constant: a loop that fills it in would not be folded.
template <class I>
MX_INLINE I lane_numbers() {
  return listed_lanes<I>(std::make_integer_sequence<int, sizeof(I) / sizeof(Element<I>)>());
}

// Exchange lanes at a distance that is a power of two.
template <class V>
MX_INLINE V swap_lanes(V x, int distance) {
  typedef Mask<V> I;
  return __builtin_shuffle(x, lane_numbers<I>() ^ splat<I>((Element<I>)distance));
}

MX_LEAF_END
