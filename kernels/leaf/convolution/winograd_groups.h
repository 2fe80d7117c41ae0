// The matrix product of Winograd convolution, of tiles by a panel of output channels: tiles are
// processed in groups whose sums stay in registers.
#pragma once
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN

// Up to this number of tiles, groups prefetch the weights of the next panel; with more, the stalls
// of the first group matter little.
constexpr int kMaxPrefetchTiles = 4 * kTileGroup;

// Kernel::product<R, W, lines> multiplies R tiles of type T by the weights of W out blocks. It
// prefetches `lines` lines from `prefetch_at` on, advancing by `step` bytes with each vector of
// weights for W blocks. To ask for a line twice would take a second of the few places for lines on
// their way.
template <class Kernel, class T>
struct GroupProducts {
  typedef void (*Product)(int64_t, const T*, int64_t, const T*, float*, int64_t,
                          const char* prefetch_at, int64_t step);
  static constexpr int kMostLines = 2;
  Product entry[1 + kMostLines][kTileGroup]
               [kPanel];  // R tiles and W out blocks are at [lines][R - 1][W - 1]

  template <int R = kTileGroup>
  constexpr GroupProducts& fill() {
    fill_lines<R, 0>();
    fill_lines<R, 1>();
    fill_lines<R, 2>();
    if constexpr (R > 1) fill<R - 1>();
    return *this;
  }

  template <int R, int lines>
  constexpr void fill_lines() {
    entry[lines][R - 1][0] = Kernel::template product<R, 1, lines>;
    entry[lines][R - 1][1] = Kernel::template product<R, 2, lines>;
  }

  void multiply(int tiles, int outs, int64_t in_blocks, const T* v, int64_t v_step, const T* u,
                const T* next, float* m, int64_t m_step) const {
    const int64_t groups = ceil_div(tiles, kTileGroup), most = ceil_div(tiles, groups);
    const int64_t panel = in_blocks * kBlockLanes * outs * kBlockLanes * (int64_t)sizeof(T);
    const int64_t step = Kernel::kBytes * outs / groups;
    const int lines = tiles > kMaxPrefetchTiles ? 0 : step > 64 ? 2 : 1;
    const char* prefetch_at = (const char*)next;
    for (int64_t t = 0; t < tiles; t += most, prefetch_at += panel / groups) {
      const int64_t some = least(most, tiles - t);
      entry[lines][some - 1][outs - 1](in_blocks, v + t * kBlockLanes, v_step, u,
                                       m + t * kBlockLanes, m_step, prefetch_at, step);
    }
  }
};

MX_LEAF_END
