// Activations fused into batch normalisation: none, relu, or clip to [0, 6]; for scalars and
// vectors.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

struct Open {
  template <class V>
  static MX_INLINE V value(const V& v) {
    return v;
  }
  template <class V>
  static MX_INLINE V passed(const V& g, const V&) {
    return g;
  }
};

struct Relu {  // NaN is kept, but not its gradient
  template <class V>
  static MX_INLINE V value(const V& v) {
    return v < V{} ? V{} : v;
  }
  template <class V>
  static MX_INLINE V passed(const V& g, const V& v) {
    return v > V{} ? g : V{};
  }
};

struct Relu6 {  // as clip: NaN and its gradient are kept, and the limits pass gradients
  template <class V>
  static MX_INLINE V value(const V& v) {
    const V six = 6 - V{}, low = v < V{} ? V{} : v;
    return low > six ? six : low;
  }
  template <class V>
  static MX_INLINE V passed(const V& g, const V& v) {
    const V low = v < V{} ? V{} : g;
    return v > 6 - V{} ? V{} : low;
  }
};

MX_LEAF_END
