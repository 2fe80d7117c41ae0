// The matrix product of Winograd convolution, of tiles by a panel of output channels: tiles are
// processed in groups whose sums stay in registers.
#pragma once
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN

// Up to this number of tiles, groups prefetch the weights of the next panel; with more, the stalls
// of the first group matter little.
constexpr int kMaxPrefetchTiles = 4 * kTileGroup;

// Kernel::product<R, W, prefetches> multiplies R tiles of type T by the weights of W out blocks. If
// `prefetches`, it prefetches the line at `prefetch_at`, advancing by `step` bytes with each vector
// of weights for W blocks.
template <class Kernel, class T>
struct GroupProducts {
  typedef void (*Product)(int64_t, const T*, int64_t, const T*, float*, int64_t,
                          const char* prefetch_at, int64_t step);
  Product entry[2][kTileGroup]
               [kPanel];  // R tiles and W out blocks are at [prefetches][R - 1][W - 1]

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
    const bool prefetches = tiles <= kMaxPrefetchTiles;
    const int64_t panel = in_blocks * kBlockLanes * outs * kBlockLanes * (int64_t)sizeof(T);
    const int64_t step = Kernel::kBytes * outs / groups;
    const char* prefetch_at = (const char*)u + panel;
    for (int64_t t = 0; t < tiles; t += most, prefetch_at += panel / groups) {
      const int64_t some = least(most, tiles - t);
      entry[prefetches][some - 1][outs - 1](in_blocks, v + t * kBlockLanes, v_step, u,
                                            m + t * kBlockLanes, m_step, prefetch_at, step);
    }
  }
};

MX_LEAF_END
