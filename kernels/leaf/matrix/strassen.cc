// "fc_strassen": dense layers by one or two levels of Strassen's algorithm, over the packed weights
// of fc_panels. Its `tile` is one of Variant.
//
//     for each block of rows
//       for each block of k            of a half (quarter) of k: add up parts of the data
//         for each cell of columns     2 (4) neighbouring panels; results are kept in the cache
//           for each product           add up blocks of weights; multiply; add to parts of results
//
// Threads that compute different columns of the same rows share the sums of the data, or, where
// another core's sums arrive too slowly, repeat them.
#include <atomic>

#include "core/cache.h"
#include "leaf/fused/block.h"
#include "leaf/matrix/strassen_tile.h"
#include "leaf/queries.h"
#include "params/fused.gen.h"

MX_LEAF_BEGIN

namespace {

typedef mx_fused_dense_params P;
enum Variant { kOneLevel = 1, kTwoLevels, kOneLevelRepeated, kVariants };
inline int levels_of(const P& p) { return p.tile == kTwoLevels ? 2 : 1; }

// How a team divides a layer: `ways` groups of threads take the rows, `sides` threads of each group
// the columns, and `sharers` threads share sums of the data; and the rows that fit the caches.
struct Division {
  int ways, sides, sharers;
  int64_t rows, cols;              // of a thread
  int64_t block_depth, part_rows;  // k and rows of a block, of a part
  int64_t tile_rows;               // rows of a register tile

  Division(const P& p, int threads) {
    const int64_t parts = 1 << levels_of(p), products = strassen_products(levels_of(p));
    int team[2];
    split_team<float>(threads, p.rows, p.hidden, team);
    ways = team[0], sides = team[1];
    sharers = p.tile == kOneLevelRepeated ? 1 : sides;
    rows = round_up(ceil_div(p.rows, ways), parts);
    cols = round_up(ceil_div(p.hidden, sides), parts * kWidth);
    block_depth = depth_of_block(p.depth / parts);
    // With AVX2 a tile reads 4 bytes of data per cycle, which may come from the last cache; then
    // sums of weights serve more rows.
    constexpr int64_t kLeast = (MX_ISA_LEVEL >= 4 ? 4 : 22) * kTileRows;
    const int64_t fit = second_cache() / (int64_t)sizeof(float) / 2 / products / block_depth;
    const int64_t most = fit < kLeast ? kLeast : fit, all = rows / parts;
    const int64_t equal = ceil_div(all, ceil_div(all, most));
    tile_rows = tile_height(equal);
    part_rows = round_up(equal, tile_rows);
  }
  // Blocks of sums of those that share: they write one while some still read the one before.
  int blocks() const { return sharers > 1 ? 2 : 1; }
  int64_t sum_size() const { return part_rows * block_depth; }  // elements of a product's sums
};

// One thread's part of a layer.
class Layer {
 public:
  Layer(const mx_call* call, float* sums, const TeamMember& member)
      : p(*(const P*)call->params),
        data_(data<float>(call->in[0])),
        weights_(data<float>(call->in[1])),
        bias_(p.bias ? data<float>(call->in[2]) : nullptr),
        other_(p.sum ? data<float>(call->in[call->nin - 1]) : nullptr),
        out_(data<float>(call->out[0])),
        levels_(levels_of(p)),
        parts_(1 << levels_),
        cell_cols_(parts_ * kWidth),
        part_depth_(p.depth / parts_),
        member_(member),
        division_(p, member.ranks),
        way_(member.rank / division_.sides),
        side_(member.rank % division_.sides),
        all_sums_(sums) {}

