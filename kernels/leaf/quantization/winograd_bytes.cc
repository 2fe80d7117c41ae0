// "int8_conv_winograd": 3 x 3 convolutions of channels-last int8 or uint8 data by Winograd's
// F(4 x 4, 3 x 3) in integers of 16 bits, which needs half the instructions of products of bytes;
// "int8_conv_winograd_pack" transforms the weights. Narrow tiles at edges need fewer products.
#include "leaf/quantization/winograd_points.h"

#if MX_ISA_LEVEL >= 3

MX_LEAF_BEGIN
namespace {

typedef mx_int8_conv_params P;

constexpr int kRows = 6;            // tiles whose products are summed at a time
constexpr int64_t kMostTiles = 24;  // transformed at a time
constexpr int64_t kRunTiles = 4;    // tiles of a row whose results are converted at a time
constexpr int64_t kPanel = kMaxVectors * kFilterLanes;
constexpr int64_t kNumbers = kSide * kSide * kRunTiles * 2 * kFilterLanes;  // before conversion

// Partition of the work: tiles of all images into blocks, as many for each thread, or if these are
// few, panels of filters among the threads.
struct TileGrid {
  int64_t high, wide, total, size;  // tiles of an image and of the batch, tiles of a block
  bool by_panels;

  TileGrid(const ByteLayer& l, int threads)
      : high(ceil_div(l.out_height, kSide)),
        wide(ceil_div(l.out_width, kSide)),
        total(l.images * high * wide),
        size(kMostTiles) {
    // With few tiles, weights take more time to read than data to transform in every thread.
    by_panels = threads > 1 && l.panels() % threads == 0 && 8 * total < l.filters;
    const int64_t own = ceil_div(total, by_panels ? 1 : threads);
    if (own > 0) size = ceil_div(own, ceil_div(own, size));
  }
  int64_t blocks() const { return ceil_div(total, size); }
  // Elements from one point to the next; not a multiple of a page.
  int64_t data_step(const ByteLayer& l) const {
    return round_up(size * l.channels, kBroad) + kBroad;
  }
  int64_t sums_step() const { return size * kPanel + kFilterLanes; }
  int64_t workspace(const ByteLayer& l) const {
    return kPoints * (data_step(l) * 2 + sums_step() * 4) + kNumbers * kMaxVectors / 2 * 4;
  }
};

// Sums of products of M tiles, `step` apart, and N registers of filters, over pairs of channels.
template <int M, int N>
void multiply(const int16_t* data, int64_t step, int64_t channels, const int16_t* weights,
              int32_t* sums) {
  Sums own[M][N] = {};
  for (int64_t c = 0; c < channels; c += 2, weights += N * kBroad) {
    Sums w[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) w[n] = (Sums)load((const uint16_t*)weights + n * kBroad);
#pragma GCC unroll 6
    for (int m = 0; m < M; ++m) {
      uint32_t pair;
      memcpy(&pair, data + m * step + c, sizeof pair);
      const Sums d = splat<Sums>(pair);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) add_pair(own[m][n], d, w[n]);
    }
  }
#pragma GCC unroll 6
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) store((uint32_t*)sums + m * kPanel + n * kFilterLanes, own[m][n]);
  }
}

typedef void (*Multiply)(const int16_t*, int64_t, int64_t, const int16_t*, int32_t*);
template <int N>
Multiply multiply_rows(int64_t rows) {
  static constexpr Multiply all[kRows] = {multiply<1, N>, multiply<2, N>, multiply<3, N>,
                                          multiply<4, N>, multiply<5, N>, multiply<6, N>};
  return all[rows - 1];
}
Multiply multiply_of(int64_t rows, int64_t vectors) {
#if MX_ISA_LEVEL == 4
  if (vectors > 2) return vectors == 3 ? multiply_rows<3>(rows) : multiply_rows<4>(rows);
#endif
  return vectors == 1 ? multiply_rows<1>(rows) : multiply_rows<2>(rows);
}

