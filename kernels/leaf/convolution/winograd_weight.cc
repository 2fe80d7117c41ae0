// "conv_winograd_weight" (data, output gradient): the weight gradient of a convolution in Winograd
// form, for plain arrays, which are converted to blocks on the fly; "conv_train_winograd_weight"
// for blocked arrays.
//
// clang-format off
//   tiles of the data -----forward--> X[point][in block][tile][B]
//   tiles of the gradient --spread--> Z[point][out block][tile][B]
//   at each point                     D[in block][panel][point][B][panel * B]   the sum over tiles
//   D ---------------------gather---> weights
// clang-format on
//
// Sums run over tiles in order, whatever the chunks that are processed at a time and the number of
// threads.
#include "leaf/convolution/winograd_blocks.h"
#include "leaf/convolution/winograd_form.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int kRows = B / 2;          // in channels whose sums are in registers
constexpr int64_t kChunkTiles = 128;  // per chunk: a panel of Z then fits in the cache
// Many threads get chunks of more tiles, so that each has at least this number of multiply-adds.
constexpr int64_t kLeastChunkWork = 4 << 20, kMostChunkTiles = 1024;
// Bytes of blocked arrays at a time, unless a single image takes more.
constexpr int64_t kSliceBytes = 64 << 20;

typedef Toom<4, 3> Three;

// Add to D at a point, for kRows in channels and a panel of W out blocks.
template <int W>
void add_products(int64_t tiles, const float* x, const float* z, int64_t z_step, float* d,
                  bool first) {
  VB acc[kRows][W];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) acc[r][w] = first ? VB{} : load_block(d + (r * W + w) * B);
  }
  for (int64_t t = 0; t < tiles; ++t, x += B, z += B) {
    VB right[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) right[w] = load_block(z + w * z_step);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const VB left = splat_block(x[r]);
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) acc[r][w] = fma(left, right[w], acc[r][w]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) store_block(d + (r * W + w) * B, acc[r][w]);
  }
}

// A problem with its channels padded to whole blocks.
mx_fused_conv_params blocked(const mx_conv_params& of) {
  mx_fused_conv_params p = {};
  p.batch = of.batch, p.groups = of.groups;
  p.channels = round_up(of.channels, B), p.filters = round_up(of.filters, B);
  p.in_block = p.out_block = B;
  for (int i = 0; i < 3; ++i) {
    p.source[i] = of.source[i], p.target[i] = of.target[i], p.kernel[i] = of.kernel[i];
    p.stride[i] = of.stride[i], p.dilate[i] = of.dilate[i], p.pad[i] = of.pad[i];
  }
  return p;
}

template <class Fy, class Fx>
struct Gradient {
  typedef Form<Fy, Fx> F;
  static constexpr int kPoints = F::kPoints, kTaps = Fy::taps * Fx::taps;
  static constexpr int64_t kSums = (int64_t)kPoints * B * kPanel * B;  // elements of a part of D

  const mx_conv_params& of;
  Tiling g;  // of a slice
  int64_t slice, panels, parts;
  Cut x_cut, z_cut;
  bool ready, one_chunk;          // `ready`: the arrays are blocked already
  int64_t in, out, x, z, d, all;  // offsets in the workspace, in elements

  Gradient(const mx_conv_params& of, bool ready, int threads) : of(of), ready(ready) {
    mx_fused_conv_params p = blocked(of);
    const int64_t in_size = p.channels * p.source[1] * p.source[2];
    const int64_t out_size = p.filters * p.target[1] * p.target[2];
    const int64_t bytes = (in_size + out_size) * (int64_t)sizeof(float);
    const int64_t some = bytes > 0 ? kSliceBytes / bytes : of.batch;
    slice = p.batch = ready ? of.batch : least(of.batch, some > 1 ? some : 1);
    g = tiling_of<Fy, Fx>(p);
    panels = ceil_div(g.out_blocks, kPanel);
    parts = g.in_blocks * panels;
    x_cut = {};
    const int64_t chunk = tiles_of_chunk(p, threads);
    x_cut.tiles = g.tiles > 0 ? ceil_div(g.tiles, ceil_div(g.tiles, chunk)) : 1;
    z_cut = x_cut;
    x_cut.v_point = F::template spread<float>(g.in_blocks * x_cut.tiles * B);
    z_cut.v_point = F::template spread<float>(g.out_blocks * x_cut.tiles * B);
    one_chunk = g.tiles == x_cut.tiles && slice == of.batch;
    in = 0;
    out = in + (ready ? 0 : round_up(slice * in_size, B));
    x = out + (ready ? 0 : round_up(slice * out_size, B));
    z = x + kPoints * x_cut.v_point;
    d = z + kPoints * z_cut.v_point;
    all = d + (one_chunk ? threads : parts) * kSums;
  }

