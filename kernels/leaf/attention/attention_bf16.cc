// "attention_bf16": attention of bfloat16 arrays by AVX512-BF16, whose instructions add the
// products of two pairs to a float, or by AMX, for whole tiles of rows and of pairs. Scores,
// exponentials' sums and results are floats; exponentials are rounded to bfloat16 for their product
// with the values, as in Dao et al. (2022).
//
//     pairs lie along the sum: of elements for queries and keys, of keys for exponentials and
//     values
#include "leaf/attention/attention.h"
#include "leaf/simd/bf16.h"
#include "leaf/simd/runs.h"

#if MX_ISA_LEVEL == 4
#include "leaf/simd/tiles.h"
#include "tiles.h"
#endif

MX_LEAF_BEGIN
#if MX_ISA_LEVEL >= 4
namespace attention {
namespace {

constexpr int kPanel = 2 * kBlockLanes;  // columns of a panel

// c (R rows of a panel's columns) = or += the sum over pairs of a and a panel.
template <int R>
void pair_tile(int64_t pairs, const bf16* a, int64_t a_row, const bf16* panel, bool add, float* c,
               int64_t c_row) {
  VB sums[R][2] = {};
  for (int64_t p = 0; p < pairs; ++p, panel += 2 * kPanel) {
    const Pairs left = load_pairs(panel), right = load_pairs(panel + kPanel);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      add_products(sums[r][0], a + r * a_row + 2 * p, left);
      add_products(sums[r][1], a + r * a_row + 2 * p, right);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r, c += c_row) {
    if (add) sums[r][0] += load_block(c), sums[r][1] += load_block(c + kBlockLanes);
    store_block(c, sums[r][0]), store_block(c + kBlockLanes, sums[r][1]);
  }
}

typedef void (*PairTile)(int64_t, const bf16*, int64_t, const bf16*, bool, float*, int64_t);
constexpr PairTile kPairTiles[kTileRows] = {
    pair_tile<1>,  pair_tile<2>,  pair_tile<3>,  pair_tile<4>, pair_tile<5>,
    pair_tile<6>,  pair_tile<7>,  pair_tile<8>,  pair_tile<9>, pair_tile<10>,
    pair_tile<11>, pair_tile<12>, pair_tile<13>, pair_tile<14>};

// c (rows x columns, in whole panels) = or += a b.
void multiply_pairs(const bf16* a, int64_t a_row, int64_t rows, const bf16* panels, int64_t columns,
                    int64_t pairs, bool add, float* c, int64_t c_row) {
  const int height = tile_height(rows);
  for (int64_t j = 0; j < columns; j += kPanel, panels += 2 * pairs * kPanel)
    for (int64_t i = 0; i < rows; i += height)
      kPairTiles[least(height, rows - i) - 1](pairs, a + i * a_row, a_row, panels, add,
                                              c + i * c_row + j, c_row);
}

// The same with AMX for 16 or 32 rows, for whole tiles of pairs.
template <bool two>
void multiply_tiles(const bf16* a, int64_t a_row, const bf16* panels, int64_t columns,
                    int64_t pairs, bool add, float* c, int64_t c_row) {
  constexpr int64_t kPanelRow = 2 * kPanel * sizeof(bf16), kPairs = kTileRegisterRows;
  const int64_t left_row = a_row * sizeof(bf16), row = c_row * sizeof(float);
  const bf16* below = a + kTileRegisterRows * a_row;
  for (int64_t j = 0; j < columns; j += kPanel, panels += 2 * pairs * kPanel) {
    float *to = c + j, *lower = to + kTileRegisterRows * c_row;
    if (add) {
      MX_LOAD_TILE(0, to, row);
      MX_LOAD_TILE(1, to + kBlockLanes, row);
      if (two) MX_LOAD_TILE(2, lower, row);
      if (two) MX_LOAD_TILE(3, lower + kBlockLanes, row);
    } else {
      MX_CLEAR_TILE(0);
      MX_CLEAR_TILE(1);
      if (two) MX_CLEAR_TILE(2);
      if (two) MX_CLEAR_TILE(3);
    }
    for (int64_t p = 0; p < pairs; p += kPairs) {
      MX_LOAD_TILE(4, a + 2 * p, left_row);
      MX_LOAD_TILE(6, panels + p * 2 * kPanel, kPanelRow);
      MX_LOAD_TILE(7, panels + p * 2 * kPanel + kPanel, kPanelRow);
      if (two) MX_LOAD_TILE(5, below + 2 * p, left_row);
      add_tile_products<0, 4, 6>();
      add_tile_products<1, 4, 7>();
      if (two) add_tile_products<2, 5, 6>();
      if (two) add_tile_products<3, 5, 7>();
    }
    MX_STORE_TILE(0, to, row);
    MX_STORE_TILE(1, to + kBlockLanes, row);
    if (two) MX_STORE_TILE(2, lower, row);
    if (two) MX_STORE_TILE(3, lower + kBlockLanes, row);
  }
}

// The same by tiles where `tiles` are configured, as far as they go.
void multiply(bool tiles, const bf16* a, int64_t a_row, int64_t rows, const bf16* panels,
              int64_t columns, int64_t pairs, bool add, float* c, int64_t c_row) {
  if (tiles && pairs % kTileRegisterRows == 0) {
    while (rows >= kTileRegisterRows) {
      const bool two = rows >= 2 * kTileRegisterRows;
      (two ? multiply_tiles<true> : multiply_tiles<false>)(a, a_row, panels, columns, pairs, add, c,
                                                           c_row);
      const int64_t done = two ? 2 * kTileRegisterRows : kTileRegisterRows;
      a += done * a_row, c += done * c_row, rows -= done;
    }
  }
  multiply_pairs(a, a_row, rows, panels, columns, pairs, add, c, c_row);
}

// Keys: pairs along a row are moved like floats.
void pack_keys(const P& p, const bf16* keys, bf16* panels) {
  const Matrix<float> source = {(const float*)keys, p.row[kKey] / 2, false};
  for (int64_t j = 0; j < p.keys; j += kPanel)
    source.pack((float*)panels + j * (p.depth / 2), kPanel, j, (int)least(kPanel, p.keys - j), 0,
                p.depth / 2);
}

// Values of keys [from, from + 2 * pairs), zeros after the last: pairs of two rows.
void pack_values(const P& p, const bf16* values, int64_t from, int64_t pairs, bf16* panels) {
  bf16 padded[2][kBlockLanes];
  for (int64_t j = 0; j < p.width; j += kBlockLanes) {
    const int64_t columns = least(kBlockLanes, p.width - j);
    bf16* to = panels + (j / kPanel * pairs * kPanel + j % kPanel) * 2;
    for (int64_t i = 0; i < pairs; ++i, to += 2 * kPanel) {
      const bf16* rows[2];
      for (int half = 0; half < 2; ++half) {
        const int64_t key = from + 2 * i + half;
        rows[half] = values + key * p.row[kValue] + j;
        if (columns == kBlockLanes && key < p.keys) continue;
        memset(padded[half], 0, sizeof padded[half]);
        if (key < p.keys) memcpy(padded[half], rows[half], (size_t)columns * sizeof(bf16));
        rows[half] = padded[half];
      }
      HB low, high;
      memcpy(&low, rows[0], sizeof low), memcpy(&high, rows[1], sizeof high);
      const UB pair = __builtin_convertvector(low, UB) | __builtin_convertvector(high, UB) << 16;
      memcpy(to, &pair, sizeof pair);
    }
  }
}

// Buffers of a thread. Elements of bf16 arrays are counted as floats for each pair.
struct Buffers {
  int64_t score_row, key_pairs;  // of a block of keys
  bf16 *keys, *values, *weights;
  float *scores, *sums;
  float *top, *totals, *shrunk;  // per query: largest score, sum of exponentials, rescaling factor