class Work {
 public:
  Work(const mx_call* call, const P& p, int threads)
      : layer_(p),
        grid_(layer_, threads),
        sink_(sink_of(call, p, layer_.filters)),
        in_(data<uint8_t>(call->in[0])),
        zero_((int16_t)p.zero),
        weights_((const int16_t*)(data<char>(call->in[1]) + kCacheLine)) {
    memcpy(&depth_, call->in[1].data, sizeof depth_);
    if (depth_ == 0) depth_ = layer_.channels;  // trials have weights of zeros
  }

  void run(int threads, uint8_t* space) const {
    const int64_t number = grid_.by_panels ? layer_.panels() : grid_.blocks();
    const int64_t each = ceil_div(number, threads), own = grid_.workspace(layer_);
    parallel_for(threads, number, each, [&](int64_t begin, int64_t end) {
      uint8_t* room = space + begin / each * own;
      if (grid_.by_panels)
        for (int64_t i = 0; i < grid_.blocks(); ++i) run_block(i, begin, end, room);
      else
        for (int64_t i = begin; i < end; ++i) run_block(i, 0, layer_.panels(), room);
    });
  }

 private:
  // A tile's image and position, and whether it is narrow in the dimensions.
  struct Place {
    int64_t image, y, x;
    bool low, thin;

    // The order in which tiles that have a point are neighbours.
    int order() const { return low ? (thin ? 0 : 3) : thin ? 1 : 2; }
  };
  Place place(int64_t tile) const {
    const int64_t y = tile / grid_.wide % grid_.high, x = tile % grid_.wide;
    return {tile / grid_.wide / grid_.high, y, x, layer_.out_height - y * kSide <= kNarrow,
            layer_.out_width - x * kSide <= kNarrow};
  }

  // Tiles that are transformed together.
  struct Block {
    Place at[kMostTiles];
    int64_t count, ends[4];  // of tiles by `order`

    // The tiles that have a point, which narrow ones have or lack in the dimensions.
    int64_t first(bool low, bool thin) const { return !thin ? ends[1] : low ? 0 : ends[0]; }
    int64_t last(bool low) const { return low ? ends[3] : ends[2]; }
    // The number of neighbouring tiles of a row from `tile` on, at most `most`, whose results are
    // converted together.
    int64_t run(int64_t tile, int64_t most) const {
      int64_t n = 1;
      while (n < least(kRunTiles, most) && follows(at[tile + n], at[tile + n - 1])) ++n;
      return n;
    }
    static bool follows(const Place& b, const Place& a) {
      return b.x == a.x + 1 && b.y == a.y && b.image == a.image && b.thin == a.thin;
    }
  };
  Block tiles_of(int64_t index) const {
    const int64_t first = index * grid_.size;
    Place given[kMostTiles];
    Block block;
    block.count = least(grid_.size, grid_.total - first);
    for (int64_t t = 0; t < block.count; ++t) given[t] = place(first + t);
    for (int64_t order = 0, n = 0; order < 4; block.ends[order++] = n)
      for (int64_t t = 0; t < block.count; ++t)
        if (given[t].order() == order) block.at[n++] = given[t];
    return block;
  }

  // Compute block `index` for the panels [begin, end).
  void run_block(int64_t index, int64_t begin, int64_t end, uint8_t* room) const {
    const Block block = tiles_of(index);
    int16_t* points = (int16_t*)room;
    int32_t* sums = (int32_t*)(points + kPoints * grid_.data_step(layer_));
    int32_t* numbers = sums + kPoints * grid_.sums_step();
    for (int64_t t = 0; t < block.count; ++t)
      layer_.is_signed ? transform<true>(block.at[t], points + t * layer_.channels)
                       : transform<false>(block.at[t], points + t * layer_.channels);
    for (int64_t panel = begin; panel < end; ++panel) {
      // Results of parts of the channels are added for a few tiles at a time.
      for (int64_t t = 0, span; t < block.count; t += span) {
        span = depth_ < layer_.channels ? block.run(t, block.count - t) : block.count;
        tiles(panel, block, t, t + span, points, sums, numbers);
      }
    }
  }

