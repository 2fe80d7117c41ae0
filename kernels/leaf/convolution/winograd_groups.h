// The matrix product of Winograd convolution, of tiles by a panel of output channels: tiles are
// taken in groups whose sums stay in registers.
#pragma once
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN

// Kernel::product<R, W> multiplies R tiles by the weights of W out blocks; numbers are of type T.
template <class Kernel, class T>
struct GroupProducts {
  typedef void (*Product)(int64_t, const T*, int64_t, const T*, float*, int64_t);
  Product entry[kTileGroup][kPanel];  // that of R tiles and W out blocks at [R - 1][W - 1]

  template <int R = kTileGroup>
  constexpr GroupProducts& fill() {
    entry[R - 1][0] = Kernel::template product<R, 1>;
    entry[R - 1][1] = Kernel::template product<R, 2>;
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }

  void multiply(int tiles, int outs, int64_t in_blocks, const T* v, int64_t v_step, const T* u,
                float* m, int64_t m_step) const {
    const int groups = ceil_div(tiles, kTileGroup);
    const int most = ceil_div(tiles, groups);
    for (int t = 0; t < tiles; t += most) {
      const int some = tiles - t < most ? tiles - t : most;
      entry[some - 1][outs - 1](in_blocks, v + t * kBlockLanes, v_step, u, m + t * kBlockLanes,
                                m_step);
    }
  }
};

MX_LEAF_END