  Buffers(const P& p, const Blocks& blocks, BumpAllocator<float>& allocator)
      : score_row(round_up(block_keys(p), kPanel)),
        key_pairs(ceil_div(block_keys(p), 2)),
        keys((bf16*)allocator.take(round_up(p.keys, kPanel) * (p.depth / 2))),
        values((bf16*)allocator.take(round_up(p.width, kPanel) * key_pairs *
                                     ceil_div(p.keys, block_keys(p)))),
        weights((bf16*)allocator.take(blocks.size * score_row / 2)),
        scores(allocator.take(blocks.size * score_row)),
        sums(allocator.take(blocks.size * round_up(p.width, kPanel))),
        top(allocator.take(blocks.size)),
        totals(allocator.take(blocks.size)),
        shrunk(allocator.take(blocks.size)) {}
};

class Forward {
 public:
  Forward(const Problem<float>& of, const Buffers& buffers)
      : problem_(of), p_(of.p), own_(buffers), sum_row_(round_up(p_.width, kPanel)) {}

  void pack() const {
    pack_keys(p_, array(kKey), own_.keys);
    for (int64_t j = 0; j < p_.keys; j += block_keys(p_))
      pack_values(p_, array(kValue), j, pairs_of(j), values_of(j));
  }

  // Rows of a block of queries that tiles compute at a time.
  static int64_t unit() { return tiles_allowed() ? kTileRegisterRows : 1; }