  // All threads stop if memory is exhausted in one of them, which sets `failed`.
  void compute(std::atomic<bool>* failed) {
    const int64_t first = way_ * division_.rows, last = least(first + division_.rows, p.rows);
    const int64_t begin = side_ * division_.cols, end = least(begin + division_.cols, p.hidden);
    const int64_t step = parts_ * division_.part_rows;
    if (!allocate(end - begin)) *failed = true;
    int64_t block = 0;
    // All threads meet as often, those without rows or columns, too.
    for (int64_t i = first; i < first + division_.rows; i += step) {
      const int64_t rows = least(step, last - i);
      for (int64_t p0 = 0; p0 < part_depth_; p0 += division_.block_depth, ++block) {
        use_sums(block);
        if (cells_ && rows > 0) pack(i, rows, p0);
        if (division_.sharers > 1) member_.barrier();
        if (*failed) return;
        if (rows > 0 && begin < end) multiply(i, rows, begin, end, p0);
      }
    }
  }

 private:
  int64_t rows_of_part(int64_t rows) const { return ceil_div(rows, parts_); }
  int64_t depth_at(int64_t p0) const { return least(division_.block_depth, part_depth_ - p0); }
  int64_t cell_size() const { return parts_ * cell_cols_ * division_.part_rows; }
  int64_t raw_size() const {
    return round_up(division_.tile_rows * division_.block_depth + kWidth, (int64_t)kWidth);
  }

  // The cells are all columns of this thread until the last block of k, or the same cell if there
  // is a single block.
  bool allocate(int64_t columns) {
    const int64_t cells = part_depth_ > division_.block_depth ? ceil_div(columns, cell_cols_) : 1;
    const int64_t panel = division_.block_depth * kWidth, raw = parts_ * parts_ * raw_size();
    next_cell_ = cells > 1 ? cell_size() : 0;
    const int64_t size = cells * cell_size() + 2 * panel + raw;
    cells_ = (float*)scratch(kPackSlot, (size_t)size * sizeof(float));
    if (!cells_) return false;
    panels_[0] = cells_ + cells * cell_size();
    panels_[1] = panels_[0] + panel;
    raw_ = panels_[1] + panel;
    return true;
  }

  void use_sums(int64_t block) {
    const int blocks = division_.blocks();
    const int64_t at = member_.rank / division_.sharers * blocks + block % blocks;
    sums_ = all_sums_ + at * strassen_products(levels_) * division_.sum_size();
  }

  // The sums of parts of the rows for this thread's share of a block of k: for each product and
  // each tile. Shares are whole vectors of k.
  void pack(int64_t first, int64_t rows, int64_t p0) {
    const int64_t part_rows = rows_of_part(rows), stride = raw_size(), depth = depth_at(p0);
    const int sharers = division_.sharers;
    const int64_t share = round_up(ceil_div(depth, sharers), (int64_t)kLanes<float>);
    const int64_t from = least(member_.rank % sharers * share, depth);
    const int64_t count = least(share, depth - from);
    for (int64_t t = 0; t < part_rows; t += division_.tile_rows) {
      const int height = (int)least(division_.tile_rows, part_rows - t);
      for (int row = 0; row < parts_; ++row) {
        const int64_t at = first + t * parts_ + row;
        const int some = (int)least(height, ceil_div(first + rows - at, parts_));
        const int64_t readable = ceil_div(p.rows - at, parts_);
        for (int col = 0; col < parts_; ++col) {
          const Matrix<float> source = {data_ + at * p.depth + col * part_depth_, parts_ * p.depth,
                                        false};
          source.pack(raw_ + (row * parts_ + col) * stride, height, 0, some, p0 + from, count,
                      readable);
        }
      }
      for (int s = 0; s < strassen_products(levels_); ++s) {
        const auto parts = strassen_parts(kLeftSide, levels_, s, raw_, parts_ * stride, stride);
        float* to = sums_ + s * division_.sum_size() + t * depth + from * height;
        add_signed(to, height * count, parts);
      }
    }
  }

  // Multiply a block of rows and of k by columns [begin, end).
  void multiply(int64_t first, int64_t rows, int64_t begin, int64_t end, int64_t p0) {
    sum_.vectors = sum_.all = 0;
    const float* panel = begin_panel(0, begin, p0);
    grow(&sum_, sum_.all, []() MX_ALWAYS {});
    float* cell = cells_;
    for (int64_t j = begin; j < end; j += cell_cols_) {
      columns(first, rows, j, end, p0, cell, &panel);
      cell += next_cell_;
    }
  }

