// Bilinear interpolation: sampling points are prepared in blocks, then read in any number of
// planes.
#pragma once
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

constexpr int kPoints = 128;  // per block

// Sampling points of a plane: `at` are the four pixels around each, row by row, and `share` their
// weights, 0 for pixels outside of the plane.
template <class T>
struct Points {
  int32_t at[4][kPoints];
  T share[4][kPoints];

  // dst[i] = value at point i.
  void read(const T* __restrict plane, T* __restrict dst, int n) const {
    for (int i = 0; i < n; ++i) {
      dst[i] = share[0][i] * plane[at[0][i]] + share[1][i] * plane[at[1][i]] +
               share[2][i] * plane[at[2][i]] + share[3][i] * plane[at[3][i]];
    }
  }
  // dst[i] += value at point i.
  void read_more(const T* __restrict plane, T* __restrict dst, int n) const {
    for (int i = 0; i < n; ++i) {
      dst[i] += share[0][i] * plane[at[0][i]] + share[1][i] * plane[at[1][i]] +
                share[2][i] * plane[at[2][i]] + share[3][i] * plane[at[3][i]];
    }
  }
  // The transpose: scatter gradients of the values to the pixels.
  void add(T* plane, const T* grad, int n) const {
    for (int i = 0; i < n; ++i) {
      plane[at[0][i]] += share[0][i] * grad[i];
      plane[at[1][i]] += share[1][i] * grad[i];
      plane[at[2][i]] += share[2][i] * grad[i];
      plane[at[3][i]] += share[3][i] * grad[i];
    }
  }
};

// The same with derivatives of the values with respect to row and column.
template <class T>
struct Slopes {
  Points<T> points;
  T by_row[4][kPoints], by_column[4][kPoints];

  // down[i] += grad[i] * derivative with respect to the row, etc.
  void sum(const T* __restrict plane, const T* __restrict grad, T* __restrict down,
           T* __restrict right, int n) const {
    const auto& at = points.at;
    for (int i = 0; i < n; ++i) {
      const T a = plane[at[0][i]], b = plane[at[1][i]], c = plane[at[2][i]], d = plane[at[3][i]];
      down[i] +=
          grad[i] * (by_row[0][i] * a + by_row[1][i] * b + by_row[2][i] * c + by_row[3][i] * d);
      right[i] += grad[i] * (by_column[0][i] * a + by_column[1][i] * b + by_column[2][i] * c +
                             by_column[3][i] * d);
    }
  }
};

// One point: its four pixels, and its position between them.
template <class T>
struct Place {
  int32_t at[4];
  T inside[4];  // 1 or 0
  T down, right;

  Place(T y, T x, int64_t height, int64_t width) {
    const bool near = y > -1 && y < (T)height && x > -1 && x < (T)width;  // false for NaN
    const int64_t row = near ? (int64_t)__builtin_floor(y) : 0;
    const int64_t column = near ? (int64_t)__builtin_floor(x) : 0;
    down = near ? y - (T)row : 0;
    right = near ? x - (T)column : 0;
    for (int i = 0; i < 4; ++i) {
      const int64_t v = row + i / 2, h = column + i % 2;
      const bool in = near && v >= 0 && v < height && h >= 0 && h < width;
      inside[i] = (T)in;
      at[i] = in ? (int32_t)(v * width + h) : 0;
    }
  }
};

template <class T>
inline void set_point(Points<T>* points, int i, const Place<T>& place) {
  const T down = place.down, right = place.right;
  const T share[4] = {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right),
                      down * right};
  for (int k = 0; k < 4; ++k) {
    points->at[k][i] = place.at[k];
    points->share[k][i] = share[k] * place.inside[k];
  }
}
// The derivatives are multiplied by `row` and `column`.
template <class T>
inline void set_point(Slopes<T>* slopes, int i, const Place<T>& place, T row, T column) {
  set_point(&slopes->points, i, place);
  const T down = place.down, right = place.right;
  const T by_row[4] = {right - 1, -right, 1 - right, right};
  const T by_column[4] = {down - 1, 1 - down, -down, down};
  for (int k = 0; k < 4; ++k) {
    slopes->by_row[k][i] = by_row[k] * place.inside[k] * row;
    slopes->by_column[k][i] = by_column[k] * place.inside[k] * column;
  }
}

// Number of parts to split each of `units` into, to give every thread work.
inline int64_t parts_of(int threads, int64_t units, int64_t most) {
  if (threads <= 1 || units >= threads) return 1;
  const int64_t wanted = (threads + units - 1) / (units > 0 ? units : 1);
  return least(wanted, most > 0 ? most : 1);
}

MX_LEAF_END
