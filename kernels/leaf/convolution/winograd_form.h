// The steps of Winograd convolution for one filter size: Fy and Fx are the schemes of its axes.
#pragma once
#include "core/cache.h"
#include "leaf/convolution/winograd.h"

MX_LEAF_BEGIN

constexpr int64_t kLeastTiles = MX_ISA_LEVEL >= 4 ? kTileGroup : 2 * kTileGroup;
constexpr int64_t kMaxTiles = 4 * kTileGroup;
// Fewer threads than this do not divide work by points: the weights that each reads stay many.
constexpr int kLeastPointThreads = 4;
constexpr int64_t kFewOuts = 2 * kPanel;
constexpr int kOwnTiles = -1;  // for `tile`: threads share no V, which is slow between some cores

// The input under a tile: a pointer into the image if it lies inside, else a zero-padded copy.
template <class T>
struct Patch {
  const T* data;
  int64_t row;  // elements between rows
};

// Store one filter of a panel's block for all of its output channels.
MX_INLINE void store_weights(float* u, int64_t c, int64_t width, int64_t first, const VB& x) {
  store_block(u + c * width + first, x);
}

// T: the element type of the data, V and U.
template <class Fy, class Fx, class T = float>
struct Form {
  static constexpr int B = kBlockLanes;
  static constexpr int kPoints = Fy::points * Fx::points;
  static constexpr int kWeightPoints = Fy::weights * Fx::weights;

  // The point of U for a point of V.
  static constexpr int weight_of(int point) {
    return Fy::weight_of(point / Fx::points) * Fx::weights + Fx::weight_of(point % Fx::points);
  }

  // Tile number t as its image, first output row and first output column.
  struct Place {
    int64_t image, y, x;
    Place(const Tiling& g, int64_t t)
        : image(t / (g.rows * g.cols)),
          y(t / g.cols % g.rows * Fy::outputs),
          x(t % g.cols * Fx::outputs) {}
    void next(const Tiling& g) {
      x += Fx::outputs;
      if (x < g.out_width) return;
      x = 0, y += Fy::outputs;
      if (y < g.out_height) return;
      y = 0, ++image;
    }
  };

  static Patch<T> patch_of(const Tiling& g, const T* plane, const Place& at, T* copy) {
    const int64_t y0 = at.y * Fy::stride - g.pad_y, x0 = at.x * Fx::stride - g.pad_x;
    if (y0 >= 0 && x0 >= 0 && y0 + Fy::points <= g.height && x0 + Fx::points <= g.width)
      return {plane + (y0 * g.width + x0) * B, g.width * B};
    const int64_t low = x0 < 0 ? -x0 : 0, high = g.width - x0;  // columns inside
    for (int y = 0; y < Fy::points; ++y) {
      const bool inside = (uint64_t)(y0 + y) < (uint64_t)g.height;
      const T* from = plane + ((y0 + y) * g.width + x0) * B;
      for (int x = 0; x < Fx::points; ++x, copy += B) {
        store_block(copy, inside && x >= low && x < high ? load_block(from + x * B) : VB{});
      }
    }
    return {copy - kPoints * B, Fx::points * B};
  }

  static void forward(const Patch<T>& patch, T* v, int64_t v_point) {
    VB grid[Fy::points][Fx::points];
#pragma GCC unroll 16
    for (int x = 0; x < Fx::points; ++x) {
      VB in[Fy::points], out[Fy::points];
#pragma GCC unroll 16
      for (int y = 0; y < Fy::points; ++y) in[y] = load_block(patch.data + y * patch.row + x * B);
      Fy::forward(in, out);
#pragma GCC unroll 16
      for (int y = 0; y < Fy::points; ++y) grid[y][x] = out[y];
    }
    for (int y = 0; y < Fy::points; ++y) {
      VB out[Fx::points];
      Fx::forward(grid[y], out);
#pragma GCC unroll 16
      for (int x = 0; x < Fx::points; ++x, v += v_point) store_block(v, out[x]);
    }
  }

