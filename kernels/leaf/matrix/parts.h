// Operands of float32 products with AMX, which multiplies bfloat16: an element of 24 bits is the
// sum of three bfloat16 parts of 8 bits, exactly.
//
// Of the nine products of parts, the three smallest are left out; they are below 2^-23 of the
// product, as much as a rounding error of one of its sums. Infinite elements, and those that round
// to infinity, give NaN; parts below the smallest normal number are zeros.
#pragma once
#include "leaf/matrix/panels.h"
#include "leaf/simd/half.h"
#include "leaf/simd/tiles.h"

#if MX_ISA_LEVEL == 4

MX_LEAF_BEGIN

constexpr int kParts = 3;
constexpr int64_t kHalf = kTileRegisterRows;  // rows of a left tile, columns of a right one
constexpr int64_t kSide = 2 * kHalf;          // rows and columns of a block of results
constexpr int64_t kStepDepth = 32;            // k of a step, during which tiles are multiplied once
constexpr int64_t kPairs = 32;                // pairs of vectors of kSide columns in a step
constexpr int64_t kTileElements = 512;        // bfloat16 elements of a tile
constexpr int64_t kStepElements = 2 * kParts * kTileElements;  // of an operand of a block in a step

inline int64_t steps_of(int64_t depth) { return ceil_div(depth, kStepDepth); }

// The parts of elements, each in the high half of a lane.
MX_INLINE void split_parts(VF x, VU (&parts)[kParts]) {
#pragma GCC unroll 3
  for (int part = 0; part < kParts; ++part) {
    parts[part] = part + 1 < kParts ? ((VU)x + 0x8000u) & 0xffff0000u : (VU)x;
    x -= (VF)parts[part];
  }
}

// The high halves of both vectors' lanes: one vector after the other, or alternating.
template <bool alternating>
MX_INLINE VU join_parts(const VU& a, const VU& b) {
  typedef Vec<uint16_t> Half;
  constexpr auto index = [] {
    struct {
      alignas(kVecBytes) uint16_t lane[32];
    } from = {};
    for (int i = 0; i < 32; ++i) {
      from.lane[i] = (uint16_t)(alternating ? 1 + 2 * (i / 2) + 32 * (i % 2) : 1 + 2 * i);
    }
    return from;
  }();
  Half lanes;
  __builtin_memcpy(&lanes, index.lane, sizeof lanes);
  return (VU)__builtin_shuffle((Half)a, (Half)b, lanes);
}

// A row of the tiles of an operand, from two vectors: for a left one (alternating = false) the
// first and the second 16 of a step; for a right one (true) two neighbours of k for each of 16
// columns. Tile `part` is at to + part * 2 * kTileElements.
template <bool alternating>
MX_INLINE void write_row(VF first, VF second, uint16_t* to) {
  VU a[kParts], b[kParts];
  split_parts(first, a), split_parts(second, b);
#pragma GCC unroll 3
  for (int part = 0; part < kParts; ++part) {
    store((uint32_t*)(to + part * 2 * kTileElements), join_parts<alternating>(a[part], b[part]));
  }
}

// Columns of a right operand in the order in which they are read: for each kSide of them, for each
// step of k, for each half of them, 16 pairs of vectors for write_row.
struct OrderedColumns {
  static constexpr int64_t kStep = kSide * kStepDepth;  // elements
  const float* data;
  int64_t depth;

  static int64_t size(int64_t columns, int64_t depth) {
    return ceil_div(columns, kSide) * steps_of(depth) * kStep;
  }
  // Pairs from a step of k on, which are numbered through all steps.
  struct Reader {
    const float* data;
    MX_INLINE void read(int64_t pair, VF& first, VF& second) const {
      const float* from = data + pair * 2 * kHalf;
      first = load(from), second = load(from + kHalf);
    }
    MX_INLINE void prefetch(int64_t pair) const {
      constexpr int64_t kAhead = 2 * kStep;
      __builtin_prefetch(data + pair * 2 * kHalf + kAhead, 0, 2);
      __builtin_prefetch(data + pair * 2 * kHalf + kAhead + kHalf, 0, 2);
    }
  };
  Reader reader(int64_t column, int64_t step) const {
    return {data + (column / kSide * steps_of(depth) + step) * kStep};
  }
};

// Bring columns [begin, end) of an operand in this order.
inline void order_columns(const Matrix<float>& from, int64_t begin, int64_t end, int64_t depth,
                          float* to) {
  constexpr int64_t kSize = kStepDepth * kHalf;
  for (int64_t column = begin; column < end; column += kSide) {
    for (int64_t p = 0; p < depth; p += kStepDepth) {
      for (int64_t i = column; i < column + kSide; i += kHalf, to += kSize) {
        const int64_t count = least(kHalf, end - i), some = least(kStepDepth, depth - p);
        if (count <= 0 || some < kStepDepth) memset(to, 0, kSize * sizeof *to);
        if (count > 0) from.pack(to, kHalf, i, (int)count, p, some);
      }
    }
  }
}