  const float* weights(int64_t column, int part, int64_t p0) const {
    return weights_ + column * p.depth + (part * part_depth_ + p0) * kWidth;
  }

  // The panel of product s is its only block of weights, or begins to grow.
  const float* begin_panel(int s, int64_t column, int64_t p0) {
    const auto blocks = strassen_parts(kRightSide, levels_, s, weights(column, 0, p0),
                                       part_depth_ * kWidth, p.depth * kWidth);
    if (blocks.count() == 1) return blocks.at[0];
    sum_.blocks = blocks;
    sum_.all = 2 * depth_at(p0);
    sum_.panel = panels_[odd_ ^= 1];
    return sum_.panel;
  }

  // Add all products of a block of k to the parts of a cell; the last block finishes its results.
  // `panel` is that of the first product, and becomes that of the next cell.
  void columns(int64_t first, int64_t rows, int64_t column, int64_t end, int64_t p0, float* cell,
               const float** panel) {
    const int64_t part_rows = rows_of_part(rows), step = part_rows * kWidth;
    const int64_t depth = depth_at(p0);
    const bool last = p0 + depth == part_depth_;
    const int products = strassen_products(levels_);
    const int64_t next_column = column + cell_cols_;
    const int64_t tiles = ceil_div(part_rows, division_.tile_rows);
    const float* data = sums_;
    for (int s = 0; s < products; ++s, data += division_.sum_size()) {
      const float* b = *panel;
      sum_.vectors = sum_.all = 0;
      const bool more = s + 1 < products || next_column < end;
      *panel = more ? begin_panel((s + 1) % products, s + 1 < products ? column : next_column, p0)
                    : nullptr;
      const auto parts = strassen_parts(kResultSide, levels_, s, cell, parts_ * step, step);
      Ahead ahead = next_block(s, column, p0, tiles);
      for (int64_t t = 0, i = 1; t < part_rows; t += division_.tile_rows, ++i) {
        const int64_t height = least(division_.tile_rows, part_rows - t);
        // Products 3 to 6 of the last block bring the lines of four parts of the results.
        if (last && s >= 3 && s < 7) prefetch_results(s - 3, first, rows, t, height, column);
        kProductTiles[height - 1](depth, data + t * depth, b, &tile_, &sum_, sum_.all * i / tiles,
                                  &ahead);
        tile_.parts = parts;
        tile_.fresh = p0 ? 0 : kStrassen[levels_ - 1].terms[kResultSide][s].fresh;
        for (int j = 0; j < parts.count(); ++j) tile_.parts.at[j] += t * kWidth;
      }
    }
    add_pending(tile_, []() MX_ALWAYS {});
    tile_.size = 0;
    if (last) finish(first, rows, column, cell);
  }

  // The lines that product s prefetches: one of the blocks that the next products add.
  Ahead next_block(int s, int64_t column, int64_t p0, int64_t tiles) const {
    column += cell_cols_;
    if (s >= parts_ * parts_ || column >= p.hidden) return {(const char*)sums_, 0, kDepth};
    const float* block = weights(column + s % parts_ * kWidth, s / parts_, p0);
    const int64_t row = kWidth * (int64_t)sizeof(float);
    return {(const char*)block, ceil_div(row, tiles), ceil_div(tiles * kLine, row)};
  }

  void prefetch_results(int part, int64_t first, int64_t rows, int64_t begin, int64_t count,
                        int64_t column) const {
    for (int64_t i = begin; i < begin + count; ++i) {
      const int64_t row = parts_ * i + part / parts_;
      if (row >= rows) return;
      const float* at = out_ + (first + row) * p.hidden + column + part % parts_ * kWidth;
      __builtin_prefetch(at, 1, 2);
      __builtin_prefetch(at + kLanes<float>, 1, 2);
    }
  }

