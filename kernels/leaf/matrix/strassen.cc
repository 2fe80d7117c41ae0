// "fc_strassen": dense layers by one or two levels of Strassen's algorithm, over the packed weights
// of fc_panels.
//
//     for each block of rows         pack the sums of parts of the data
//       for each cell of columns     2 (4) neighbouring panels; results are kept in the cache
//         for each block of k        of a half (quarter) of k
//           for each product         add parts of the panels; multiply; add to parts of the results
#include "leaf/matrix/strassen.h"

#include "core/cache.h"
#include "leaf/fused/block.h"
#include "leaf/queries.h"
#include "params/fused.gen.h"

MX_LEAF_BEGIN

namespace {

typedef mx_fused_dense_params P;

constexpr int kWidth = 2 * kLanes<float>;  // of a panel

// Lines of the next cell's panels, prefetched one every few steps of k.
struct Ahead {
  const char *next, *end;
  int64_t every;
};

// Add R rows of a product to parts of the results: a panel of data times one of weights. With
// `plus`, the panel is a sum of blocks of weights, and written to `b`.
template <int R, int plus, int minus>
void product_tile(int64_t depth, const float* a, float* b, const Signed<const float>& blocks,
                  const Signed<float>& parts, int64_t offset, Ahead* ahead) {
  constexpr int L = kLanes<float>;
  typedef Vec<float> V;
  V acc[R][2] = {};
  const float* block[plus + minus + 1];
#pragma GCC unroll 4
  for (int i = 0; i < plus + minus; ++i) block[i] = blocks.at[i];
  const auto steps = [&](int64_t steps) MX_ALWAYS {
    for (int64_t p = 0; p < steps; ++p, a += R, b += kWidth) {
      prefetch_step<R, 2>(a, b, kWidth);
      V left, right;
      if constexpr (plus) {
        left = signed_sum<plus, minus>(block, 0), right = signed_sum<plus, minus>(block, L);
#pragma GCC unroll 4
        for (int i = 0; i < plus + minus; ++i) block[i] += kWidth;
        store(b, left), store(b + L, right);
      } else {
        left = load(b), right = load(b + L);
      }
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const V x = splat<V>(a[r]);
        acc[r][0] = fma(x, left, acc[r][0]);
        acc[r][1] = fma(x, right, acc[r][1]);
      }
    }
  };
  int64_t p = 0;
  const char* next = ahead->next;
  for (; p < depth && next < ahead->end; p += ahead->every, next += 64) {
    __builtin_prefetch(next, 0, 2);
    steps(least(ahead->every, depth - p));
  }
  ahead->next = next;
  if (p < depth) steps(depth - p);
  for (int i = 0; i < parts.count(); ++i) {
    float* to = parts.at[i] + offset;
    if (i < parts.plus) {
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r, to += kWidth) {
        store(to, load(to) + acc[r][0]), store(to + L, load(to + L) + acc[r][1]);
      }
    } else {
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r, to += kWidth) {
        store(to, load(to) - acc[r][0]), store(to + L, load(to + L) - acc[r][1]);
      }
    }
  }
}

typedef void (*ProductTile)(int64_t, const float*, float*, const Signed<const float>&,
                            const Signed<float>&, int64_t, Ahead*);
// By rows, and by the kind of sum.
#define MX_ROW(R)         \
  {product_tile<R, 0, 0>, \
   nullptr,               \
   nullptr,               \
   product_tile<R, 1, 1>, \
   product_tile<R, 2, 0>, \
   nullptr,               \
   product_tile<R, 2, 2>, \
   nullptr,               \
   product_tile<R, 4, 0>}
#if MX_ISA_LEVEL >= 4
constexpr ProductTile kTiles[kTileRows][9] = {
    MX_ROW(1), MX_ROW(2), MX_ROW(3),  MX_ROW(4),  MX_ROW(5),  MX_ROW(6),  MX_ROW(7),
    MX_ROW(8), MX_ROW(9), MX_ROW(10), MX_ROW(11), MX_ROW(12), MX_ROW(13), MX_ROW(14)};
