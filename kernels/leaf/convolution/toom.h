// The Toom-Cook scheme along one axis: several outputs of a short filter with one multiplication
// per input value, each multiplying polynomials evaluated at a point.
#pragma once
#include "leaf/fused/block.h"

MX_LEAF_BEGIN

typedef double VW __attribute__((vector_size(8 * kBlockLanes)));  // evaluated weights of a block

// No transform, for an axis along which the filter has one tap.
struct Straight {
  static constexpr int outputs = 1, taps = 1, points = 1, weights = 1, stride = 1;
  static constexpr int weight_of(int point) { return point; }
  MX_INLINE static void forward(const VB (&x)[1], VB (&y)[1]) { y[0] = x[0]; }
  MX_INLINE static void inverse(const VB (&m)[1], VB (&y)[1]) { y[0] = m[0]; }
  static void evaluate(const VW (&w)[1], VW (&u)[1]) { u[0] = w[0]; }
  MX_INLINE static void spread(const VB (&y)[1], VB (&m)[1]) { m[0] = y[0]; }
  MX_INLINE static void gather(const VB (&u)[1], VB (&w)[1]) { w[0] = u[0]; }
};

// Points other than 0 and infinity come in pairs p, -p. These p were found by a search for small
// rounding errors; for six points they halve those of the usual 1 and 2.
template <int points>
struct Nodes;
template <>
struct Nodes<3> {
  static constexpr double at[] = {1};
};
template <>
struct Nodes<4> {
  static constexpr double at[] = {1};
};
template <>
struct Nodes<5> {
  static constexpr double at[] = {0.625, 1.5};
};
template <>
struct Nodes<6> {
  static constexpr double at[] = {0.625, 1.5};
};
template <>
struct Nodes<7> {
  static constexpr double at[] = {0.375, 0.875, 1.75};
};
template <>
struct Nodes<8> {
  static constexpr double at[] = {0.5625, 1, 2};
};
template <>
struct Nodes<10> {
  static constexpr double at[] = {0.4375, 0.75, 1.25, 2.5};
};

// Row i < pairs: coefficients, lowest first, of the product of (z - p^2) over all p except the
// i-th; last row: over all p.
template <int points, int pairs>
struct Products {
  double of[pairs + 1][pairs + 1];
  constexpr Products() : of() {
    for (int i = 0; i <= pairs; ++i) {
      of[i][0] = 1;
      for (int j = 0; j < pairs; ++j) {
        if (j == i) continue;
        const double root = Nodes<points>::at[j] * Nodes<points>::at[j];
        for (int k = pairs; k >= 0; --k) of[i][k] = (k ? of[i][k - 1] : 0) - root * of[i][k];
      }
    }
  }
};

constexpr double power(double x, int n) { return n ? x * power(x, n - 1) : 1; }

// F(outputs, taps). Point 0 is left out if the number of points is odd.
template <int kOutputs, int kTaps>
struct Toom {
  static constexpr int outputs = kOutputs, taps = kTaps, points = outputs + taps - 1;
  static constexpr int weights = points, stride = 1;
  static constexpr int weight_of(int point) { return point; }
  static constexpr int pairs = (points - 1) / 2, zeros = points - 1 - 2 * pairs;
  static constexpr const double (&node)[pairs] = Nodes<points>::at;
  static constexpr Products<points, pairs> products{};

  // Point 0 comes first, infinity last. The transform of the data is the transpose of
  // interpolation: a point's row holds the polynomial that vanishes at all other points.
  MX_INLINE static void forward(const VB (&x)[points], VB (&y)[points]) {
#pragma GCC unroll 16
    for (int i = 0; i < pairs; ++i) {
      VB high = x[2 * pairs - 1 + zeros], low = x[2 * pairs - 2 + zeros];
#pragma GCC unroll 16
      for (int k = pairs - 2; k >= 0; --k) {
        const VB c = splat_block((float)products.of[i][k]);
        high = fma(c, x[2 * k + 1 + zeros], high);
        low = fma(c, x[2 * k + zeros], low);
      }
      const VB p = splat_block((float)node[i]);
      y[2 * i + zeros] = fma(p, low, high);
      // Both points of a pair then have the same factor in `evaluate`.
      y[2 * i + 1 + zeros] = zeros ? fma(-p, low, high) : fma(p, low, -high);
    }
    VB infinity = x[points - 1];
#pragma GCC unroll 16
    for (int k = pairs - 1; k >= 0; --k) {
      infinity = fma(splat_block((float)products.of[pairs][k]), x[2 * k + zeros], infinity);
    }
    y[points - 1] = infinity;
    if constexpr (zeros) {
      VB zero = x[2 * pairs];
#pragma GCC unroll 16
      for (int k = pairs - 1; k >= 0; --k) {
        zero = fma(splat_block((float)products.of[pairs][k]), x[2 * k], zero);
      }
      y[0] = zero;
    }
  }