  // Compute a panel of filters for the tiles [first, last) of a block.
  void tiles(int64_t panel, const Block& block, int64_t first, int64_t last, const int16_t* points,
             int32_t* sums, int32_t* numbers) const {
    const int64_t vectors = layer_.before(panel + 1) - layer_.before(panel);
    for (int64_t c = 0; c < layer_.channels; c += depth_) {
      products(panel, block, first, last, c, points, sums);
      for (int64_t t = first, run; t < last; t += run) {
        run = block.run(t, last - t);
        for (int64_t n = 0; n < vectors; n += 2) {
          const int64_t width = least(2, vectors - n);
          int32_t* own = numbers + n / 2 * kNumbers;
          turn_back(block.at[t], run, width, sums + (t - first) * kPanel + n * kFilterLanes, own,
                    c > 0);
          if (c + depth_ >= layer_.channels)
            finish(block.at[t], run, width, own, (layer_.before(panel) + n) * kFilterLanes);
        }
      }
    }
  }

  // Bytes of at most kBroad channels as integers of 16 bits; 0 outside the image.
  template <bool is_signed>
  Shorts pixel(const uint8_t* image, int64_t y, int64_t x, int64_t channel) const {
    const ByteLayer& l = layer_;
    if (y < 0 || y >= l.height || x < 0 || x >= l.width) return Shorts{};
    const uint8_t* from = image + (y * l.width + x) * l.channels + channel;
    return load_shorts<is_signed>(from, l.channels - channel) - splat<Shorts>((uint16_t)zero_);
  }

  template <bool is_signed>
  void transform(const Place& at, int16_t* to) const {
    if (at.low)
      return at.thin ? transform<is_signed, true, true>(at, to)
                     : transform<is_signed, true, false>(at, to);
    at.thin ? transform<is_signed, false, true>(at, to)
            : transform<is_signed, false, false>(at, to);
  }

  template <bool is_signed, bool low, bool thin>
  void transform(const Place& at, int16_t* to) const {
    constexpr int kHigh = low ? kNarrow + 2 : kReach, kWide = thin ? kNarrow + 2 : kReach;
    const ByteLayer& l = layer_;
    const uint8_t* image = in_ + at.image * l.height * l.width * l.channels;
    const int64_t top = at.y * kSide - l.pad_y, left = at.x * kSide - l.pad_x;
    const int64_t step = grid_.data_step(l);
    for (int64_t channel = 0; channel < l.channels; channel += kBroad) {
      const int64_t rest = l.channels - channel;
      Shorts rows[kReach][kReach];
      for (int x = 0; x < kWide; ++x) {
        Shorts column[kReach], turned[kReach];
#pragma GCC unroll 6
        for (int y = 0; y < kHigh; ++y)
          column[y] = pixel<is_signed>(image, top + y, left + x, channel);
        data_points<low>(column, turned);
#pragma GCC unroll 6
        for (int y = 0; y < kReach; ++y)
          if (!low || has_narrow(y)) rows[y][x] = turned[y];
      }
      for (int y = 0; y < kReach; ++y) {
        if (low && !has_narrow(y)) continue;
        Shorts turned[kReach];
        data_points<thin>(rows[y], turned);
#pragma GCC unroll 6
        for (int x = 0; x < kReach; ++x) {
          uint16_t* point = (uint16_t*)to + (y * kReach + x) * step + channel;
          if (thin && !has_narrow(x)) continue;
          rest < kBroad ? store_first(point, turned[x], (int)rest) : store(point, turned[x]);
        }
      }
    }
  }