#else
constexpr ProductTile kTiles[kTileRows][9] = {MX_ROW(1), MX_ROW(2), MX_ROW(3),
                                              MX_ROW(4), MX_ROW(5), MX_ROW(6)};
#endif
#undef MX_ROW

// One thread's part of a layer.
class Layer {
 public:
  Layer(const mx_call* call)
      : p(*(const P*)call->params),
        data_(data<float>(call->in[0])),
        weights_(data<float>(call->in[1])),
        bias_(p.bias ? data<float>(call->in[2]) : nullptr),
        other_(p.sum ? data<float>(call->in[call->nin - 1]) : nullptr),
        out_(data<float>(call->out[0])),
        levels_((int)p.tile),
        parts_(1 << p.tile),
        part_depth_(p.depth / parts_),
        block_depth_(depth_of_block(part_depth_)) {}

  // Columns [begin, end) and rows [first, last), both aligned to the parts; false if memory is
  // exhausted.
  bool compute(int64_t first, int64_t last, int64_t begin, int64_t end) {
    const int products = strassen_products(levels_);
    const int64_t fit = second_cache() / (int64_t)sizeof(float) / 2 / products / block_depth_;
    const int64_t most = fit < 4 * kTileRows ? 4 * kTileRows : fit;
    const int64_t all = ceil_div(last - first, parts_);
    tile_rows_ = tile_height(all);
    part_rows_ = balanced(all, most / tile_rows_ * tile_rows_, tile_rows_);
    const int64_t cells = round_up(end - begin, parts_ * kWidth) * parts_ * part_rows_;
    const int64_t raw = parts_ * parts_ * raw_size();
    const int64_t sums = products * sum_size(part_rows_, block_depth_);
    float* memory = (float*)scratch(
        kPackSlot, (size_t)(cells + block_depth_ * kWidth + raw + sums) * sizeof(float));
    if (!memory) return false;
    cells_ = memory;
    panel_ = cells_ + cells;
    raw_ = panel_ + block_depth_ * kWidth;
    sums_ = raw_ + raw;
    for (int64_t i = first; i < last; i += parts_ * part_rows_) {
      const int64_t rows = least(parts_ * part_rows_, last - i);
      for (int64_t p0 = 0; p0 < part_depth_; p0 += block_depth_) {
        pack(i, rows, p0);
        float* cell = cells_;
        for (int64_t j = begin; j < end; j += parts_ * kWidth) {
          columns(i, rows, j, p0, cell);
          cell += parts_ * parts_ * part_rows_ * kWidth;
        }
      }
    }
    return true;
  }

 private:
  int64_t rows_of_part(int64_t rows) const { return ceil_div(rows, parts_); }

  // Elements from the sums of a product to the next; up to a vector past their end is written.
  static int64_t sum_size(int64_t rows, int64_t depth) {
    return round_up(rows * depth + kLanes<float>, kWidth);
  }
  int64_t raw_size() const { return round_up(tile_rows_ * block_depth_ + kWidth, kWidth); }

  // The sums of parts of the rows for a block of k: for each product and each tile.
  void pack(int64_t first, int64_t rows, int64_t p0) {
    const int64_t part_rows = rows_of_part(rows), stride = raw_size();
    const int64_t depth = least(block_depth_, part_depth_ - p0);
    for (int64_t t = 0; t < part_rows; t += tile_rows_) {
      const int height = (int)least(tile_rows_, part_rows - t);
      for (int row = 0; row < parts_; ++row) {
        const int64_t at = first + t * parts_ + row;
        const int count = (int)least(height, ceil_div(first + rows - at, parts_));
        for (int col = 0; col < parts_; ++col) {
          const Matrix<float> source = {data_ + at * p.depth + col * part_depth_, parts_ * p.depth,
                                        false};
          source.pack(raw_ + (row * parts_ + col) * stride, height, 0, count, p0, depth);
        }
      }
      for (int s = 0; s < strassen_products(levels_); ++s) {
        const auto parts = strassen_parts(kLeftSide, levels_, s, raw_, parts_ * stride, stride);
        add_signed(sums_ + s * sum_size(part_rows, depth) + t * depth, height * depth, parts);
      }
    }
  }

  const float* weights(int64_t column, int part, int64_t p0) const {
    return weights_ + column * p.depth + (part * part_depth_ + p0) * kWidth;
  }

