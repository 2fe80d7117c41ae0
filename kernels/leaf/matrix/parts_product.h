// Blocked products of float32 matrices with AMX, over operands in parts (see parts.h).
//
//     for each block of rows
//       for each group of columns      whose sums over some of k fit a quarter of the second cache
//         for each block of k          of the rows, packed: they fit a third of it
//           for each 32 columns
//             for each 32 rows         six products of tiles at each 32 of k
//
// Meanwhile the sums of the block before become results, and lines of the next columns arrive. The
// order of summation does not depend on the number of threads.
#pragma once
#include "core/cache.h"
#include "core/memory/scratch.h"
#include "leaf/matrix/parts.h"

#if MX_ISA_LEVEL == 4

MX_LEAF_BEGIN

constexpr int64_t kProducts = 6;  // of parts

// kSide rows (half of them unless `two_rows`) times kSide columns for some steps of k.
struct PartsBlock {
  const uint16_t *left, *right;
  int64_t steps;
  float* sums;  // with rows of kSide
  bool add;
};

// beside() is called after each of kProducts products in a step, meanwhile() when all products have
// been issued; both run while tiles are being multiplied.
template <bool two_rows, class Beside, class Meanwhile>
MX_INLINE void multiply_parts(const PartsBlock& b, const Beside& beside,
                              const Meanwhile& meanwhile) {
  constexpr int64_t kRow = kSide * sizeof(float), kPacked = kTileRegisterBytes;
  char *sums = (char*)b.sums, *below = sums + kHalf * kRow;
  if (b.add) {
    MX_LOAD_TILE(0, sums, kRow);
    MX_LOAD_TILE(1, sums + kPacked, kRow);
    if (two_rows) MX_LOAD_TILE(2, below, kRow);
    if (two_rows) MX_LOAD_TILE(3, below + kPacked, kRow);
  } else {
    MX_CLEAR_TILE(0);
    MX_CLEAR_TILE(1);
    if (two_rows) MX_CLEAR_TILE(2);
    if (two_rows) MX_CLEAR_TILE(3);
  }
  const uint16_t *left = b.left, *right = b.right;
  const auto rows = [&](int part) MX_ALWAYS {
    MX_LOAD_TILE(4, left + 2 * part * kTileElements, kPacked);
    if (two_rows) MX_LOAD_TILE(5, left + (2 * part + 1) * kTileElements, kPacked);
  };
  const auto columns = [&](int part) MX_ALWAYS {
    MX_LOAD_TILE(6, right + 2 * part * kTileElements, kPacked);
    MX_LOAD_TILE(7, right + (2 * part + 1) * kTileElements, kPacked);
  };
  const auto multiply = [&]() MX_ALWAYS {
    add_tile_products<0, 4, 6>();
    add_tile_products<1, 4, 7>();
    if (two_rows) add_tile_products<2, 5, 6>();
    if (two_rows) add_tile_products<3, 5, 7>();
    beside();
  };
  constexpr int kHigh = 0, kMiddle = 1, kLow = 2;
  for (int64_t s = 0; s < b.steps; ++s, left += kStepElements, right += kStepElements) {
    rows(kLow), columns(kHigh), multiply();
    rows(kMiddle), multiply();
    rows(kHigh), multiply();
    columns(kMiddle), multiply();
    columns(kLow), multiply();
    rows(kMiddle), columns(kMiddle), multiply();
  }
  meanwhile();
  MX_STORE_TILE(0, sums, kRow);
  MX_STORE_TILE(1, sums + kPacked, kRow);
  if (two_rows) MX_STORE_TILE(2, below, kRow);
  if (two_rows) MX_STORE_TILE(3, below + kPacked, kRow);
}