  // Write the results of a cell, with bias, addend and activation.
  void finish(int64_t first, int64_t rows, int64_t column, const float* cell) const {
    const int64_t part_size = rows_of_part(rows) * kWidth;
    for (int row = 0; row < parts_; ++row) {
      const float* from = cell + row * parts_ * part_size;
      for (int64_t i = row; i < rows; i += parts_, from += kWidth) {
        const int64_t at = (first + i) * p.hidden + column;
        finish_row(from, part_size, column, other_ ? other_ + at : nullptr, out_ + at);
      }
    }
  }

  void finish_row(const float* from, int64_t part_size, int64_t column, const float* other,
                  float* to) const {
    constexpr int L = kLanes<float>;
    const float* bias = bias_ ? bias_ + column : nullptr;
    const bool relu = p.act == kRelu, rare = p.act != kNoAct && !relu;
    // Not in the results: rows whole pages apart, just written, would be read again late.
    float kept[kWidth << kMostLevels], *row = rare ? kept : to;
    for (int64_t j = 0; j < cell_cols_; j += kWidth, from += part_size) {
      for (int e = 0; e < kWidth; e += L) {
        Vec<float> x = load(from + e);
        if (bias) x += load(bias + j + e);
        if (other) x += load(other + j + e);
        if (relu) x = x < 0 ? Vec<float>{} : x;
        store(row + j + e, x);
      }
    }
    if (!rare) return;
    activate_row(row, (int)cell_cols_, p.act, (float)p.alpha, (float)p.beta);
    for (int64_t j = 0; j < cell_cols_; j += L) store(to + j, load(row + j));
  }

  const P& p;
  const float *data_, *weights_, *bias_, *other_;
  float* out_;
  const int levels_, parts_;
  const int64_t cell_cols_, part_depth_;
  const TeamMember member_;
  const Division division_;
  const int way_, side_;
  float *all_sums_, *sums_ = nullptr, *cells_ = nullptr, *panels_[2] = {}, *raw_ = nullptr;
  int64_t next_cell_ = 0;
  int odd_ = 0;  // the panel that grew last
  Pending tile_;
  Growing sum_;
};

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (p.tile < kOneLevel || p.tile >= kVariants) return "has one or two levels";
  const int64_t parts = 1 << levels_of(p);
  if (p.hidden % (parts * kWidth) || p.depth % parts) return "units or inputs cannot be halved";
  if (p.rows < 32 * parts || p.hidden < 128 * parts || p.depth < 128 * parts) {
    return "too small to profit";
  }
  return nullptr;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("fc_strassen", reason, what);
  if (what == MX_QUERY_PACKED) return p.hidden * p.depth * (int64_t)sizeof(float);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;  // accepted; there is a single layout
}

int fc_strassen(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_strassen: %s", reason);
  const auto size = [&](int threads) {
    const Division division(p, threads);
    return threads / division.sharers * division.blocks() * strassen_products(levels_of(p)) *
           division.sum_size();
  };
  const int threads = call->threads;
  const int64_t most = size(threads) > size(1) ? size(threads) : size(1);
  float* sums = (float*)scratch(kSharedSlot, (size_t)most * sizeof(float));
  std::atomic<bool> failed{!sums};
  if (sums) {
    parallel_team(threads, [&](const TeamMember& member) {
      if (member.ranks == threads) return Layer(call, sums, member).compute(&failed);
      // OpenMP provides fewer threads, for which there may be too little memory.
      if (member.rank == 0) Layer(call, sums, TeamMember{0, 1}).compute(&failed);
    });
  }
  return failed ? mx_fail("fc_strassen: out of memory") : 0;
}

int fc_strassen_pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_strassen_pack: %s", reason);
  pack_panels(call->threads, p.hidden, p.depth, data<float>(call->in[0]),
              data<float>(call->out[0]));
  return 0;
}

}  // namespace

void register_strassen() {
  add_with_query("fc_strassen", fc_strassen, MX_BIT(F32), query);
  add_with_query("fc_strassen_pack", fc_strassen_pack, MX_BIT(F32), query);
}
MX_LEAF_END
