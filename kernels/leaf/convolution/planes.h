// Depthwise convolutions of single planes with square filters of K taps per side and stride S.
//
// A plane is copied first: with its border of zeros, and with the columns of each row grouped by
// their remainder modulo S. Every tap then reads rows at unit stride, borders need no special
// treatment, and a row of results is computed in registers.
#pragma once
#include <type_traits>

#include "leaf/simd/runs.h"
#include "params/convolution.gen.h"

MX_LEAF_BEGIN

constexpr int64_t kMaxPlane = 1 << 20;  // size of a copy, in bytes, that still fits in the cache

// A copy of images of one size. A row consists of `S` runs of every S-th column.
template <class T, int S>
struct Bordered {
  T* data;
  int64_t above, left, rows, run;  // rows and columns of the border, total rows, length of a run

  Bordered(int64_t above, int64_t left, int64_t rows, int64_t columns)
      : data(nullptr),
        above(above),
        left(left),
        rows(rows),
        run(round_up(ceil_div(columns, S), kLanes<T>) + 2 * kLanes<T>) {}

  size_t bytes() const { return (size_t)(rows * S * run) * sizeof(T); }

  // Borders are written once; `fill` leaves them alone.
  void clear(T* memory) {
    data = memory;
    for (int64_t i = 0; i < rows * S * run; ++i) data[i] = 0;
  }

  const T* row(int64_t r) const { return data + r * S * run; }

  // Copy f of an image's elements.
  template <class F>
  void fill(const T* image, int64_t height, int64_t width, const F& f) const {
    constexpr int64_t kPiece = 512;  // columns at a time
    alignas(64) T piece[S == 1 ? 1 : kPiece];
    for (int64_t y = 0; y < height && y + above < rows; ++y, image += width) {
      T* to = data + (y + above) * S * run;
      if constexpr (S == 1) {
        map_run(least(width, run - left), to + left, f, image);
        continue;
      }
      for (int64_t begin = 0; begin < width; begin += kPiece) {
        const int64_t columns = least(width - begin, kPiece);
        map_run(columns, piece, f, image + begin);
        for (int64_t first = 0; first < S && first < columns; ++first) {
          const int64_t column = begin + first + left;
          T* dst = to + column % S * run + column / S;
          const int64_t n = least(ceil_div(columns - first, S), run - column / S);
          for (int64_t x = 0; x < n; ++x) dst[x] = piece[first + x * S];
        }
      }
    }
  }
  void fill(const T* image, int64_t height, int64_t width) const {
    fill(image, height, width, [](auto x) { return x; });
  }
};

// Parameters of a call, if it is supported here.
struct PlaneJob {
  int64_t height, width, target_height, target_width, above, left;
  int taps, step;  // taps == 0: not supported

  template <class P>
  explicit PlaneJob(const P& p)
      : height(p.source[1]),
        width(p.source[2]),
        target_height(p.target[1]),
        target_width(p.target[2]),
        above(p.pad[1]),
        left(p.pad[2]),
        taps((int)p.kernel[2]),
        step((int)p.stride[2]) {
    const bool square = p.kernel[0] == 1 && p.source[0] == 1 && p.target[0] == 1 && p.pad[0] == 0 &&
                        p.kernel[1] == taps && p.stride[1] == step;
    const bool dense = p.dilate[1] == 1 && p.dilate[2] == 1;
    const bool small = above < taps && left < taps && most_bytes() <= kMaxPlane;
    if (!square || !dense || !small || (taps != 3 && taps != 5) || (step != 1 && step != 2)) {
      taps = 0;
    }
  }

  int64_t most_bytes() const {
    return (height + 2 * taps) * (width + 2 * taps + 128) * (int64_t)sizeof(double);
  }

  // Copies of the data and of the output gradient.
  template <class T, int K, int S>
  Bordered<T, S> padded_data() const {
    return {above, left, (target_height - 1) * S + K, (target_width - 1) * S + K + S};
  }
  template <class T, int K, int S>
  Bordered<T, 1> padded_gradient() const {
    constexpr int kBack = (K - 1) / S;
    const int64_t rows = (height - 1 + above) / S + 1, columns = (width - 1 + left) / S + 1;
    return {kBack, kBack, kBack + (rows > target_height ? rows : target_height),
            kBack + (columns > target_width ? columns : target_width)};
  }
};

// out[y][x] = bias (+ previous value) + sum of weight[ky][kx] * data[y * S + ky - above][x * S + kx
// - left]
template <class T, int K, int S>
void plane_forward(const PlaneJob& job, const Bordered<T, S>& data, const T* weight, T bias, T* out,
                   bool add) {
  constexpr int L = kLanes<T>;
  for (int64_t y = 0; y < job.target_height; ++y, out += job.target_width) {
    for (int64_t x = 0; x < job.target_width; x += L) {
      const int n = (int)least(job.target_width - x, (int64_t)L);
      Vec<T> sum = splat<Vec<T>>(bias);
      if (add) sum += load_first(out + x, n);
#pragma GCC unroll 8
      for (int ky = 0; ky < K; ++ky) {
        const T* row = data.row(y * S + ky) + x;
#pragma GCC unroll 8
        for (int kx = 0; kx < K; ++kx) {
          const Vec<T> seen = load(row + kx % S * data.run + kx / S);
          sum = fma(splat<Vec<T>>(weight[ky * K + kx]), seen, sum);
        }
      }
      store_first(out + x, sum, n);
    }
  }
}

