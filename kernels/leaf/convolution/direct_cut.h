// How direct convolution divides its work.
#pragma once
#include "core/cache.h"
#include "leaf/convolution/direct.h"

MX_LEAF_BEGIN
namespace direct {

constexpr int B = kBlockLanes;

struct Shape {
  int64_t in_planes, out_blocks;  // planes: blocks of channels, or channels of a plain image
  int64_t run, last;              // channels of a plane, and used ones of the last plane
  bool half;                      // only the first half of the last out block is used
  int64_t height, width, out_height, out_width;
  int64_t taps_y, taps_x, stride_y, stride_x, dilate_y, dilate_x, pad_y, pad_x;
  bool flat;    // rows can be processed as one
  bool direct;  // the input is read without a band

  explicit Shape(const mx_fused_conv_params& p)
      : in_planes(p.in_block ? p.channels / B : p.channels),
        out_blocks(p.filters / B),
        run(p.in_block ? B : 1),
        last(run - spare_channels(p)),
        half(has_half(p)),
        height(p.source[1]),
        width(p.source[2]),
        out_height(p.target[1]),
        out_width(p.target[2]),
        taps_y(p.kernel[1]),
        taps_x(p.kernel[2]),
        stride_y(p.stride[1]),
        stride_x(p.stride[2]),
        dilate_y(p.dilate[1]),
        dilate_x(p.dilate[2]),
        pad_y(p.pad[1]),
        pad_x(p.pad[2]),
        flat(taps_y * taps_x == 1 && stride_y * stride_x == 1 && pad_y + pad_x == 0),
        direct(flat && p.before == kNothing) {
    if (flat) {
      width = out_width = height * width;
      height = out_height = 1;
    }
  }

  // Whether the rows of a band follow each other without a gap.
  bool one_row() const { return flat || taps_y * taps_x == 1; }
  // Extent of a window. Rows and columns between windows are not in the band.
  int64_t reach_y() const { return (taps_y - 1) * dilate_y + 1; }
  int64_t reach_x() const { return (taps_x - 1) * dilate_x + 1; }
  // Rows of the band from one output row to the next, and under n output rows.
  int64_t band_step() const { return least(stride_y, reach_y()); }
  int64_t rows_under(int64_t n) const { return (n - 1) * band_step() + reach_y(); }
  // Columns of the band with equal remainder modulo the stride, and the number of such sets.
  int64_t phase() const { return out_width + (reach_x() - 1) / stride_x; }
  int64_t phases() const { return least(stride_x, reach_x()); }
  int64_t band_row() const { return phases() * phase() * run; }
  // Register tiles of a row, and elements of an output's sum.
  int64_t tiles() const { return ceil_div(out_width, kColumns); }
  int64_t depth() const { return ((in_planes - 1) * run + last) * taps_y * taps_x; }
};

constexpr int kLeastSharers = 4;  // threads of a team in which data mostly comes from other cores
constexpr int64_t kPlanesAhead = 6;  // it is prefetched so many planes ahead

// Two-dimensional partition of the work: an image into pieces of output rows (or columns, if it is
// flat), divided among `ways` threads, and the panels of output channels, divided by `sides`.
struct Cut {
  int64_t rows, columns, pieces;
  int ways = 1, sides = 1;
  bool spread = false;  // threads get equal shares of an image's tiles instead
  int64_t ahead = 1;    // prefetch distance in planes

  Cut(const Shape& s, int64_t images, int threads) : rows(s.out_height), columns(s.out_width) {
    // A piece's input and a panel of weights share the cache.
    const int64_t budget = second_cache() / 2 / (int64_t)sizeof(float);
    const int64_t depth = s.in_planes * s.run;
    const int64_t size = s.flat ? s.out_width : s.out_height;
    const int64_t unit = s.flat ? depth : s.in_planes * s.band_row() * s.band_step();
    int64_t most = budget / unit - (s.flat ? 0 : (s.reach_y() - 1) / s.stride_y);
    if (s.flat) most = most / kColumns * kColumns;
    const int64_t least_size = s.flat ? 4 * kColumns : 1;
    if (most < least_size) most = least_size;
    pieces = ceil_div(size, most);
    if (threads > 1 && images > 0 && pieces > 0) divide(s, images, threads, size);
    const int64_t each = ceil_div(size, pieces);
    (s.flat ? columns : rows) = each > 0 ? each : 1;
    pieces = each > 0 ? ceil_div(size, each) : 0;
  }

  // Choose the thread grid and the number of pieces that minimise the load of the busiest thread.
  void divide(const Shape& s, int64_t images, int threads, int64_t size) {
    if (threads >= kLeastSharers) ahead = kPlanesAhead;
    const int64_t panels = ceil_div(s.out_blocks, kPanelBlocks), fewest = pieces;
    double best = -1;
    for (int c = 1; c <= threads && c <= panels; ++c) {
      const int64_t panels_each = ceil_div(panels, c);
      if (c > 1 && ceil_div(panels, c - 1) == panels_each) continue;
      const int64_t r = threads / c;
      for (int64_t k = 0; k <= 4; ++k) {
        const int64_t more = least(ceil_div(k * r, images), size);
        const int64_t some = more > fewest ? more : fewest, each = ceil_div(size, some);
        const double cost = (double)ceil_div(images * ceil_div(size, each), r) *
                            cost_of_piece(s, each, least(panels_each * kPanelBlocks, s.out_blocks));
        if (best >= 0 && cost >= best) continue;
        best = cost;
        pieces = some, ways = (int)r, sides = c;
      }
    }
    if (s.direct && images == 1 && fewest == 1) spread = cost_of_tiles(s, threads) < .98 * best;
  }
  // Cycles per element of a pixel's channels and taps: one per panel column. Weights and data come
  // from the last-level cache at about six bytes per cycle.
  static constexpr double kGroup = 2, kWeights = 20, kCopy = 1, kRead = .3;
  static double cost_of_piece(const Shape& s, int64_t each, int64_t blocks) {
    const int64_t lines = s.flat ? 1 : each, width = s.flat ? each : s.out_width;
    const double sums = (double)lines * (width + kGroup * ceil_div(width, kColumns));
    const double taps = (double)(s.taps_y * s.taps_x);
    const double band = s.flat ? (double)each : (double)(s.rows_under(each) * s.band_row()) / s.run;
    return (sums + kWeights) * (double)blocks / kPanelBlocks +
           band * (s.flat ? kRead : kCopy) / taps;
  }

  static double cost_of_tiles(const Shape& s, int threads) {
    const int64_t tiles = s.tiles(), most = ceil_div(s.out_blocks * tiles, kPanelBlocks * threads);
    const double sums = (double)s.out_width / (double)tiles + kGroup;
    return most * sums + kWeights * ceil_div(most, tiles) + kRead * s.out_width;
  }

  // Floats of a piece's band, rounded up to cache lines.
  int64_t band(const Shape& s) const {
    if (s.direct) return 0;
    const int64_t plane = s.flat ? columns * s.run : s.rows_under(rows) * s.band_row();
    return round_up(s.in_planes * plane, 16);
  }
};

}  // namespace direct
MX_LEAF_END
