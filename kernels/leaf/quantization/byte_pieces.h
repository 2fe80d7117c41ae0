// Partition of an int8 layer's work into pieces, and the band of a piece's input rows.
#pragma once
#include "leaf/quantization/byte_layer.h"

#if MX_ISA_LEVEL >= 3
#include "core/cache.h"

MX_LEAF_BEGIN

// Partition of the work: images into pieces of rows (of columns, if they are flat) and, if these
// cannot be divided evenly, panels of filters among the threads.
struct ByteCut {
  int64_t size, pieces;  // rows or columns of a piece, pieces of an image
  bool by_panels = false;

  ByteCut(const ByteLayer& l, int threads) {
    const int64_t room = second_cache() / 2, whole = l.flat() ? l.out_width : l.out_height;
    const int64_t unit =
        (l.flat() ? l.channels : l.band_row() * l.row_step()) * (int64_t)sizeof(Cell);
    const int64_t most = room / (unit > 0 ? unit : 1);
    const int64_t fewest = l.flat() ? 48 : 1;
    pieces = ceil_div(whole, most > fewest ? most : fewest);
    const int64_t units = l.images * pieces, panels = l.panels();
    if (threads > 1 && units > 0 && units < 8 * threads && units % threads) {
      const bool even = panels % threads == 0 || panels >= 4 * threads;
      by_panels = even && l.weight_bytes() > l.out_width * l.channels;
      if (!by_panels) pieces = ceil_div(round_up(units, threads), l.images);
    }
    size = ceil_div(whole, pieces > 0 ? pieces : 1);
    pieces = size > 0 ? ceil_div(whole, size) : 0;
  }
  int64_t band(const ByteLayer& l) const {
    if (l.in_place()) return 0;
    const int64_t cells = l.flat() ? size * l.channels : l.band_rows(size) * l.band_row();
    return round_up((cells + kLaneProducts) * (int64_t)sizeof(Cell), kCacheLine);
  }
};

inline void take_bytes(Cell* to, const uint8_t* from, int64_t n, uint8_t up) {
  if (sizeof(Cell) == 1 && !up) {
    memcpy(to, from, n);
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = (uint8_t)(from[i] ^ up);
}

inline void fill_cells(Cell* to, uint8_t value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

// Copy the rows under output rows [first, first + rows).
inline void fill_band(const ByteLayer& l, const uint8_t* image, Cell* band, int64_t first,
                      int64_t rows) {
  const uint8_t zero = l.middle, up = l.is_signed ? kMiddle : 0;
  const int64_t c = l.channels, columns = l.band_row() / c, under = l.band_rows(rows);
  for (int64_t y = 0; y < under; ++y, band += columns * c) {
    const int64_t row =
        first * l.stride_y - l.pad_y + y / l.row_step() * l.stride_y + y % l.row_step();
    if (row < 0 || row >= l.height) {
      fill_cells(band, zero, columns * c);
      continue;
    }
    const uint8_t* from = image + row * l.width * c;
    if (l.column_step() != l.stride_x) {  // non-contiguous pixels
      for (int64_t x = 0; x < columns; ++x) {
        const int64_t column = x * l.stride_x - l.pad_x;
        if (column >= 0 && column < l.width)
          take_bytes(band + x * c, from + column * c, c, up);
        else
          fill_cells(band + x * c, zero, c);
      }
      continue;
    }
    const int64_t low = least(l.pad_x, columns);
    const int64_t high = least(l.pad_x + l.width, columns);
    fill_cells(band, zero, low * c);
    if (high > low) take_bytes(band + low * c, from, (high - low) * c, up);
    fill_cells(band + high * c, zero, (columns - high) * c);
  }
}

MX_LEAF_END
#endif
