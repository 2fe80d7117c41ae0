// "fc_panels": dense layers with weights packed in panels of two vectors' width.
//
// With few rows the weights come from main memory: a tile of the result stays in registers over a
// block of k, while the tiles of all rows that share a panel prefetch the next one, one line every
// few steps. This hides memory latency without exceeding the number of lines in flight.
//
//     weights   | panel 0: k x width | panel 1 | ...          a block of a panel fits the first
//     cache data      packed in panels of a tile's rows, all of k    a block of its columns the
//     second one
#include "core/cache.h"
#include "leaf/fused/block.h"
#include "leaf/matrix/gemm.h"
#include "leaf/queries.h"
#include "params/fused.gen.h"

MX_LEAF_BEGIN

namespace {

typedef mx_fused_dense_params P;

constexpr int kWidth = 2 * kLanes<float>;  // of a panel

// Prefetching shared by the tiles of one panel: the lines of the next panel's block, one (or
// `burst`) every `every` steps of k.
struct Ahead {
  const char *next, *end;
  int64_t every;
  int burst;

  Ahead(const float* panel, int64_t depth, int64_t tiles)
      : next((const char*)panel), end((const char*)(panel + (panel ? depth * kWidth : 0))) {
    constexpr int64_t kLine = 64, kStep = kWidth * sizeof(float);
    every = tiles * kLine / kStep;
    burst = every < 1 ? (int)(kStep / (tiles * kLine)) : 1;
    if (every < 1) every = 1;
  }
};

// How a tile is initialised and finished.
struct Ends {
  const float* bias;  // of its columns, or NULL
  const float* more;  // an addend with the result's row stride, or NULL
  bool last;          // whether this is the last block of k, after which the activation is applied
  int act;
  float alpha, beta;
};

// Compute rows [0, R) of the result, or of its partial sum: a panel of data times a block of a
// panel.
template <int R>
void panel_tile(int64_t depth, const float* a, const float* b, const Ends& ends, float* c,
                int64_t ldc, int cols, Ahead* ahead) {
  constexpr int L = kLanes<float>;
  typedef Vec<float> V;
  const int first = cols < L ? cols : L, second = cols - first;
  const auto read = [](const float* from, int count) MX_ALWAYS {
    return count == L ? load(from) : count ? load_first(from, count) : V{};
  };
  V acc[R][2];
  {
    V left{}, right{};
    if (ends.bias) left = read(ends.bias, first), right = read(ends.bias + L, second);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      acc[r][0] = left, acc[r][1] = right;
      const float* row = (ends.more ? ends.more : c) + r * ldc;
      __builtin_prefetch(row, 1);
      __builtin_prefetch(row + cols - 1, 1);
    }
  }
  const auto steps = [&](int64_t count) MX_ALWAYS {
#pragma GCC unroll kSteps
    for (int64_t p = 0; p < count; ++p, a += R, b += kWidth) {
      prefetch_step<R, 2>(a, b, kWidth);
      const V left = load(b), right = load(b + L);
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
  for (; p < depth && next < ahead->end; p += ahead->every) {
    for (int i = 0; i < ahead->burst; ++i, next += 64) __builtin_prefetch(next, 0, 2);
    steps(least(ahead->every, depth - p));
  }
  ahead->next = next;
  if (p < depth) steps(depth - p);
  if (ends.more) {
    const float* from = ends.more;
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, from += ldc) {
      acc[r][0] += read(from, first);
      acc[r][1] += read(from + L, second);
    }
  }
  if (ends.last && ends.act == kRelu) {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      acc[r][0] = acc[r][0] < 0 ? V{} : acc[r][0];
      acc[r][1] = acc[r][1] < 0 ? V{} : acc[r][1];
    }
  }
  if (ends.last && ends.act != kNoAct && ends.act != kRelu) {
    // Not in the results: rows whole pages apart, just written, would be read again late.
    float sums[R * kWidth];
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      store(sums + r * kWidth, acc[r][0]);
      store(sums + r * kWidth + L, acc[r][1]);
    }
    activate_row(sums, R * kWidth, ends.act, ends.alpha, ends.beta);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      acc[r][0] = load(sums + r * kWidth);
      acc[r][1] = load(sums + r * kWidth + L);
    }
  }
  float* to = c;
  if (cols == kWidth) {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, to += ldc) store(to, acc[r][0]), store(to + L, acc[r][1]);
  } else {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, to += ldc) {
      store_first(to, acc[r][0], first);
      if (second) store_first(to + L, acc[r][1], second);
    }
  }
}

typedef void (*PanelTile)(int64_t, const float*, const float*, const Ends&, float*, int64_t, int,
                          Ahead*);
#if MX_ISA_LEVEL >= 4
constexpr PanelTile kTiles[kTileRows] = {
    panel_tile<1>,  panel_tile<2>,  panel_tile<3>,  panel_tile<4>, panel_tile<5>,
    panel_tile<6>,  panel_tile<7>,  panel_tile<8>,  panel_tile<9>, panel_tile<10>,
    panel_tile<11>, panel_tile<12>, panel_tile<13>, panel_tile<14>};
#else
constexpr PanelTile kTiles[kTileRows] = {panel_tile<1>, panel_tile<2>, panel_tile<3>,
                                         panel_tile<4>, panel_tile<5>, panel_tile<6>};
#endif

// Block sizes of a layer's product, given its extents and the caches.
struct Blocks {
  int tile_rows;
  int64_t depth, rows, cols;