  // Transform tiles [first, first + count) of in blocks [begin, end) into V.
  static void forward_all(const Tiling& g, const Cut& cut, const T* in, T* v, int64_t first,
                          int64_t count, int64_t begin, int64_t end) {
    alignas(64) T copy[kPoints * B];
    const int64_t plane = g.height * g.width * B;
    for (int64_t block = begin; block < end; ++block) {
      Place at(g, first);
      T* to = v + block * cut.tiles * B;
      for (int64_t t = 0; t < count; ++t, to += B, at.next(g)) {
        const T* source = in + (at.image * g.in_blocks + block) * plane;
        forward(patch_of(g, source, at, copy), to, cut.v_point);
      }
    }
  }

  template <int act>
  static void inverse(const float* m, int64_t m_point, const FinishOf<T>& finish, int64_t at,
                      int64_t row, int height, int width, const VB& bias) {
    VB grid[Fy::outputs][Fx::points];
#pragma GCC unroll 16
    for (int x = 0; x < Fx::points; ++x) {
      VB in[Fy::points], out[Fy::outputs];
#pragma GCC unroll 16
      for (int y = 0; y < Fy::points; ++y) in[y] = load_block(m + (y * Fx::points + x) * m_point);
      Fy::inverse(in, out);
#pragma GCC unroll 16
      for (int y = 0; y < Fy::outputs; ++y) grid[y][x] = out[y];
    }
    for (int y = 0; y < height; ++y, at += row) {
      VB out[Fx::outputs];
      Fx::inverse(grid[y], out);
      if (width == Fx::outputs) {
#pragma GCC unroll 16
        for (int x = 0; x < Fx::outputs; ++x) finish.template write<act>(at + x * B, out[x], bias);
      } else {
        for (int x = 0; x < width; ++x) finish.template write<act>(at + x * B, out[x], bias);
      }
    }
  }

  // Transform M of tiles [first, first + count) and out blocks [begin, end) into the output.
  static void inverse_all(const Tiling& g, const Cut& cut, const float* m,
                          const FinishOf<T>& finish, int64_t first, int64_t count, int64_t begin,
                          int64_t end) {
    const int64_t row = g.out_width * B, plane = g.out_height * row;
    with_activation(finish.act, [&](auto act) {
      for (int64_t block = begin; block < end; ++block) {
        Place at(g, first);
        const VB bias = finish.bias_of(block);
        const float* from = m + (block - begin) * cut.tiles * B;
        for (int64_t t = 0; t < count; ++t, from += B, at.next(g)) {
          inverse<decltype(act)::value>(
              from, cut.m_point, finish,
              (at.image * g.out_blocks + block) * plane + at.y * row + at.x * B, row,
              (int)least(Fy::outputs, g.out_height - at.y),
              (int)least(Fx::outputs, g.out_width - at.x), bias);
        }
      }
    });
  }

  // The weights of out blocks from o on for a point of V.
  static const T* panel_of(const Tiling& g, const T* u, int point, int64_t o) {
    return u + (weight_of(point) * g.out_blocks + o) * B * g.in_blocks * B;
  }

  // Multiply V and U and apply the inverse transform, for out blocks [begin, end), which are
  // panel-aligned.
  static void multiply_and_invert(const Tiling& g, const Cut& cut, const T* v, const T* u, float* m,
                                  const FinishOf<T>& finish, int64_t first, int64_t count,
                                  int64_t begin, int64_t end) {
    for (int64_t low = begin; low < end; low += cut.outs) {
      const int64_t high = least(low + cut.outs, end);
      for (int point = 0; point < kPoints; ++point) {
        for (int64_t o = low; o < high; o += kPanel) {
          const T* next = o + kPanel < high     ? panel_of(g, u, point, o + kPanel)
                          : point + 1 < kPoints ? panel_of(g, u, point + 1, low)
                                                : panel_of(g, u, 0, high < end ? high : begin);
          multiply_point((int)count, (int)least(kPanel, high - o), g.in_blocks,
                         v + point * cut.v_point, cut.tiles * B, panel_of(g, u, point, o), next,
                         m + point * cut.m_point + (o - low) * cut.tiles * B, cut.tiles * B);
        }
      }
      inverse_all(g, cut, m, finish, first, count, low, high);
    }
  }

  // An odd number of cache lines, so that points do not share cache sets.
  template <class N>
  static int64_t spread(int64_t numbers) {
    constexpr int64_t line = 64 / (int64_t)sizeof(N);
    return round_up(numbers, line) | line;
  }

