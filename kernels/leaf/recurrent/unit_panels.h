// Weights of one direction in panels of kUnits units: for each element of the data, then of the
// hidden state, a panel has the weights of all gates of its units side by side. A step of a single
// sequence reads a panel from beginning to end, which the CPU itself prefetches best. The last
// panel may be narrower, so both orders have the same size.
#pragma once
#include "leaf/recurrent/shape.h"
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

constexpr int64_t kUnits = 16;  // also in ops/recurrent/single_step.py

template <class T>
struct UnitPanel {
  const T* data;
  int64_t hidden, gates;
  int64_t first, width;  // its units

  UnitPanel(const T* weights, int64_t hidden, int64_t gates, int64_t depth, int64_t first)
      : data(weights + first * gates * depth),
        hidden(hidden),
        gates(gates),
        first(first),
        width(least(kUnits, hidden - first)) {}

  // Add the products of its rows from `begin` on with `depth` elements of x to `sums`, whose gates
  // are `hidden` elements apart.
  void add_products(int64_t begin, int64_t depth, const T* x, T* sums) const {
    const T* rows = data + begin * gates * width;
    T* to = sums + first;
    gates == 1   ? add<1>(rows, depth, x, to)
    : gates == 3 ? add<3>(rows, depth, x, to)
                 : add<4>(rows, depth, x, to);
  }

 private:
  template <int G>
  void add(const T* rows, int64_t depth, const T* x, T* to) const {
    constexpr int L = kLanes<T>, W = kUnits > L ? kUnits / L : 1;
    typedef Vec<T> V;
    V acc[G][W] = {};
    const auto lanes = [&](int w) MX_ALWAYS { return least(L, width - w * L); };
    const auto run = [&](const auto& read) MX_ALWAYS {
      for (int64_t p = 0; p < depth; ++p, rows += G * width) {
        const V factor = splat<V>(x[p]);
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
#pragma GCC unroll 8
          for (int w = 0; w < W; ++w) acc[g][w] = fma(factor, read(rows + g * width, w), acc[g][w]);
        }
      }
    };
    if (width == kUnits) {
      run([&](const T* row, int w) MX_ALWAYS { return load(row + w * L); });
    } else {
      run([&](const T* row, int w)
              MX_ALWAYS { return lanes(w) > 0 ? load_lanes(row + w * L, (int)lanes(w)) : V{}; });
    }
    for (int g = 0; g < G; ++g) {
      for (int w = 0; w < W && lanes(w) > 0; ++w) {
        T* at = to + g * hidden + w * L;
        store_lanes(at, load_lanes(at, (int)lanes(w)) + acc[g][w], (int)lanes(w));
      }
    }
  }
};

MX_LEAF_END
