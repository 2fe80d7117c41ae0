// A register tile of a product of Strassen's algorithm. Beside its multiply-adds, which are the
// limit, it does what else is due, a little at each step of k: add the tile before to parts of the
// results, and add up blocks of weights for the product after.
#pragma once
#include <type_traits>

#include "leaf/matrix/strassen.h"

MX_LEAF_BEGIN

constexpr int kWidth = 2 * kLanes<float>;  // of a panel

// A finished tile that is to be added to parts of the results.
struct Pending {
  float sums[kTileRows * kWidth];
  int64_t size = 0;  // elements of `sums`
  int fresh = 0;     // parts that do not exist before
  Signed<float> parts = {};
};

// A panel that is to become a sum of blocks of weights.
struct Growing {
  Signed<const float> blocks = {};
  float* panel = nullptr;
  int64_t vectors = 0, all = 0;  // that exist already, and of the panel
};

// Lines to prefetch: the next, how many bytes to proceed at each step, and the steps for a line.
struct Ahead {
  const char* next;
  int64_t step, every;
};
constexpr int64_t kLine = 64;

enum Update { kSet, kAdd, kSubtract };
template <Update update>
inline MX_ALWAYS void update_row(float* to, const float* sums) {
#pragma GCC unroll 2
  for (int e = 0; e < kWidth; e += kLanes<float>) {
    const Vec<float> x = load(sums + e);
    store(to + e, update == kSet ? x : update == kAdd ? load(to + e) + x : load(to + e) - x);
  }
}

// Vector v of a panel.
template <int plus, int minus>
inline MX_ALWAYS void add_blocks(const Growing& sum, int64_t v) {
  const int64_t at = v * kLanes<float>;
  store(sum.panel + at, signed_sum<plus, minus>(sum.blocks.at, at));
}

// Add vectors of a growing panel up to `end`, and call beside() at each.
template <class F>
inline MX_ALWAYS void grow(Growing* sum, int64_t end, const F& beside) {
  Growing g = *sum;
  const auto each = [&](auto plus, auto minus) MX_ALWAYS {
    for (; g.vectors < end; ++g.vectors) add_blocks<plus(), minus()>(g, g.vectors), beside();
  };
  switch (g.blocks.kind()) {
    case 3:
      each(std::integral_constant<int, 1>(), std::integral_constant<int, 1>());
      break;
    case 4:
      each(std::integral_constant<int, 2>(), std::integral_constant<int, 0>());
      break;
    case 6:
      each(std::integral_constant<int, 2>(), std::integral_constant<int, 2>());
      break;
    case 8:
      each(std::integral_constant<int, 4>(), std::integral_constant<int, 0>());
  }
  sum->vectors = end;
}

template <Update update, class F>
inline MX_ALWAYS void update_results(float* to, const Pending& tile, const F& beside) {
  const float* sums = tile.sums;
  for (float* end = to + tile.size; to < end; to += kWidth, sums += kWidth) {
    update_row<update>(to, sums), beside();
  }
}

// Add a finished tile to parts of the results, and call beside() at each row.
template <class F>
inline MX_ALWAYS void add_pending(const Pending& tile, const F& beside) {
  for (int i = 0; i < tile.parts.count(); ++i) {
    if (i < tile.fresh) {
      update_results<kSet>(tile.parts.at[i], tile, beside);
    } else if (i < tile.parts.plus) {
      update_results<kAdd>(tile.parts.at[i], tile, beside);
    } else {
      update_results<kSubtract>(tile.parts.at[i], tile, beside);
    }
  }
}

// tile->sums = R rows of a panel of data times a panel of weights, after what was there was added.
// `grown` vectors of the next panel are to exist afterwards.
template <int R>
void product_tile(int64_t depth, const float* a, const float* b, Pending* tile, Growing* sum,
                  int64_t grown, Ahead* ahead) {
  constexpr int L = kLanes<float>;
  typedef Vec<float> V;
  V acc[R][2] = {};
  const char* next = ahead->next;
  const int64_t next_step = ahead->step;
  const auto steps = [&](int64_t count) MX_ALWAYS {
    __builtin_prefetch(next, 0, 2);
    next += count * next_step;
#pragma GCC unroll kSteps
    for (int64_t i = 0; i < count; ++i, a += R, b += kWidth) {
      prefetch_step<R, 2>(a, b, kWidth);
      const V left = load(b), right = load(b + L);
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const V x = splat<V>(a[r]);
        acc[r][0] = fma(x, left, acc[r][0]);
        acc[r][1] = fma(x, right, acc[r][1]);
      }
    }
  };
  const auto some = [&]() MX_ALWAYS { steps(kSteps); };
  const auto nothing = []() MX_ALWAYS {};
  int64_t p = tile->size / kWidth * tile->parts.count() * kSteps;
  if (p <= depth) {
    add_pending(*tile, some);
    const int64_t meanwhile = least(grown, sum->vectors + (depth - p) / kSteps);
    p += (meanwhile - sum->vectors) * kSteps;
    grow(sum, meanwhile, some);
  } else {
    p = 0;
    add_pending(*tile, nothing);
  }
  if (sum->vectors < grown) grow(sum, grown, nothing);
  const int64_t every = MX_ISA_LEVEL >= 4 ? 1 : ahead->every;
  for (; p < depth; p += every) steps(least(every, depth - p));
  ahead->next = next;
  float* to = tile->sums;
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r, to += kWidth) store(to, acc[r][0]), store(to + L, acc[r][1]);
  tile->size = R * kWidth;
}

typedef void (*ProductTile)(int64_t, const float*, const float*, Pending*, Growing*, int64_t,
                            Ahead*);
#if MX_ISA_LEVEL >= 4
constexpr ProductTile kProductTiles[kTileRows] = {
    product_tile<1>,  product_tile<2>,  product_tile<3>,  product_tile<4>, product_tile<5>,
    product_tile<6>,  product_tile<7>,  product_tile<8>,  product_tile<9>, product_tile<10>,
    product_tile<11>, product_tile<12>, product_tile<13>, product_tile<14>};
#else
constexpr ProductTile kProductTiles[kTileRows] = {product_tile<1>, product_tile<2>,
                                                  product_tile<3>, product_tile<4>,
                                                  product_tile<5>, product_tile<6>};
#endif

MX_LEAF_END