// Columns of a right operand whose rows are contiguous, with the same pairs.
struct PlainColumns {
  const float* data;
  int64_t stride, depth, columns;

  struct Reader {
    const float* data;
    int64_t stride, depth, columns;

    MX_INLINE void read(int64_t pair, VF& first, VF& second) const {
      const int64_t p = first_of(pair), i = pair & kHalf, count = columns - i;
      const float* from = data + p * stride + i;
      if (count >= kHalf && p + 1 < depth) {
        first = load(from), second = load(from + stride);
        return;
      }
      const int some = (int)least(count, kHalf);
      first = some > 0 && p < depth ? load_first(from, some) : VF{};
      second = some > 0 && p + 1 < depth ? load_first(from + stride, some) : VF{};
    }
    MX_INLINE void prefetch(int64_t pair) const {
      if (pair & kHalf) return;  // the lines beside
      const float* from = data + (first_of(pair) + kStepDepth) * stride;
      for (int64_t line = 0; line < 2; ++line, from += stride) {
        __builtin_prefetch(from, 0, 2);
        __builtin_prefetch(from + kHalf, 0, 2);
      }
    }
    static int64_t first_of(int64_t pair) { return pair / kPairs * kStepDepth + pair % kHalf * 2; }
  };
  Reader reader(int64_t column, int64_t step) const {
    const int64_t p = step * kStepDepth;
    return {data + p * stride + column, stride, depth - p, columns - column};
  }
};

// Write the tiles of 16 rows of a left operand, of which `count` exist, and 32 of k, of which
// `depth` exist.
inline void split_rows(const float* from, int64_t stride, int count, int depth, uint16_t* to) {
  constexpr int64_t kAhead = 2 * kStepDepth;
  const int first = depth < kHalf ? depth : (int)kHalf, second = depth - first;
  for (int64_t i = 0; i < kHalf; ++i, from += stride, to += kStepDepth) {
    VF low = {}, high = {};
    if (i < count) {
      __builtin_prefetch(from + kAhead);
      __builtin_prefetch(from + kAhead + kHalf);
      low = first == kHalf ? load(from) : load_first(from, first);
      if (second > 0)
        high = second == kHalf ? load(from + kHalf) : load_first(from + kHalf, second);
    }
    write_row<false>(low, high, to);
  }
}

// The same where k runs along the strided side.
inline void split_columns(const float* from, int64_t stride, int count, int depth, uint16_t* to) {
  VF tiles[kParts][kHalf] = {};
  const auto read = [&](const float* row)
                        MX_ALWAYS { return count == kHalf ? load(row) : load_first(row, count); };
  for (int i = 0; 2 * i < depth; ++i, from += 2 * stride) {
    VU low[kParts], high[kParts];
    split_parts(read(from), low);
    split_parts(2 * i + 1 < depth ? read(from + stride) : VF{}, high);
#pragma GCC unroll 3
    for (int part = 0; part < kParts; ++part) {
      tiles[part][i] = (VF)join_parts<true>(low[part], high[part]);
    }
  }
  for (int part = 0; part < kParts; ++part, to += 2 * kTileElements) {
    transpose_registers<float>(tiles[part]);
    __builtin_memcpy(to, tiles[part], sizeof tiles[part]);
  }
}

// Rows of a left operand in a matrix.
struct PlainRows {
  Matrix<float> matrix;
  int64_t depth;

  // Pack rows [begin, end), `count` steps of k from the given one on: for each kSide rows, for each
  // step, the high, middle and low tiles.
  void pack(int64_t begin, int64_t end, int64_t step, int64_t count, uint16_t* to) const {
    constexpr int64_t kTogether = 8;  // whose contiguous rows are read as one
    for (int64_t group = begin; group < end; group += kTogether * kSide) {
      const int64_t past = least(end, group + kTogether * kSide);
      for (int64_t s = 0; s < count; ++s) {
        const int64_t p = (step + s) * kStepDepth;
        const int some = (int)least(kStepDepth, depth - p);
        for (int64_t i = group; i < past; i += kHalf) {
          const int rows = (int)least(kHalf, past - i);
          const int64_t block = (i - begin) / kSide, half = (i - begin) / kHalf % 2;
          uint16_t* tiles = to + (block * count + s) * kStepElements + half * kTileElements;
          if (matrix.i_contiguous) {
            split_columns(matrix.data + p * matrix.stride + i, matrix.stride, rows, some, tiles);
          } else {
            split_rows(matrix.data + i * matrix.stride + p, matrix.stride, rows, some, tiles);
          }
        }
      }
    }
  }
  float at(int64_t i, int64_t p) const {
    return matrix.data[matrix.i_contiguous ? p * matrix.stride + i : i * matrix.stride + p];
  }
};

MX_LEAF_END
#endif
