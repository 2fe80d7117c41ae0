// The matrix product of Winograd convolution, of tiles by a panel of output channels: tiles are
// taken in groups whose sums stay in registers.
#pragma once
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN

// Up to so many tiles, groups ask memory for the weights of the next panel; with more, the first
// group waits little.
constexpr int kMostAsk = 4 * kTileGroup;

// Kernel::product<R, W, asks> multiplies R tiles by the weights of W out blocks; numbers are of
// type T. If `asks`, memory is asked for the line at `coming`, `step` bytes farther with each
// vector of weights for W blocks.
template <class Kernel, class T>
struct GroupProducts {
  typedef void (*Product)(int64_t, const T*, int64_t, const T*, float*, int64_t, const char* coming,
                          int64_t step);
  Product entry[2][kTileGroup][kPanel];  // that of R tiles and W out blocks at [asks][R - 1][W - 1]

  template <int R = kTileGroup>
  constexpr GroupProducts& fill() {
    entry[0][R - 1][0] = Kernel::template product<R, 1, false>;
    entry[0][R - 1][1] = Kernel::template product<R, 2, false>;
    entry[1][R - 1][0] = Kernel::template product<R, 1, true>;
    entry[1][R - 1][1] = Kernel::template product<R, 2, true>;
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }

  void multiply(int tiles, int outs, int64_t in_blocks, const T* v, int64_t v_step, const T* u,
                float* m, int64_t m_step) const {
    const int64_t groups = ceil_div(tiles, kTileGroup), most = ceil_div(tiles, groups);
    const bool asks = tiles <= kMostAsk;
    const int64_t panel = in_blocks * kBlockLanes * outs * kBlockLanes * (int64_t)sizeof(T);
    const int64_t step = Kernel::kBytes * outs / groups;
    const char* coming = (const char*)u + panel;
    for (int64_t t = 0; t < tiles; t += most, coming += panel / groups) {
      const int64_t some = least(most, tiles - t);
      entry[asks][some - 1][outs - 1](in_blocks, v + t * kBlockLanes, v_step, u,
                                      m + t * kBlockLanes, m_step, coming, step);
    }
  }
};

MX_LEAF_END