  // The sums of a panel for the tiles [first, last) over at most depth_ channels from `channel` on.
  void products(int64_t panel, const Block& block, int64_t first, int64_t last, int64_t channel,
                const int16_t* points, int32_t* sums) const {
    const int64_t channels = layer_.channels, depth = least(depth_, channels - channel);
    const int64_t vectors = layer_.before(panel + 1) - layer_.before(panel);
    const int64_t lanes = vectors * kFilterLanes;
    const int16_t* weights = weights_ + layer_.before(panel) * kFilterLanes * channels * kPoints;
    for (int point = 0; point < kPoints; ++point) {
      const bool low = has_narrow(point / kReach), thin = has_narrow(point % kReach);
      const int64_t from = block.first(low, thin), begin = first > from ? first : from;
      const int64_t count = least(last, block.last(low)) - begin, number = ceil_div(count, kRows);
      const int16_t* own = weights + (point * channels + channel) * lanes;
      const int16_t* data = points + point * grid_.data_step(layer_) + channel + begin * channels;
      int32_t* to = sums + point * grid_.sums_step() + (begin - first) * kPanel;
      for (int64_t i = 0; i < number; ++i) {
        const int64_t rows = count / number + (i < count % number);
        multiply_of(rows, vectors)(data, channels, depth, own, to);
        data += rows * channels, to += rows * kPanel;
      }
    }
  }

  // Transform the sums of `run` neighbouring tiles and `vectors` <= 2 registers of filters to
  // results before conversion, row by row.
  void turn_back(const Place& at, int64_t run, int64_t vectors, const int32_t* sums,
                 int32_t* numbers, bool adds) const {
    const int64_t pixel = vectors * kFilterLanes;
    const auto turn = at.low
                          ? (at.thin ? &Work::turn_tile<true, true> : &Work::turn_tile<true, false>)
                      : at.thin ? &Work::turn_tile<false, true>
                                : &Work::turn_tile<false, false>;
    for (int64_t t = 0; t < run; ++t)
      for (int64_t n = 0; n < vectors; ++n)
        (this->*turn)(sums + t * kPanel + n * kFilterLanes,
                      numbers + t * kSide * pixel + n * kFilterLanes, run * kSide * pixel, pixel,
                      adds);
  }

  template <bool low, bool thin>
  void turn_tile(const int32_t* sums, int32_t* to, int64_t line, int64_t pixel, bool adds) const {
    constexpr int kHigh = low ? kNarrow : kSide, kWide = thin ? kNarrow : kSide;
    const int64_t step = grid_.sums_step();
    Sums rows[kSide][kReach];
#pragma GCC unroll 6
    for (int x = 0; x < kReach; ++x) {
      if (thin && !has_narrow(x)) continue;
      Sums column[kReach], turned[kSide];
#pragma GCC unroll 6
      for (int y = 0; y < kReach; ++y)
        if (!low || has_narrow(y))
          column[y] = load((const uint32_t*)sums + (y * kReach + x) * step);
      result_points<low>(column, turned);
#pragma GCC unroll 4
      for (int y = 0; y < kHigh; ++y) rows[y][x] = turned[y];
    }
#pragma GCC unroll 4
    for (int y = 0; y < kHigh; ++y) {
      Sums turned[kSide];
      result_points<thin>(rows[y], turned);
#pragma GCC unroll 4
      for (int x = 0; x < kWide; ++x) {
        uint32_t* at = (uint32_t*)to + y * line + x * pixel;
        const Sums result = unscaled(turned[x]);
        store(at, adds ? result + load(at) : result);
      }
    }
  }

  // Convert the results of `run` neighbouring tiles and `vectors` <= 2 registers of filters.
  void finish(const Place& at, int64_t run, int64_t vectors, const int32_t* numbers,
              int64_t filter) const {
    const int64_t pixel = vectors * kFilterLanes, left = at.x * kSide, top = at.y * kSide;
    const int64_t pixels = least(run * kSide, layer_.out_width - left);
    for (int64_t y = 0; y < least(kSide, layer_.out_height - top); ++y) {
      const int64_t row = at.image * layer_.out_height + top + y;
      finish_rows(numbers + y * run * kSide * pixel, pixel, pixels, (int)vectors, sink_,
                  row * layer_.out_width + left, filter);
    }
  }

  ByteLayer layer_;
  TileGrid grid_;
  ByteSink sink_;
  const uint8_t* in_;
  int16_t zero_;
  const int16_t* weights_;
  int64_t depth_;  // channels whose results are exact
};

const char* refusal_here(const P& p) {
  if (const char* reason = refusal(p)) return reason;
  if (p.kernel[1] != 3 || p.kernel[2] != 3) return "only filters of 3 x 3 are supported";
  if (p.stride[1] * p.stride[2] * p.dilate[1] * p.dilate[2] != 1)
    return "strides and dilation are not supported";
  if (p.channels % 2) return "the number of channels must be even";
  return nullptr;
}