  static int64_t tiles_of_chunk(const mx_fused_conv_params& p, int threads) {
    const int64_t of_tile = kPoints * p.channels * p.filters;
    const int64_t tiles = ceil_div(threads * kLeastChunkWork, of_tile > 0 ? of_tile : 1);
    return tiles < kChunkTiles ? kChunkTiles : least(tiles, kMostChunkTiles);
  }

  int64_t bytes() const { return all * (int64_t)sizeof(float); }

  // Transform a tile of the gradient, zero beyond its edges, into a column of Z.
  static void spread(const float* tile, int64_t row, int height, int width, float* z,
                     int64_t z_point) {
    VB grid[Fy::points][Fx::outputs];
#pragma GCC unroll 16
    for (int x = 0; x < Fx::outputs; ++x) {
      VB y_in[Fy::outputs], y_out[Fy::points];
#pragma GCC unroll 16
      for (int y = 0; y < Fy::outputs; ++y)
        y_in[y] = y < height && x < width ? load_block(tile + y * row + x * B) : VB{};
      Fy::spread(y_in, y_out);
#pragma GCC unroll 16
      for (int y = 0; y < Fy::points; ++y) grid[y][x] = y_out[y];
    }
    for (int y = 0; y < Fy::points; ++y) {
      VB x_out[Fx::points];
      Fx::spread(grid[y], x_out);
#pragma GCC unroll 16
      for (int x = 0; x < Fx::points; ++x, z += z_point) store_block(z, x_out[x]);
    }
  }

  // Transform tiles [first, first + count) of one out block into Z.
  void spread_all(const float* gradient, float* to, int64_t block, int64_t first,
                  int64_t count) const {
    const int64_t row = g.out_width * B, plane = g.out_height * row;
    typename F::Place at(g, first);
    to += block * z_cut.tiles * B;
    for (int64_t t = 0; t < count; ++t, to += B, at.next(g)) {
      spread(gradient + (at.image * g.out_blocks + block) * plane + at.y * row + at.x * B, row,
             (int)least(Fy::outputs, g.out_height - at.y),
             (int)least(Fx::outputs, g.out_width - at.x), to, z_cut.v_point);
    }
  }

  // Compute weights from one part of D with W out blocks.
  template <int W>
  void gather(const float* from, float* weight, int64_t block, int64_t panel) const {
    alignas(64) float rows[B * kTaps * W * B];
    for (int c = 0; c < B; ++c) {
      for (int w = 0; w < W; ++w) {
        VB grid[Fy::taps][Fx::points];
        for (int x = 0; x < Fx::points; ++x) {
          VB column[Fy::points], taps[Fy::taps];
          for (int y = 0; y < Fy::points; ++y)
            column[y] = load_block(from + (((y * Fx::points + x) * B + c) * W + w) * B);
          Fy::gather(column, taps);
          for (int y = 0; y < Fy::taps; ++y) grid[y][x] = taps[y];
        }
        for (int y = 0; y < Fy::taps; ++y) {
          VB taps[Fx::taps];
          Fx::gather(grid[y], taps);
          for (int x = 0; x < Fx::taps; ++x)
            store_block(rows + ((c * kTaps + y * Fx::taps + x) * W + w) * B, taps[x]);
        }
      }
    }
    const int64_t c = block * B, f = panel * kPanel * B;
    transpose(weight + (f * of.channels + c) * kTaps, of.channels * kTaps, rows, W * B,
              least(W * B, of.filters - f), least(B, of.channels - c) * kTaps);
  }