  Blocks(const P& p, int64_t most_rows) {
    const int64_t cache = second_cache() / (int64_t)sizeof(float);
    tile_rows = tile_height(most_rows);
    depth = depth_of_block(p.depth);
    // The block of data takes a quarter of the L2 cache, with AVX2 all of it: a tile reads 4 bytes
    // of it per cycle, and weights are read less often. Another quarter is for the results that the
    // next block of k adds to.
    constexpr int64_t kShare = MX_ISA_LEVEL >= 4 ? 4 : 1;
    int64_t most = cache / kShare / depth / tile_rows;
    most = (most < 6 ? 6 : most) * tile_rows;
    rows = balanced(most_rows, most, tile_rows);
    cols = cache / 4 / rows / kWidth * kWidth;
    if (cols < 4 * kWidth) cols = 4 * kWidth;
  }
};

struct Layer {
  const P& p;
  const float *data, *weights, *bias, *other;
  float* out;

  const float* block(int64_t column, int64_t p0) const {
    return weights + column * p.depth + p0 * kWidth;
  }

  // Compute rows [i0, i1) of columns [j0, j1), where j0 is panel-aligned; false if memory is
  // exhausted.
  bool part(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    if (p.rows == 1) return single_row(j0, j1), true;
    const Blocks size(p, i1 - i0);
    float* panels =
        (float*)scratch(kPackSlot, (size_t)(size.rows * p.depth + kWidth) * sizeof(float));
    if (!panels) return false;
    for (int64_t i = i0; i < i1; i += size.rows) {
      const int64_t rows = least(size.rows, i1 - i);
      pack_data(size, i, rows, panels);
      for (int64_t j = j0; j < j1; j += size.cols) {
        columns(size, panels, i, rows, j, least(j + size.cols, j1));
      }
    }
    return true;
  }

 private:
  Ends ends(int64_t j, int64_t at, bool first, bool last) const {
    return {first && bias ? bias + j : nullptr,
            !first  ? out + at
            : other ? other + at
                    : nullptr,
            last,
            p.act,
            (float)p.alpha,
            (float)p.beta};
  }

  // Panels are read from beginning to end, which the CPU itself prefetches best.
  void single_row(int64_t begin, int64_t end) const {
    const int64_t most = depth_of_block(p.depth);
    for (int64_t j = begin; j < end; j += kWidth) {
      for (int64_t p0 = 0; p0 < p.depth; p0 += most) {
        const int64_t depth = least(most, p.depth - p0);
        Ahead nothing(nullptr, depth, 1);
        panel_tile<1>(depth, data + p0, block(j, p0), ends(j, j, !p0, p0 + depth == p.depth),
                      out + j, p.hidden, (int)least(kWidth, p.hidden - j), &nothing);
      }
    }
  }

  void pack_data(const Blocks& size, int64_t first, int64_t rows, float* panels) const {
    const Matrix<float> source = {data, p.depth, false};
    for (int64_t p0 = 0; p0 < p.depth; p0 += size.depth) {
      const int64_t depth = least(size.depth, p.depth - p0);
      for (int64_t i = 0; i < rows; i += size.tile_rows) {
        const int count = (int)least(size.tile_rows, rows - i);
        source.pack(panels + p0 * rows + i * depth, count, first + i, count, p0, depth);
      }
    }
  }

  void columns(const Blocks& size, const float* panels, int64_t first, int64_t rows, int64_t begin,
               int64_t end) const {
    for (int64_t p0 = 0; p0 < p.depth; p0 += size.depth) {
      const int64_t depth = least(size.depth, p.depth - p0);
      const bool last = p0 + depth == p.depth;
      for (int64_t j = begin; j < end; j += kWidth) {
        const int cols = (int)least(kWidth, p.hidden - j);
        const float* next = j + kWidth < end ? block(j + kWidth, p0)
                            : !last          ? block(begin, p0 + depth)
                            : end < p.hidden ? block(end, 0)
                                             : nullptr;
        Ahead ahead(next, depth, ceil_div(rows, size.tile_rows));
        for (int64_t i = 0; i < rows; i += size.tile_rows) {
          const int64_t at = (first + i) * p.hidden + j;
          kTiles[least(size.tile_rows, rows - i) - 1](depth, panels + p0 * rows + i * depth,
                                                      block(j, p0), ends(j, at, !p0, last),
                                                      out + at, p.hidden, cols, &ahead);
        }
      }
    }
  }
};

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (p.rows * p.hidden * p.depth < 1 << 18) return "too small to profit from packed weights";
  return nullptr;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("fc_panels", reason, what);
  if (what == MX_QUERY_PACKED) return round_up(p.hidden, kWidth) * p.depth * (int64_t)sizeof(float);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;  // accepted; there is a single layout
}

int fc_panels(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_panels: %s", reason);
  const Layer layer = {p,
                       data<float>(call->in[0]),
                       data<float>(call->in[1]),
                       p.bias ? data<float>(call->in[2]) : nullptr,
                       p.sum ? data<float>(call->in[call->nin - 1]) : nullptr,
                       data<float>(call->out[0])};
  const bool good =
      for_parts<float>(call->threads, p.rows, 1, p.hidden, kWidth,
                       [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
                         return layer.part(i, rows_end, j, columns_end);
                       });
  return good ? 0 : -1;
}

int fc_panels_pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_panels_pack: %s", reason);
  pack_panels(call->threads, p.hidden, p.depth, data<float>(call->in[0]),
              data<float>(call->out[0]));
  return 0;
}

}  // namespace

void register_dense_panels() {
  add_with_query("fc_panels", fc_panels, MX_BIT(F32), query);
  add_with_query("fc_panels_pack", fc_panels_pack, MX_BIT(F32), query);
}
MX_LEAF_END