// Whether the results of a filter over `channels` channels are exact for any data from `low` to
// `low` + 255.
bool exact(const int8_t* filter, int64_t channels, int64_t low) {
  int64_t positive = 0, negative = 0;
  for (int64_t i = 0; i < channels * 9; ++i) (filter[i] > 0 ? positive : negative) += filter[i];
  const int64_t high = low + 255;
  const int64_t most = positive * high + negative * low;
  const int64_t least = positive * low + negative * high;
  return most <= kLargestResult && -least <= kLargestResult;
}

// Whether the results of all filters are exact over each `depth` channels.
bool all_exact(const P& p, const int8_t* plain, int64_t depth) {
  const int64_t low = (p.source_type == MX_I8 ? -128 : 0) - p.zero;
  for (int64_t f = 0; f < p.filters; ++f)
    for (int64_t c = 0; c < p.channels; c += depth)
      if (!exact(plain + (f * p.channels + c) * 9, least(depth, p.channels - c), low)) return false;
  return true;
}

// Number of channels, all or a multiple of kBroad, over which the results of all filters are exact.
int64_t exact_depth(const P& p, const int8_t* plain) {
  int64_t depth = p.channels;  // kBroad channels are exact whatever their weights
  while (!all_exact(p, plain, depth)) depth = round_up(depth / 2, kBroad);
  return depth;
}

void pack_panel(const ByteLayer& l, const int8_t* plain, int64_t panel, int16_t* to) {
  const int64_t first = l.before(panel) * kFilterLanes;
  const int64_t lanes = l.before(panel + 1) * kFilterLanes - first;
  to += first * l.channels * kPoints;
  for (int64_t f = 0; f < lanes; ++f) {
    for (int64_t c = 0; c < l.channels; ++c) {
      int16_t points[kPoints] = {};
      if (first + f < l.filters) weight_points(plain + ((first + f) * l.channels + c) * 9, points);
      for (int i = 0; i < kPoints; ++i)
        to[i * l.channels * lanes + (c / 2 * lanes + f) * 2 + c % 2] = points[i];
    }
  }
}

int64_t workspace(const P& p, int threads) {
  const ByteLayer layer(p);
  return threads * TileGrid(layer, threads).workspace(layer);
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal_here(p)) return refused("int8_conv_winograd", reason, what);
  const ByteLayer l(p);
  if (what == MX_QUERY_PACKED)
    return kCacheLine + l.vectors() * kFilterLanes * l.channels * kPoints * 2;
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return workspace(p, threads); });
}

int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal_here(p)) return mx_fail("int8_conv_winograd: %s", reason);
  const int64_t room = (int64_t)call->workspace_size;
  const int threads = room < workspace(p, call->threads) ? 1 : call->threads;
  if (room < workspace(p, threads))
    return mx_fail("int8_conv_winograd: the workspace is too small");
  if (!ByteLayer(p).empty()) Work(call, p, threads).run(threads, (uint8_t*)call->workspace);
  return 0;
}

int pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal_here(p)) return mx_fail("int8_conv_winograd: %s", reason);
  const ByteLayer l(p);
  const int8_t* plain = data<int8_t>(call->in[0]);
  const int64_t depth = exact_depth(p, plain);
  char* blob = data<char>(call->out[0]);
  memset(blob, 0, kCacheLine);
  memcpy(blob, &depth, sizeof depth);
  parallel_for(call->threads, l.panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      pack_panel(l, plain, panel, (int16_t*)(blob + kCacheLine));
  });
  return 0;
}

}  // namespace

void register_winograd_bytes() {
  if (!has_byte_products()) return;
  add_with_query("int8_conv_winograd", run, MX_BIT(I8) | MX_BIT(U8), query);
  add_with_query("int8_conv_winograd_pack", pack, MX_BIT(I8), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_winograd_bytes() {}  // requires AVX2
MX_LEAF_END
#endif