  // Add the products of points [begin, end).
  template <int W>
  void multiply(int64_t count, const float* xs, const float* zs, float* sums, bool first,
                int64_t begin, int64_t end) const {
    for (int64_t point = begin; point < end; ++point) {
      for (int r = 0; r < B; r += kRows) {
        add_products<W>(count, xs + point * x_cut.v_point + r, zs + point * z_cut.v_point,
                        z_cut.tiles * B, sums + (point * B + r) * W * B, first);
      }
    }
  }

  // Transform tiles [from, from + count) of all blocks into X and Z; if there are few blocks, they
  // are split into ranges of tiles.
  void transform(const float* source, const float* gradient, float* space, int threads,
                 int64_t from, int64_t count) const {
    const int64_t blocks = g.in_blocks + g.out_blocks;
    const int64_t cuts = blocks >= threads ? 1 : ceil_div(threads, blocks);
    const int64_t each = ceil_div(count, cuts);
    parallel_for(threads, blocks * cuts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t block = i / cuts, t = i % cuts * each, some = least(each, count - t);
        if (some <= 0) continue;
        if (block < g.in_blocks) {
          F::forward_all(g, x_cut, source, space + x + t * B, from + t, some, block, block + 1);
        } else {
          spread_all(gradient, space + z + t * B, block - g.in_blocks, from + t, some);
        }
      }
    });
  }

  // Process one chunk of tiles; the first one starts the sums, the last one finishes them. If there
  // are fewer parts than threads, each is split into ranges of points.
  void chunk(const float* source, const float* gradient, float* space, float* weight, int threads,
             int64_t from, int64_t count, bool first, bool last) const {
    transform(source, gradient, space, threads, from, count);
    const int64_t cuts = parts >= threads ? 1 : kPoints, each = ceil_div(parts, threads);
    const auto whole = [&](int64_t part) {
      return (part / g.in_blocks + 1) * kPanel <= g.out_blocks;
    };
    const auto sums_of = [&](int64_t part) {
      return space + d + (one_chunk && cuts == 1 ? part / each : part) * kSums;
    };
    const auto end_part = [&](int64_t part) {
      const int64_t panel = part / g.in_blocks, block = part % g.in_blocks;
      if (whole(part)) {
        gather<kPanel>(sums_of(part), weight, block, panel);
      } else {
        gather<1>(sums_of(part), weight, block, panel);
      }
    };
    parallel_for(threads, parts * cuts, cuts == 1 ? each : 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i / cuts, panel = part / g.in_blocks, block = part % g.in_blocks;
        const int64_t low = i % cuts, high = low + kPoints / cuts;
        const float* xs = space + x + block * x_cut.tiles * B;
        const float* zs = space + z + panel * kPanel * z_cut.tiles * B;
        if (whole(part)) {
          multiply<kPanel>(count, xs, zs, sums_of(part), first, low, high);
        } else {
          multiply<1>(count, xs, zs, sums_of(part), first, low, high);
        }
        if (last && cuts == 1) end_part(part);
      }
    });
    if (!last || cuts == 1) return;
    parallel_for(threads, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) end_part(part);
    });
  }

  static int run(const mx_call* call, const mx_conv_params& of, bool ready) {
    const int threads =
        threads_with_room(call, [&](int team) { return Gradient(of, ready, team).bytes(); });
    if (!threads) return mx_fail("conv_winograd: the workspace is too small");
    Gradient whole(of, ready, threads);
    float *space = (float*)call->workspace, *weight = data<float>(call->out[0]);
    const float* ins = ready ? data<float>(call->in[0]) : space + whole.in;
    const float* outs = ready ? data<float>(call->in[1]) : space + whole.out;
    const int64_t source = of.source[1] * of.source[2], target = of.target[1] * of.target[2];
    for (int64_t first = 0; first < of.batch; first += whole.slice) {
      Tiling& g = whole.g;
      g.images = least(whole.slice, of.batch - first);
      g.tiles = g.images * g.rows * g.cols;
      if (!ready) {
        to_blocks(data<float>(call->in[0]) + first * of.channels * source, space + whole.in,
                  g.images, of.channels, source, threads);
        to_blocks(data<float>(call->in[1]) + first * of.filters * target, space + whole.out,
                  g.images, of.filters, target, threads);
      }
      for (int64_t t = 0; t < g.tiles; t += whole.x_cut.tiles) {
        const int64_t count = least(whole.x_cut.tiles, g.tiles - t);
        const bool last = first + g.images == of.batch && t + count == g.tiles;
        whole.chunk(ins, outs, space, weight, threads, t, count, first == 0 && t == 0, last);
      }
    }
    return 0;
  }

  static int64_t workspace(const mx_conv_params& of, bool ready, int threads) {
    return Gradient(of, ready, threads).bytes();
  }
};