  static Cut cut_of(const Tiling& g, int tile, int threads) {
    const int64_t panels = ceil_div(g.out_blocks, kPanel);
    Cut best{};
    double least_cost = -1;
    const int most = tile == kOwnTiles ? 1 : threads;
    for (int sides = 1; sides <= most && (sides == 1 || sides <= panels); ++sides) {
      const int64_t each = ceil_div(panels, sides);
      if (sides > 1 && ceil_div(panels, sides - 1) == each) continue;
      const Cut cut = cut_by(g, tile, threads / sides, sides, each * kPanel);
      const double cost = cost_of(g, cut, threads);
      if (least_cost >= 0 && cost > least_cost * .95) continue;
      least_cost = cost;
      best = cut;
    }
    const int64_t bytes =
        kPoints * B * (int64_t)sizeof(float) * g.tiles * (g.in_blocks + g.out_blocks);
    const bool fits = (tile <= 0 || tile >= g.tiles) && bytes <= threads * second_cache() / 2;
    if (threads < kLeastPointThreads || most == 1 || g.tiles < 1 || !fits) return best;
    return cost_by_points(g, threads) < least_cost * .95 ? cut_by_points(g) : best;
  }

  // One chunk of all tiles, whose V and M all threads share.
  static Cut cut_by_points(const Tiling& g) {
    Cut cut{};
    cut.ways = cut.sides = 1, cut.by_points = true;
    cut.tiles = g.tiles, cut.outs = cut.side = g.out_blocks;
    cut.v_point = spread<T>(g.in_blocks * g.tiles * B);
    cut.m_point = spread<float>(g.out_blocks * g.tiles * B);
    return cut;
  }

  // Cycles of the busiest thread per point: a tile takes one per panel and input channel. Weights
  // and data written by other threads come from the last-level cache at about six bytes per cycle.
  static constexpr double kGroup = 2, kWeights = 20, kForward = .26, kInverse = 8, kRead = .4;
  static double barrier_cost(int threads) { return (3000 + 100. * threads) / kPoints; }
  static double cost_of(const Tiling& g, const Cut& cut, int threads) {
    const double channels = (double)(g.in_blocks * B), tiles = (double)cut.tiles;
    const double panels = (double)ceil_div(cut.side, kPanel);
    const double sums = tiles + kGroup * ceil_div(cut.tiles, kTileGroup) + kWeights;
    double cost = panels * (sums * channels + kInverse * tiles);
    if (cut.sides == 1) {
      cost += kForward * tiles * channels;
    } else {
      cost += (kRead + kForward * cut.ways / threads) * tiles * channels + barrier_cost(threads);
    }
    return cost * (double)ceil_div(ceil_div(g.tiles, cut.tiles), cut.ways);
  }
  static double cost_by_points(const Tiling& g, int threads) {
    const double channels = (double)(g.in_blocks * B), tiles = (double)g.tiles;
    const double panels = (double)ceil_div(g.out_blocks, kPanel);
    const double sums = tiles + kGroup * ceil_div(g.tiles, kTileGroup) + kWeights;
    const double products = (double)ceil_div((int64_t)(kPoints * panels), threads) / kPoints;
    const double points = (double)least(kPoints, (int64_t)(products * kPoints / panels) + 2);
    const double read = kRead * tiles * (channels * points / kPoints + 2 * B * panels / threads);
    const double transforms = tiles * (kForward * channels + kInverse * panels) / threads;
    return products * sums * channels + read + transforms + 2 * barrier_cost(threads);
  }

  static Cut cut_by(const Tiling& g, int tile, int ways, int sides, int64_t side) {
    constexpr int64_t kBlock = kPoints * B * (int64_t)sizeof(float);  // of M, per tile
    const int64_t cache = second_cache(), outs = side > 0 ? side : kPanel;
    const int64_t ins = g.in_blocks * (int64_t)sizeof(T) / (int64_t)sizeof(float);
    Cut cut{};
    cut.ways = ways, cut.sides = sides, cut.side = outs;
    // As many tiles as keep V and M in the cache, but enough of them per reading of U.
    int64_t tiles = tile;
    if (tiles <= 0) {
      tiles = cache / (kBlock * (ins + outs)) / kTileGroup * kTileGroup;
      if (tiles < kLeastTiles) tiles = kLeastTiles;
      if (tiles > kMaxTiles) tiles = kMaxTiles;
    }
    // Chunks of about equal size, the same number for each thread.
    const int64_t all = g.tiles > 0 ? g.tiles : 1;
    const int64_t chunks = round_up(ceil_div(all, tiles), ways);
    cut.tiles = ceil_div(all, chunks);
    // M for part of the channels if V then stays in the cache, else for all: points are processed
    // one at a time, and one point's data fits.
    const int64_t available = cache * 5 / 4 / (kBlock * cut.tiles) - ins;
    cut.outs = available >= outs || available <= 0 ? outs : least(outs, kFewOuts);
    cut.v_point = spread<T>(g.in_blocks * cut.tiles * B);
    cut.m_point = spread<float>(cut.outs * cut.tiles * B);
    return cut;
  }

