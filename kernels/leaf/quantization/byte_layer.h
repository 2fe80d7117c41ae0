// What a convolution or a dense layer of bytes is made of: extents, runs of neighbouring bytes
// under a window, rows of its band, panels of its weights; see conv_bytes.cc.
#pragma once
#include "leaf/quantization/bytes.h"
#include "params/int8.gen.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

constexpr int64_t kRegister = 64;  // bytes of a register, as of a line of the cache

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// A convolution; a dense layer is one of 1 x 1 over an image of one row.
struct ByteLayer {
  int64_t images, channels, filters, height, width, out_height, out_width;
  int64_t taps_y, taps_x, stride_y, stride_x, dilate_y, dilate_x, pad_y, pad_x;
  bool is_signed;
  uint8_t middle;  // the unsigned byte that stands for 0

  explicit ByteLayer(const mx_int8_conv_params& p)
      : images(p.batch),
        channels(p.channels),
        filters(p.filters),
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
        is_signed(p.source_type == MX_I8),
        middle((uint8_t)(p.zero + (is_signed ? kMiddle : 0))) {
    if (taps_y * taps_x == 1 && stride_y * stride_x == 1 && pad_y + pad_x == 0) {
      width = out_width = images * height * width;
      images = height = out_height = 1;
    }
  }
  explicit ByteLayer(const mx_int8_dense_params& p)
      : images(1),
        channels(p.depth),
        filters(p.hidden),
        height(1),
        width(p.rows),
        out_height(1),
        out_width(p.rows),
        taps_y(1),
        taps_x(1),
        stride_y(1),
        stride_x(1),
        dilate_y(1),
        dilate_x(1),
        pad_y(0),
        pad_x(0),
        is_signed(p.source_type == MX_I8),
        middle((uint8_t)(p.zero + (is_signed ? kMiddle : 0))) {}

  // One row of pixels that need not be told apart.
  bool flat() const {
    return images == 1 && height == 1 && out_width == width && taps_y * taps_x == 1 &&
           pad_y + pad_x == 0;
  }
  bool in_place() const { return flat() && !is_signed && channels % 4 == 0; }

  // Neighbouring bytes under a window: whole rows of it, or the channels of its pixels.
  bool by_rows() const { return dilate_x == 1 || taps_x == 1; }
  int64_t runs() const { return by_rows() ? taps_y : taps_y * taps_x; }
  int64_t run() const { return by_rows() ? taps_x * channels : channels; }
  int64_t run_bytes() const { return round_up(run(), 4); }

  // The band leaves out the rows and, if windows are one pixel wide, the columns between windows.
  int64_t reach_y() const { return (taps_y - 1) * dilate_y + 1; }
  int64_t reach_x() const { return (taps_x - 1) * dilate_x + 1; }
  int64_t row_step() const { return least(stride_y, reach_y()); }
  int64_t column_step() const { return reach_x() == 1 ? 1 : stride_x; }
  int64_t band_row() const { return ((out_width - 1) * column_step() + reach_x()) * channels; }
  int64_t band_rows(int64_t rows) const { return (rows - 1) * row_step() + reach_y(); }

  int64_t vectors() const { return ceil_div(filters, kFilterLanes); }
  int64_t panels() const { return ceil_div(vectors(), kMostVectors); }
  // The registers before a panel: panels are as wide as possible and about equal.
  int64_t before(int64_t panel) const {
    return panel * (vectors() / panels()) + least(panel, vectors() % panels());
  }
  int64_t depth() const { return runs() * run_bytes(); }
  int64_t weight_bytes() const { return vectors() * kFilterLanes * depth(); }
  int64_t start_bytes() const { return round_up(vectors() * kRegister, kRegister); }
};

MX_LEAF_END
#endif
