// Winograd convolution: fewer multiplications by evaluating tiles of the image and the filters at a
// few points, multiplying there, and interpolating (Toom and Cook's scheme).
//
//   image tiles --forward--> V[point][in block][tile][B]         B: channels of a block
//   filters ----evaluate---> U[point][panel][in channel][two blocks of out channels]   (packed
//   once) for each point:          M[point][out block][tile][B] = V U  (a matrix product) M
//   ----------inverse----> output tiles, with bias, sum and activation
//
// NaN and infinity in the data spread over the tile (4 x 4 outputs, say) that sees them.
#pragma once
#include "block.h"

MX_LEAF_BEGIN

// --- transforms of one axis --------------------------------------------------------------------

// No transform: an axis along which the filter has one tap.
struct Straight {
  static constexpr int outputs = 1, taps = 1, points = 1;
  MX_INLINE static void forward(const VB (&x)[1], VB (&y)[1]) { y[0] = x[0]; }
  MX_INLINE static void inverse(const VB (&m)[1], VB (&y)[1]) { y[0] = m[0]; }
  static void evaluate(const double* w, int step, double (&u)[1]) { u[0] = w[0]; }
};

// F(4, 3): four outputs of a three-tap filter from six points 0, a, -a, b, -b and infinity. With
// a = 5/8 and b = 3/2 rounding errors are less than half of those with the usual 1 and 2, and every
// constant of the data's transform is exact.
struct FourOfThree {
  static constexpr int outputs = 4, taps = 3, points = 6;
  static constexpr double a = 0.625, b = 1.5;

  MX_INLINE static void forward(const VB (&x)[6], VB (&y)[6]) {
    const VB aa = splat_block(a * a), bb = splat_block(b * b), sum = splat_block(a * a + b * b),
             product = splat_block(a * a * b * b), pa = splat_block(a), pb = splat_block(b);
    const VB even_a = fma(-bb, x[2], x[4]), odd_a = fma(-bb, x[1], x[3]);
    const VB even_b = fma(-aa, x[2], x[4]), odd_b = fma(-aa, x[1], x[3]);
    y[0] = fma(product, x[0], fma(-sum, x[2], x[4]));
    y[1] = fma(pa, odd_a, even_a);
    y[2] = fma(-pa, odd_a, even_a);
    y[3] = fma(pb, odd_b, even_b);
    y[4] = fma(-pb, odd_b, even_b);
    y[5] = fma(product, x[1], fma(-sum, x[3], x[5]));
  }
  MX_INLINE static void inverse(const VB (&m)[6], VB (&y)[4]) {
    const VB sum_a = m[1] + m[2], sum_b = m[3] + m[4];
    const VB odd_a = splat_block(a) * (m[1] - m[2]), odd_b = splat_block(b) * (m[3] - m[4]);
    const VB aa = splat_block(a * a), bb = splat_block(b * b);
    y[0] = m[0] + (sum_a + sum_b);
    y[1] = odd_a + odd_b;
    y[2] = fma(bb, sum_b, aa * sum_a);
    y[3] = fma(bb, odd_b, fma(aa, odd_a, m[5]));
  }
  // The filter w[0], w[step], w[2 * step] at the points, divided by what interpolation leaves out.
  static void evaluate(const double* w, int step, double (&u)[6]) {
    const double w0 = w[0], w1 = w[step], w2 = w[2 * step];
    const double over_a = 1 / (2 * a * a * (a * a - b * b)),
                 over_b = 1 / (2 * b * b * (b * b - a * a));
    u[0] = w0 / (a * a * b * b);
    u[1] = (w0 + a * a * w2 + a * w1) * over_a;
    u[2] = (w0 + a * a * w2 - a * w1) * over_a;
    u[3] = (w0 + b * b * w2 + b * w1) * over_b;
    u[4] = (w0 + b * b * w2 - b * w1) * over_b;
    u[5] = w2;
  }
};

// --- the product at a point ----------------------------------------------------------------------

constexpr int kTileGroup = MX_ISA_LEVEL >= 4   ? 14
                           : MX_ISA_LEVEL == 3 ? 6
                                               : 2;  // tiles in registers
constexpr int kPanel = 2;                            // out blocks in registers

// M of `tiles` tiles and `outs` out blocks (1 or 2): v_step lies between the in blocks of V, m_step
// between the out blocks of M.
void multiply_point(int tiles, int outs, int64_t in_blocks, const float* v, int64_t v_step,
                    const float* u, float* m, int64_t m_step);

// --- a problem -----------------------------------------------------------------------------------

struct Tiling {
  int64_t images, in_blocks, out_blocks;
  int64_t height, width, pad_y, pad_x;  // of the source
  int64_t out_height, out_width;
  int64_t rows, cols, tiles;  // tiles of an image, and of all images
};

// How the work is cut.
struct Cut {
  int64_t tiles;             // of a chunk
  int64_t outs;              // out blocks whose M is kept at a time
  int64_t v_point, m_point;  // floats between points in V and M
  bool by_channels;          // threads share V and divide the out blocks
};

template <class Fy, class Fx>
Tiling tiling_of(const mx_fused_conv_params& p) {
  Tiling t;
  t.images = p.batch;
  t.in_blocks = p.channels / kBlockLanes;
  t.out_blocks = p.filters / kBlockLanes;
  t.height = p.source[1], t.width = p.source[2];
  t.pad_y = p.pad[1], t.pad_x = p.pad[2];
  t.out_height = p.target[1], t.out_width = p.target[2];
  t.rows = (t.out_height + Fy::outputs - 1) / Fy::outputs;
  t.cols = (t.out_width + Fx::outputs - 1) / Fx::outputs;
  t.tiles = t.images * t.rows * t.cols;
  return t;
}

MX_LEAF_END