  // In bytes.
  static int64_t v_size(const Cut& cut) { return kPoints * cut.v_point * (int64_t)sizeof(T); }
  static int64_t m_size(const Cut& cut) { return kPoints * cut.m_point * (int64_t)sizeof(float); }
  static int64_t workspace(const mx_fused_conv_params& p, int threads) {
    const Cut cut = cut_of(tiling_of<Fy, Fx>(p), p.tile, threads);
    return cut.ways * (v_size(cut) + cut.sides * m_size(cut));
  }

  // One round per chunk and way: all threads compute V, then each multiplies its part.
  static void share(const Tiling& g, const Cut& cut, const T* in, const T* u,
                    const FinishOf<T>& finish, char* work, int threads) {
    char* m = work + cut.ways * v_size(cut);
    const auto v_of = [&](int64_t way) { return (T*)(work + way * v_size(cut)); };
    for (int64_t start = 0; start < g.tiles; start += cut.ways * cut.tiles) {
      const auto first_of = [&](int64_t way) { return start + way * cut.tiles; };
      const auto count_of = [&](int64_t way) { return least(cut.tiles, g.tiles - first_of(way)); };
      parallel_for(threads, cut.ways * g.in_blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t way = i / g.in_blocks, block = i % g.in_blocks;
          forward_all(g, cut, in, v_of(way), first_of(way), count_of(way), block, block + 1);
        }
      });
      parallel_for(threads, cut.ways * cut.sides, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t way = i / cut.sides, o = i % cut.sides * cut.side;
          if (count_of(way) <= 0) continue;
          multiply_and_invert(g, cut, v_of(way), u, (float*)(m + i * m_size(cut)), finish,
                              first_of(way), count_of(way), o, least(o + cut.side, g.out_blocks));
        }
      });
    }
  }

  // Call body(block, first tile, tiles) for the tiles of a member's part of all blocks.
  template <class Body>
  static void for_tiles(const Tiling& g, const TeamMember& member, int64_t blocks,
                        const Body& body) {
    const int64_t end = member.end(blocks * g.tiles);
    for (int64_t i = member.begin(blocks * g.tiles), count; i < end; i += count) {
      const int64_t first = i % g.tiles;
      count = least(g.tiles - first, end - i);
      body(i / g.tiles, first, count);
    }
  }

  // A member's products: of a range of points and panels, which is contiguous in U.
  static void multiply_points(const Tiling& g, const Cut& cut, const T* v, const T* u, float* m,
                              const TeamMember& member) {
    const int64_t panels = ceil_div(g.out_blocks, kPanel), step = g.tiles * B;
    const int64_t end = member.end(kPoints * panels);
    for (int64_t i = member.begin(kPoints * panels); i < end; ++i) {
      const int64_t point = i / panels, o = i % panels * kPanel, after = i + 1 < end ? i + 1 : i;
      multiply_point((int)g.tiles, (int)least(kPanel, g.out_blocks - o), g.in_blocks,
                     v + point * cut.v_point, step, panel_of(g, u, (int)point, o),
                     panel_of(g, u, (int)(after / panels), after % panels * kPanel),
                     m + point * cut.m_point + o * step, step);
    }
  }

  // Three steps, which the team divides differently: V, the products, the output.
  static void share_points(const Tiling& g, const Cut& cut, const T* in, const T* u,
                           const FinishOf<T>& finish, char* work, int threads) {
    T* v = (T*)work;
    float* m = (float*)(work + v_size(cut));
    parallel_team(threads, [&](const TeamMember& member) {
      for_tiles(g, member, g.in_blocks, [&](int64_t block, int64_t first, int64_t count) {
        forward_all(g, cut, in, v + first * B, first, count, block, block + 1);
      });
      member.barrier();
      multiply_points(g, cut, v, u, m, member);
      member.barrier();
      for_tiles(g, member, g.out_blocks, [&](int64_t block, int64_t first, int64_t count) {
        const float* from = m + (block * g.tiles + first) * B;
        inverse_all(g, cut, from, finish, first, count, block, block + 1);
      });
    });
  }

  static int run(const mx_call* call, const mx_fused_conv_params& p) {
    const Tiling g = tiling_of<Fy, Fx>(p);
    const int threads = call->threads;
    const Cut cut = cut_of(g, p.tile, threads);
    const FinishOf<T> finish = finish_of<T>(call, p);
    const T *in = data<T>(call->in[0]), *u = data<T>(call->in[1]);
    char* work = (char*)call->workspace;
    if (cut.by_points) {
      share_points(g, cut, in, u, finish, work, threads);
      return 0;
    }
    if (cut.sides > 1) {
      share(g, cut, in, u, finish, work, threads);
      return 0;
    }
    const int64_t chunks = ceil_div(g.tiles, cut.tiles);
    const int64_t each = ceil_div(chunks, threads);
    parallel_for(threads, chunks, each, [&](int64_t begin, int64_t end) {
      char* own = work + begin / each * (v_size(cut) + m_size(cut));
      T* v = (T*)own;
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t first = chunk * cut.tiles, count = least(cut.tiles, g.tiles - first);
        forward_all(g, cut, in, v, first, count, 0, g.in_blocks);
        multiply_and_invert(g, cut, v, u, (float*)(own + v_size(cut)), finish, first, count, 0,
                            g.out_blocks);
      }
    });
    return 0;
  }

  static int64_t packed(const mx_fused_conv_params& p) {
    return kWeightPoints * p.channels * p.filters * (int64_t)sizeof(T);
  }

  // Channels [from, end) of out block `block` of U, from OIHW weights; panels of two interleave
  // both blocks.
  static void pack_block(const mx_fused_conv_params& p, const float* weight, T* u, int64_t block,
                         int64_t from, int64_t end, bool transposed) {
    constexpr int taps = Fy::taps * Fx::taps;
    const int64_t point_step = p.channels * p.filters, panel = block / kPanel * kPanel;
    const int64_t width = least(kPanel, p.filters / B - panel) * B;
    const int64_t filter_step = transposed ? taps : p.channels * taps;
    const int64_t channel_step = transposed ? p.filters * taps : taps;
    weight += block * B * filter_step + from * channel_step;
    u += panel * B * p.channels;
    for (int64_t c = from; c < end; ++c, weight += channel_step) {
      double lanes[taps][B];
      for (int f = 0; f < B; ++f) {
        const float* from = weight + f * filter_step;
        for (int i = 0; i < taps; ++i) lanes[transposed ? taps - 1 - i : i][f] = from[i];
      }
      VW rows[Fx::weights][Fy::taps];
      for (int y = 0; y < Fy::taps; ++y) {
        VW filter[Fx::taps], row[Fx::weights];
        __builtin_memcpy(filter, lanes[y * Fx::taps], sizeof filter);
        Fx::evaluate(filter, row);
        for (int x = 0; x < Fx::weights; ++x) rows[x][y] = row[x];
      }
      for (int x = 0; x < Fx::weights; ++x) {
        VW column[Fy::weights];
        Fy::evaluate(rows[x], column);
        for (int y = 0; y < Fy::weights; ++y) {
          store_weights(u + (y * Fx::weights + x) * point_step, c, width, (block - panel) * B,
                        __builtin_convertvector(column[y], VB));
        }
      }
    }
  }

  static int pack(const mx_call* call, const mx_fused_conv_params& p, bool transposed) {
    const float* weight = data<float>(call->in[0]);
    T* u = data<T>(call->out[0]);
    const int64_t ins = p.channels / B;
    parallel_for(call->threads, p.filters / B * ins, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin, count; i < end; i += count) {
        const int64_t in = i % ins;
        count = least(ins - in, end - i);
        pack_block(p, weight, u, i / ins, in * B, (in + count) * B, transposed);
      }
    });
    return 0;
  }
};

MX_LEAF_END
