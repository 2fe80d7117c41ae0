// A stack of recurrent layers: products with weights that are packed once for all steps.
// ops/recurrent/layers.py is the definition.
#pragma once
#include "leaf/matrix/gemm.h"
#include "leaf/recurrent/shape.h"

MX_LEAF_BEGIN

// The panels of a B (k x n) that serves many products.
template <class T>
struct Panels {
  static constexpr int kWidth = 2 * kLanes<T>;
  T* data;
  int64_t n, k;

  static int64_t size(int64_t n, int64_t k) { return round_up(n, kLanes<T>) * k + kLanes<T>; }

  void pack(int threads, const Matrix<T>& b) {
    parallel_for(threads, n, kWidth, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j += kWidth) {
        const int count = (int)least(kWidth, n - j);
        b.pack(data + j * k, count <= kLanes<T> ? kLanes<T> : kWidth, j, count, 0, k);
      }
    });
  }

  // C (m x n) = A B + columns + beta * C for an A with rows `a_step` apart; columns may be NULL.
  void multiply(int threads, int64_t m, const T* a, int64_t a_step, const T* columns, T beta, T* c,
                int64_t c_step) const {
    const TileTable<T>& tiles = tile_table(T());
    const int height = tile_height(m);
    parallel_for(threads, n, kWidth, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j += kWidth) {
        const int count = (int)least(kWidth, n - j);
        const bool wide = count > kLanes<T>;
        const Scale<T> scale = {1, beta, nullptr, columns ? columns + j : nullptr};
        for (int64_t i = 0; i < m; i += height) {
          tiles[0][least(height, m - i) - 1][wide](k, a + i * a_step, a_step, data + j * k,
                                                   wide ? kWidth : kLanes<T>, &scale,
                                                   c + i * c_step + j, c_step, count);
        }
      }
    });
  }
};

// Threads for work that is done at every step: less than the whole call's.
inline int step_team(int threads, int64_t work) { return threads > 1 ? mx_threads_for(work) : 1; }

MX_LEAF_END