  // Output k is the sum of p^k times the product at p.
  MX_INLINE static void inverse(const VB (&m)[points], VB (&y)[outputs]) {
    VB even[pairs], odd[pairs];
#pragma GCC unroll 16
    for (int i = 0; i < pairs; ++i) {
      even[i] = m[2 * i + zeros] + m[2 * i + 1 + zeros];
      odd[i] = m[2 * i + zeros] - m[2 * i + 1 + zeros];
    }
#pragma GCC unroll 16
    for (int k = 0; k < outputs; ++k) {
      VB sum = k == 0 && zeros ? m[0] : k == outputs - 1 ? m[points - 1] : VB{};
#pragma GCC unroll 16
      for (int i = 0; i < pairs; ++i) {
        const VB part = k % 2 ? odd[i] : even[i];
        sum = k == 0 ? sum + part : fma(splat_block((float)power(node[i], k)), part, sum);
      }
      y[k] = sum;
    }
  }

  // Transpose of `inverse`: from an output's gradient to the products' gradients.
  MX_INLINE static void spread(const VB (&y)[outputs], VB (&m)[points]) {
    m[0] = y[0];
    m[points - 1] = y[outputs - 1];
#pragma GCC unroll 16
    for (int i = 0; i < pairs; ++i) {
      VB even = y[0], odd = y[1] * (float)node[i];
#pragma GCC unroll 16
      for (int k = 2; k < outputs; ++k) {
        const VB c = splat_block((float)power(node[i], k));
        (k % 2 ? odd : even) = fma(c, y[k], k % 2 ? odd : even);
      }
      m[2 * i + 1] = even + odd;
      m[2 * i + 2] = even - odd;
    }
  }

  // Transpose of `evaluate`: from the products' gradients to those of the filter's taps.
  MX_INLINE static void gather(const VB (&u)[points], VB (&w)[taps]) {
#pragma GCC unroll 16
    for (int k = 0; k < taps; ++k) w[k] = k == taps - 1 ? u[points - 1] : VB{};
    w[0] = w[0] + u[0] * (float)(1 / products.of[pairs][0]);
#pragma GCC unroll 16
    for (int i = 0; i < pairs; ++i) {
      const double scale = 1 / (2 * power(node[i], 2) * left_out(i));
      const VB even = u[2 * i + 1] + u[2 * i + 2], odd = u[2 * i + 1] - u[2 * i + 2];
#pragma GCC unroll 16
      for (int k = 0; k < taps; ++k) {
        const VB c = splat_block((float)(power(node[i], k) * scale));
        w[k] = fma(c, k % 2 ? odd : even, w[k]);
      }
    }
  }

  // A filter's taps evaluated at the points, divided by the factors that `forward` omits.
  static void evaluate(const VW (&w)[taps], VW (&u)[points]) {
    if constexpr (zeros) u[0] = w[0] * (1 / products.of[pairs][0]);
    u[points - 1] = w[taps - 1];
#pragma GCC unroll 16
    for (int i = 0; i < pairs; ++i) {
      VW even = w[0], odd = VW{};
#pragma GCC unroll 16
      for (int k = 1; k < taps; ++k) (k % 2 ? odd : even) += power(node[i], k) * w[k];
      const double scale = 1 / (2 * power(node[i], 1 + zeros) * left_out(i));
      u[2 * i + zeros] = (even + odd) * scale;
      u[2 * i + 1 + zeros] = (even - odd) * scale;
    }
  }
  static constexpr double left_out(int i) {
    double sum = 0;
    for (int k = 0; k < pairs; ++k) sum += products.of[i][k] * power(node[i], 2 * k);
    return sum;
  }
};

// Three taps at steps of 2. The first and the last tap read every second value, as a filter of two
// taps at steps of 1; the middle one reads the values between, and multiplies them directly: these
// points share its weights.
template <int kOutputs>
struct Halved {
  typedef Toom<kOutputs, 2> Outer;
  static constexpr int outputs = kOutputs, taps = 3, points = Outer::points + outputs;
  static constexpr int weights = Outer::points + 1, stride = 2;
  static constexpr int weight_of(int point) { return point < weights ? point : weights - 1; }

  MX_INLINE static void forward(const VB (&x)[points], VB (&y)[points]) {
    VB in[Outer::points], out[Outer::points];
#pragma GCC unroll 16
    for (int i = 0; i < Outer::points; ++i) in[i] = x[2 * i];
    Outer::forward(in, out);
#pragma GCC unroll 16
    for (int i = 0; i < Outer::points; ++i) y[i] = out[i];
#pragma GCC unroll 16
    for (int i = 0; i < outputs; ++i) y[Outer::points + i] = x[2 * i + 1];
  }
  MX_INLINE static void inverse(const VB (&m)[points], VB (&y)[outputs]) {
    VB in[Outer::points];
#pragma GCC unroll 16
    for (int i = 0; i < Outer::points; ++i) in[i] = m[i];
    Outer::inverse(in, y);
#pragma GCC unroll 16
    for (int i = 0; i < outputs; ++i) y[i] += m[Outer::points + i];
  }
  static void evaluate(const VW (&w)[taps], VW (&u)[weights]) {
    const VW outer[2] = {w[0], w[2]};
    VW out[Outer::points];
    Outer::evaluate(outer, out);
    for (int i = 0; i < Outer::points; ++i) u[i] = out[i];
    u[weights - 1] = w[1];
  }
};

MX_LEAF_END