// Whether the parts of a block's operands can neither have been infinite nor have vanished.
inline bool reliable(const float* sums, int64_t rows) {
  constexpr uint32_t kTiny = (127u - 96u) << 23, kInfinite = 0x7f800000u;  // 2^-96
  VU wrong = {};
  for (int64_t i = 0; i < rows * kSide; i += kHalf) {
    const VU size = (VU)load(sums + i) & 0x7fffffffu;
    // Zero becomes the largest number.
    wrong |= (VU)(size - 1 < kTiny) | (VU)(size >= kInfinite);
  }
  uint32_t any = 0;
  for (int64_t i = 0; i < kHalf; ++i) any |= wrong[i];
  return any == 0;
}

// A product of rows (see PlainRows) and columns (see OrderedColumns), for one thread. `finish(sums,
// row, rows, column)` takes sums of up to kSide rows, each of kSide columns.
//
// Where operands exceed the range in which parts are exact, sums are repeated without tiles.
template <class Rows, class Columns, class Finish>
class PartsProduct {
 public:
  PartsProduct(const Rows& rows, const Columns& columns, int64_t depth, const Finish& finish)
      : rows_(rows), columns_(columns), depth_(depth), steps_(steps_of(depth)), finish_(finish) {}

  // Rows [begin, end) and columns [first, last); `first` is a multiple of kSide. False if memory is
  // exhausted.
  bool compute(int64_t begin, int64_t end, int64_t first, int64_t last) {
    if (begin >= end || first >= last) return true;
    const int64_t bytes = second_cache(), columns = ceil_div(last - first, kSide);
    block_steps_ = ceil_div(steps_, ceil_div(steps_, kSteps));
    const int64_t fit = bytes / 3 / (kStepElements * (int64_t)sizeof(uint16_t)) / block_steps_;
    const int64_t all_rows = ceil_div(end - begin, kSide), most = fit < 1 ? 1 : fit;
    const int64_t rows = ceil_div(all_rows, ceil_div(all_rows, most));  // of kSide rows
    const bool several = block_steps_ < steps_;
    const int64_t kept = bytes / 4 / (kSums * (int64_t)sizeof(float)) / rows;
    group_ = several && kept < columns ? kept : columns;
    if (!allocate(rows, several ? rows * group_ : 2)) return false;
    group_ *= kSide, first_ = first, last_column_ = last, last_row_ = end;
    const Tiles tiles(kTileRegisterBytes);
    next_ = begin_panel(first, 0);
    next_.grow(next_.pairs);
    for (int64_t i = begin; i < end; i += rows * kSide) {
      const int64_t rows_end = least(i + rows * kSide, end);
      for (int64_t j = first; j < last; j += group_) {
        for (int64_t s = 0; s < steps_; s += block_steps_) {
          const int64_t steps = least(block_steps_, steps_ - s);
          if (several || j == first) rows_.pack(i, rows_end, s, steps, packed_);
          multiply(i, rows_end, j, s, steps);
        }
      }
    }
    finish_last();
    return true;
  }

 private:
  static constexpr int64_t kSteps = 24;            // of a block of k
  static constexpr int64_t kSums = kSide * kSide;  // of a block

  bool allocate(int64_t rows, int64_t sums) {
    const int64_t step = block_steps_ * kStepElements;
    packed_ = (uint16_t*)scratch(kPackSlot, (size_t)((rows + 2) * step) * sizeof *packed_ +
                                                (size_t)(sums * kSums) * sizeof(float));
    if (!packed_) return false;
    panels_[0] = packed_ + rows * step;
    panels_[1] = panels_[0] + step;
    sums_ = (float*)(panels_[1] + step);
    return true;
  }

  // Columns that are next, whose pairs are written beside the products.
  struct Growing {
    typename Columns::Reader reader;
    uint16_t* panel;
    uint64_t pair, pairs;

    // Write up to `count` more pairs.
    MX_INLINE void grow(uint64_t count) {
      for (const uint64_t end = least(pair + count, pairs); pair < end; ++pair) {
        uint16_t* to = panel + pair / kPairs * kStepElements + pair % kHalf * 2 * kHalf +
                       pair / kHalf % 2 * kTileElements;
        VF first, second;
        reader.read(pair, first, second);
        reader.prefetch(pair);
        write_row<true>(first, second, to);
      }
    }
  };

