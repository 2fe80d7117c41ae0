// Exchanging the lanes of a vector.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

// Each lane from the one so far away, a power of two.
template <class V>
MX_INLINE V swap_lanes(V x, int distance) {
  Mask<V> from;
  for (int i = 0; i < (int)(sizeof x / sizeof x[0]); ++i) from[i] = i ^ distance;
  return __builtin_shuffle(x, from);
}

MX_LEAF_END