// The results whose columns have remainder `part` modulo S: L of them from column x * S + part on.
template <class T, int K, int S, int part>
MX_INLINE Vec<T> spread(const Bordered<T, 1>& gradient, const T* weight, int64_t y, int64_t x) {
  constexpr int kBack = (K - 1) / S;
  Vec<T> sum = {};
  const int64_t from = y % S;
  const T* row = gradient.row(y / S + kBack) + x + kBack;
#pragma GCC unroll 8
  for (int my = 0; my <= kBack; ++my) {
    const int64_t ky = from + my * S;
    if (ky >= K) break;
#pragma GCC unroll 8
    for (int mx = 0; part + mx * S < K; ++mx) {
      const Vec<T> seen = load(row - my * gradient.run - mx);
      sum = fma(splat<Vec<T>>(weight[ky * K + part + mx * S]), seen, sum);
    }
  }
  return sum;
}

// out[y][x] = bias (+ previous value) + sum of weight[ky][kx] * gradient[(y + above - ky) / S][(x +
// left - kx) / S], over the taps that divide; `line` is room for a row.
template <class T, int K, int S>
void plane_backward(const PlaneJob& job, const Bordered<T, 1>& gradient, const T* weight, T bias,
                    T* out, bool add, T* line) {
  constexpr int L = kLanes<T>;
  for (int64_t y = 0; y < job.height; ++y, out += job.width) {
    for (int64_t x = 0; x * S < job.left + job.width; x += L) {
      const Vec<T> even = spread<T, K, S, 0>(gradient, weight, y + job.above, x);
      if constexpr (S == 1) {
        store(line + x, even);
      } else {
        const Vec<T> odd = spread<T, K, S, 1>(gradient, weight, y + job.above, x);
        T* to = line + x * S;
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) to[2 * i] = even[i], to[2 * i + 1] = odd[i];
      }
    }
    if (add) {
      map_run(
          job.width, out, [bias](auto sum, auto one) { return sum + (one + bias); }, out,
          line + job.left);
    } else {
      map_run(job.width, out, [bias](auto one) { return one + bias; }, line + job.left);
    }
  }
}

// The lanes of sums[ky][kx] in total += sum of data[y * S + ky - above][x * S + kx - left] *
// gradient[y][x]
template <class T, int K, int S>
void plane_weight(const PlaneJob& job, const Bordered<T, S>& data, const T* gradient,
                  Vec<T>* sums) {
  constexpr int L = kLanes<T>;
#pragma GCC unroll 8
  for (int ky = 0; ky < K; ++ky) {
    Vec<T> total[K] = {};
    for (int64_t y = 0; y < job.target_height; ++y) {
      const T *row = data.row(y * S + ky), *from = gradient + y * job.target_width;
      int64_t x = 0;
      for (; x + L <= job.target_width; x += L) {
        const Vec<T> g = load(from + x);
#pragma GCC unroll 8
        for (int kx = 0; kx < K; ++kx) {
          total[kx] = fma(load(row + x + kx % S * data.run + kx / S), g, total[kx]);
        }
      }
      const int n = (int)(job.target_width - x);
      if (n == 0) continue;
      const Vec<T> g = load_first(from + x, n);
#pragma GCC unroll 8
      for (int kx = 0; kx < K; ++kx) {  // elements past the end may be infinite
        total[kx] = fma(load_first(row + x + kx % S * data.run + kx / S, n), g, total[kx]);
      }
    }
    for (int kx = 0; kx < K; ++kx) sums[ky * K + kx] += total[kx];
  }
}

// Store, or add, the sums of the lanes that plane_weight left for each tap.
template <class T, int K>
void store_weight_sums(const Vec<T>* sums, T* out, bool add) {
  for (int t = 0; t < K * K; ++t) {
    T sum = add ? out[t] : 0;
    for (int lane = 0; lane < kLanes<T>; ++lane) sum += sums[t][lane];
    out[t] = sum;
  }
}

// Call body(taps, step) with both as compile-time constants.
template <class Body>
void with_plane_sizes(const PlaneJob& job, const Body& body) {
  const auto with_taps = [&](auto taps) {
    if (job.step == 1) {
      body(taps, std::integral_constant<int, 1>{});
    } else {
      body(taps, std::integral_constant<int, 2>{});
    }
  };
  if (job.taps == 3) {
    with_taps(std::integral_constant<int, 3>{});
  } else {
    with_taps(std::integral_constant<int, 5>{});
  }
}

MX_LEAF_END