  // Add all products of a block of k to the parts of a cell; the last block finishes its results.
  void columns(int64_t first, int64_t rows, int64_t column, int64_t p0, float* cell) {
    const int64_t part_rows = rows_of_part(rows), step = part_rows * kWidth;
    const int64_t depth = least(block_depth_, part_depth_ - p0);
    const bool last = p0 + depth == part_depth_;
    if (!p0) {
      for (int64_t i = 0; i < parts_ * parts_ * step; ++i) cell[i] = 0;
    }
    const float* data = sums_;
    for (int s = 0; s < strassen_products(levels_); ++s, data += sum_size(part_rows, depth)) {
      const auto blocks = strassen_parts(kRightSide, levels_, s, weights(column, 0, p0),
                                         part_depth_ * kWidth, p.depth * kWidth);
      const bool in_place = blocks.count() == 1;
      float* panel = in_place ? (float*)blocks.at[0] : panel_;
      const int kind = in_place ? 0 : blocks.kind();
      const auto parts = strassen_parts(kResultSide, levels_, s, cell, parts_ * step, step);
      Ahead ahead = next_block(s, column, p0, depth, ceil_div(part_rows, tile_rows_));
      for (int64_t t = 0; t < part_rows; t += tile_rows_) {
        const int64_t height = least(tile_rows_, part_rows - t);
        // Products 3 to 6 of the last block bring the lines of four parts of the results.
        if (last && s >= 3 && s < 7) prefetch_results(s - 3, first, rows, t, height, column);
        kTiles[height - 1][t ? 0 : kind](depth, data + t * depth, panel, blocks, parts, t * kWidth,
                                         &ahead);
      }
    }
    if (last) finish(first, rows, column, cell);
  }

  // The lines that product s prefetches: one of the blocks that the next products add.
  Ahead next_block(int s, int64_t column, int64_t p0, int64_t depth, int64_t tiles) const {
    if (s >= parts_ * parts_) return {nullptr, nullptr, 1};
    column += parts_ * kWidth;
    if (column >= p.hidden) return {nullptr, nullptr, 1};
    const float* block = weights(column + s % parts_ * kWidth, s / parts_, p0);
    const int64_t every = tiles * 64 / (int64_t)(kWidth * sizeof(float));
    return {(const char*)block, (const char*)(block + depth * kWidth), every < 1 ? 1 : every};
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
    constexpr int L = kLanes<float>;
    const int64_t part_rows = rows_of_part(rows);
    for (int64_t i = 0; i < rows; ++i) {
      for (int part = 0; part < parts_; ++part) {
        const int64_t j = column + part * kWidth, at = (first + i) * p.hidden + j;
        const float* from = cell + ((i % parts_ * parts_ + part) * part_rows + i / parts_) * kWidth;
        for (int64_t e = 0; e < kWidth; e += L) {
          Vec<float> x = load(from + e);
          if (bias_) x += load(bias_ + j + e);
          if (other_) x += load(other_ + at + e);
          if (p.act == kRelu) x = x < 0 ? Vec<float>{} : x;
          store(out_ + at + e, x);
        }
        if (p.act != kNoAct && p.act != kRelu) {
          activate_row(out_ + at, kWidth, p.act, (float)p.alpha, (float)p.beta);
        }
      }
    }
  }

  const P& p;
  const float *data_, *weights_, *bias_, *other_;
  float* out_;
  const int levels_, parts_;
  const int64_t part_depth_, block_depth_;
  int64_t tile_rows_ = 0, part_rows_ = 0;
  float *cells_ = nullptr, *panel_ = nullptr, *raw_ = nullptr, *sums_ = nullptr;
};

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (p.tile < 1 || p.tile > kMostLevels) return "has one or two levels";
  const int64_t parts = 1 << p.tile;
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
  const int64_t parts = 1 << p.tile;
  const bool good =
      for_parts<float>(call->threads, p.rows, parts, p.hidden, parts * kWidth,
                       [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
                         return Layer(call).compute(i, rows_end, j, columns_end);
                       });
  return good ? 0 : mx_fail("fc_strassen: out of memory");
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
