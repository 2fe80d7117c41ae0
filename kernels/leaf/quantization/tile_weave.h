// Layers with strides on images of few channels, whose windows would fill little of a tile: the
// pixels between two windows, of as many rows, are woven into one pixel of a band, so that the
// layer becomes one without strides and with more channels.
#pragma once
#include "leaf/quantization/byte_pieces.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

constexpr int64_t kMaxWoven = 8;  // bytes of a row in a woven pixel, which are copied at once
constexpr int64_t kMaxWovenRows = 4;

inline bool is_woven(const ByteLayer& l) {
  return l.stride_x > 1 && l.stride_y > 1 && l.stride_y <= kMaxWovenRows && l.taps_x > l.stride_x &&
         l.taps_y > l.stride_y && l.dilate_x * l.dilate_y == 1 &&
         l.stride_x * l.channels <= kMaxWoven;
}

inline ByteLayer woven(const ByteLayer& plain) {
  ByteLayer l = plain;
  l.channels *= l.stride_y * l.stride_x;
  l.taps_y = ceil_div(l.taps_y, l.stride_y), l.taps_x = ceil_div(l.taps_x, l.stride_x);
  l.stride_y = l.stride_x = 1, l.pad_y = l.pad_x = 0;
  l.height = l.out_height + l.taps_y - 1, l.width = l.out_width + l.taps_x - 1;
  return l;
}

// Write `count` woven pixels of `each` bytes of some rows, or of the middle for those that are
// NULL. Every copy overwrites the surplus of the one before.
inline void weave(const uint8_t* const* from, int64_t rows, int64_t each, int64_t count,
                  uint64_t middle, uint8_t* to) {
  for (int64_t at = 0; at < count * each; at += each) {
    for (int64_t g = 0; g < rows; ++g, to += each) {
      uint64_t bytes = middle;
      if (from[g]) memcpy(&bytes, from[g] + at, kMaxWoven);
      memcpy(to, &bytes, kMaxWoven);
    }
  }
}

// Fill the band of a woven layer under its output rows [first, first + rows).
inline void fill_woven(const ByteLayer& plain, const ByteLayer& l, const uint8_t* image,
                       uint8_t* band, int64_t first, int64_t rows) {
  const int64_t c = plain.channels, each = plain.stride_x * c, stride = plain.stride_x;
  const int64_t columns = l.band_row() / l.channels, all = plain.width * c;
  // Columns whose pixels, and the bytes that are copied with them, are all in the image.
  const int64_t low = least(ceil_div(plain.pad_x, stride), columns);
  const int64_t past = all >= kMaxWoven ? ((all - kMaxWoven) / c + plain.pad_x) / stride + 1 : 0;
  const int64_t high = past < low ? low : least(past, columns);
  const uint64_t middle = plain.middle * 0x0101010101010101u;
  for (int64_t y = 0; y < l.band_rows(rows); ++y) {
    const uint8_t* lines[kMaxWovenRows];
    for (int64_t g = 0; g < plain.stride_y; ++g) {
      const int64_t row = (first + y) * plain.stride_y - plain.pad_y + g;
      lines[g] = row < 0 || row >= plain.height ? nullptr : image + row * all;
    }
    const auto bytewise = [&](int64_t begin, int64_t end) {
      for (int64_t x = begin; x < end; ++x) {
        for (int64_t g = 0; g < plain.stride_y; ++g) {
          for (int64_t i = 0; i < each; ++i) {
            const int64_t at = (x * stride - plain.pad_x) * c + i;
            *band++ = lines[g] && at >= 0 && at < all ? lines[g][at] : plain.middle;
          }
        }
      }
    };
    bytewise(0, low);
    const uint8_t* from[kMaxWovenRows];
    for (int64_t g = 0; g < plain.stride_y; ++g)
      from[g] = lines[g] ? lines[g] + (low * stride - plain.pad_x) * c : nullptr;
    weave(from, plain.stride_y, each, high - low, middle, band);
    band += (high - low) * l.channels;
    bytewise(high, columns);
  }
}

// The weight of a filter at byte `at` of a run of a woven layer; 0 outside the filter.
inline int8_t woven_weight(const ByteLayer& plain, const int8_t* filter, int64_t run, int64_t at) {
  const int64_t each = plain.stride_x * plain.channels, pixel = plain.stride_y * each;
  const int64_t y = run * plain.stride_y + at % pixel / each;
  const int64_t x = at / pixel * plain.stride_x + at % each / plain.channels;
  if (y >= plain.taps_y || x >= plain.taps_x) return 0;
  const int64_t taps = plain.taps_y * plain.taps_x;
  return filter[at % plain.channels * taps + y * plain.taps_x + x];
}

MX_LEAF_END
#endif