struct Entry {
  int64_t rows, cols;
  int (*run)(const mx_call*, const mx_conv_params&, bool ready);
  int64_t (*workspace)(const mx_conv_params&, bool ready, int threads);
};
template <class Fy, class Fx>
constexpr Entry entry() {
  typedef Gradient<Fy, Fx> G;
  return {Fy::taps, Fx::taps, G::run, G::workspace};
}
constexpr Entry kEntries[] = {entry<Three, Three>(), entry<Straight, Three>(),
                              entry<Three, Straight>()};

const Entry* entry_of(const mx_conv_params& of) {
  for (const Entry& entry : kEntries) {
    if (of.kernel[1] == entry.rows && of.kernel[2] == entry.cols) return &entry;
  }
  return nullptr;
}

// The reason a gradient is rejected, or NULL.
const char* refusal(const mx_conv_params& of) {
  if (const char* reason = winograd_refusal(blocked(of))) return reason;
  if (!entry_of(of)) return "the kernel is longer than 3";
  for (int i = 0; i < 3; ++i) {
    if (of.target[i] != of.source[i] + 2 * of.pad[i] - of.kernel[i] + 1)
      return "the output's size does not match the windows";
  }
  if (of.batch < 1 || of.target[1] < 1 || of.target[2] < 1) return "there are no windows";
  return nullptr;
}

// Parameters of a call on plain arrays, or on blocked ones (`ready`).
mx_conv_params params_of(const mx_call* call, bool ready) {
  if (!ready) return *(const mx_conv_params*)call->params;
  const auto& from = *(const mx_fused_conv_params*)call->params;
  mx_conv_params p;
  p.batch = from.batch, p.groups = from.groups;
  p.channels = from.channels, p.filters = from.filters;
  for (int i = 0; i < 3; ++i) {
    p.source[i] = from.source[i], p.target[i] = from.target[i], p.kernel[i] = from.kernel[i];
    p.stride[i] = from.stride[i], p.dilate[i] = from.dilate[i], p.pad[i] = from.pad[i];
  }
  return p;
}

// The reason a call is rejected, or NULL.
const char* refusal(const mx_call* call, bool ready) {
  if (ready) {
    const auto& p = *(const mx_fused_conv_params*)call->params;
    if (const char* reason = winograd_refusal(p)) return reason;
  }
  return refusal(params_of(call, ready));
}

template <bool ready>
int run(const mx_call* call) {
  if (const char* reason = refusal(call, ready)) return mx_fail("conv_winograd: %s", reason);
  const mx_conv_params of = params_of(call, ready);
  return entry_of(of)->run(call, of, ready);
}

template <bool ready>
int64_t query(const mx_call* call, int32_t what) {
  if (const char* reason = refusal(call, ready)) return refused("conv_winograd", reason, what);
  if (what == MX_QUERY_PACKED) return mx_fail("conv_winograd: plain weights are not packed");
  if (what != MX_QUERY_WORKSPACE) return 1;
  const mx_conv_params of = params_of(call, ready);
  const Entry& entry = *entry_of(of);
  return workspace_of_any_team([&](int threads) { return entry.workspace(of, ready, threads); });
}

template <bool ready>
void add(const char* name) {
  add_with_query(name, run<ready>, MX_BIT(F32), query<ready>);
}

}  // namespace

void register_winograd_weight() {
  add<false>("conv_winograd_weight");
  add<true>("conv_train_winograd_weight");
}
MX_LEAF_END