  // Compute `rows` queries from query `from` on.
  void attend(int64_t from, int64_t rows) const {
    if (!tiles_allowed()) return attend(from, rows, false);
    const Tiles tiles(kTileRegisterBytes);
    attend(from, rows, true);
  }

 private:
  void attend(int64_t from, int64_t rows, bool tiles) const {
    const bf16* queries = array(kQuery) + from * p_.row[kQuery];
    for (int64_t r = 0; r < rows; ++r) own_.top[r] = kNothing, own_.totals[r] = 0;
    for (int64_t j = 0; j < p_.keys; j += block_keys(p_)) {
      const int64_t keys = least(block_keys(p_), p_.keys - j);
      multiply(tiles, queries, p_.row[kQuery], rows, own_.keys + j * p_.depth, keys, p_.depth / 2,
               false, own_.scores, own_.score_row);
      for (int64_t r = 0; r < rows; ++r) exponentiate(r, from + r, j, keys);
      for (int64_t r = 0; j && r < rows; ++r) shrink(r);
      multiply(tiles, own_.weights, own_.score_row, rows, values_of(j), p_.width, pairs_of(j),
               j > 0, own_.sums, sum_row_);
    }
    bf16* out = data<bf16>(problem_.call->out[0]) + problem_.start(kOut);
    for (int64_t r = 0; r < rows; ++r) write_row(r, out + (from + r) * p_.row[kOut]);
  }

  static constexpr float kNothing = -Real<Vec<float>>::infinity;

  const bf16* array(Operand operand) const {
    return data<bf16>(problem_.call->in[p_.source[operand]]) + problem_.start(operand);
  }
  int64_t pairs_of(int64_t key) const { return ceil_div(least(block_keys(p_), p_.keys - key), 2); }
  bf16* values_of(int64_t key) const {
    return own_.values + key / block_keys(p_) * own_.key_pairs * 2 * sum_row_;
  }

  // Turn row r of the scores into exponentials and record the factor that rescales its sums.
  void exponentiate(int64_t r, int64_t query, int64_t key, int64_t keys) const {
    float* line = own_.scores + r * own_.score_row;
    const float here = problem_.prepare(line, query, key, keys);
    const float larger = own_.top[r] > here ? own_.top[r] : here;
    const float base = larger == kNothing ? 0 : larger;  // all masked: not inf - inf
    const float sum = exponentials(line, keys, base);
    bf16* weights = own_.weights + r * own_.score_row;
    for (int64_t i = 0; i < keys; i += kBlockLanes) store_block(weights + i, load_block(line + i));
    own_.shrunk[r] = own_.top[r] == larger ? 1 : exp(splat<Vec<float>>(own_.top[r] - base))[0];
    own_.totals[r] = own_.totals[r] * own_.shrunk[r] + sum;
    own_.top[r] = larger;
  }

  void shrink(int64_t r) const {
    if (own_.shrunk[r] == 1) return;
    float* sums = own_.sums + r * sum_row_;
    for (int64_t i = 0; i < sum_row_; ++i) sums[i] *= own_.shrunk[r];
  }

  void write_row(int64_t r, bf16* to) const {
    const bool empty = own_.totals[r] == 0 && (p_.masking == kKeep || p_.masking == kLength);
    const float inverse = empty ? 0 : 1 / own_.totals[r];
    map_run(p_.width, to, [inverse](auto x) { return x * inverse; }, own_.sums + r * sum_row_);
  }

  const Problem<float>& problem_;
  const P& p_;
  const Buffers& own_;
  const int64_t sum_row_;
};

int attend(const mx_call* call) {
  const P& p = *(const P*)call->params;
  return each_block<float, Buffers, Forward>(call, p);
}

}  // namespace
}  // namespace attention
#endif

void register_attention_bf16() {
#if MX_ISA_LEVEL >= 4
  if (multiplies_bf16()) mx_kernel_add("attention_bf16", attention::attend, MX_BIT(BF16), 0);
#endif
}
MX_LEAF_END