  Growing begin_panel(int64_t column, int64_t step) {
    const int64_t steps = least(block_steps_, steps_ - step);
    return {columns_.reader(column, step), panels_[odd_panel_ ^= 1], 0, (uint64_t)(kPairs * steps)};
  }

  // The columns after these, none at the end.
  Growing after(int64_t column, int64_t first, int64_t past, int64_t step, bool last_rows) {
    if (column + kSide < past) return begin_panel(column + kSide, step);
    if (step + block_steps_ < steps_) return begin_panel(first, step + block_steps_);
    if (past < last_column_) return begin_panel(past, 0);
    if (!last_rows) return begin_panel(first_, 0);
    return {};
  }

  // Rows [begin, end) times the group of columns from `first` on.
  void multiply(int64_t begin, int64_t end, int64_t first, int64_t step, int64_t steps) {
    const bool done = step + steps == steps_, several = steps < steps_;
    const int64_t blocks = ceil_div(end - begin, kSide), past = least(first + group_, last_column_);
    for (int64_t j = first; j < past; j += kSide) {
      const uint16_t* right = next_.panel;
      Growing next = after(j, first, past, step, end == last_row_);
      const int64_t share = ceil_div((int64_t)next.pairs, kProducts * blocks * steps);
      for (int64_t i = 0; i < blocks; ++i) {
        const int64_t row = begin + i * kSide, rows = least(kSide, end - row);
        float* sums = sums_ + (several ? (j - first) / kSide* blocks + i : odd_ ^= 1) * kSums;
        const PartsBlock block = {packed_ + i * steps * kStepElements, right, steps, sums,
                                  step > 0};
        const auto beside = [&]() MX_ALWAYS { next.grow(share); };
        const auto meanwhile = [&] { finish_last(); };
        if (rows > kHalf) {
          multiply_parts<true>(block, beside, meanwhile);
        } else {
          multiply_parts<false>(block, beside, meanwhile);
        }
        if (done) last_ = {sums, row, rows, j};
      }
      next_ = next;
    }
    if (several) finish_last();  // before the next group overwrites these sums
  }

  __attribute__((noinline)) void finish_last() {
    if (!last_.sums) return;
    if (!reliable(last_.sums, last_.rows)) repeat(last_.sums, last_.row, last_.rows, last_.column);
    finish_(last_.sums, last_.row, last_.rows, last_.column);
    last_.sums = nullptr;
  }

  // The sums of a block as ordinary products give them.
  void repeat(float* sums, int64_t row, int64_t rows, int64_t column) const {
    for (int64_t i = row; i < row + rows; ++i) {
      for (int64_t half = 0; half < 2; ++half, sums += kHalf) {
        VF sum = {};
        for (int64_t p = 0; p < depth_; p += 2) {
          VF first, second;
          columns_.reader(column, 0).read(
              p / kStepDepth * kPairs + p % kStepDepth / 2 + half * kHalf, first, second);
          sum = fma(splat<VF>(rows_.at(i, p)), first, sum);
          if (p + 1 < depth_) sum = fma(splat<VF>(rows_.at(i, p + 1)), second, sum);
        }
        store(sums, sum);
      }
    }
  }

  const Rows rows_;
  const Columns columns_;
  const int64_t depth_, steps_;
  const Finish finish_;
  int64_t block_steps_ = 0, group_ = 0, first_ = 0, last_column_ = 0, last_row_ = 0;
  uint16_t *packed_ = nullptr, *panels_[2] = {};
  float* sums_ = nullptr;
  int64_t odd_ = 0, odd_panel_ = 0;
  Growing next_ = {};
  // The last sums that are to become results.
  struct {
    float* sums;
    int64_t row, rows, column;
  } last_ = {};
};

MX_LEAF_END
#endif
