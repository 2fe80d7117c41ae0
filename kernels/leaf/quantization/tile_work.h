// Matrix products with AMX, whose tile registers hold 16 rows of 64 bytes, for convolutions of
// channels-last data and dense layers: with int8 (`conv_tiles.cc`) and bfloat16 elements
// (`leaf/convolution/conv_tiles_bf16.cc`).
//
// Equidistant windows are rows of a tile without copying: in the data itself if it is flat, else in
// a band, the rows under some output rows with explicit padding. A tile that continues into the
// next row contains unused windows in between.
#pragma once
#include "leaf/quantization/byte_pieces.h"

#if MX_ISA_LEVEL == 4

MX_LEAF_BEGIN

constexpr int64_t kTileRows = 16, kTileBytes = 64;
constexpr int64_t kBlock = 2 * kTileRows;  // windows, and filters, that are summed at a time
constexpr int64_t kFewWeights = 24 << 10;  // weights that fit in the L1 cache next to a tile's data
constexpr int64_t kWideVectors = 2;        // registers of filters in a block
constexpr int64_t kOverread = 2 * kTileBytes;  // bytes that may be read past a run

// In assembly, because the build's ISA level does not include AMX.
#define MX_CLEAR_TILE(number) __asm__ volatile("tilezero %tmm" #number)
#define MX_LOAD_TILE(number, from, step) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #number ::"r"(from), "r"(step) : "memory")
#define MX_STORE_TILE(number, to, step) \
  __asm__ volatile("tilestored %%tmm" #number ", (%0,%1,1)" ::"r"(to), "r"(step) : "memory")

// The tile configuration of a thread, which other libraries (oneDNN) use as well: set during this
// object's lifetime and then restored. Tiles 4 and 5 have rows of `depth` bytes of windows, 6 and 7
// rows of four bytes for each of 16 filters, the others hold sums.
class Tiles {
 public:
  explicit Tiles(int64_t depth) {
    Shapes ours = {};
    ours.palette = 1;
    for (int i = 0; i < 8; ++i) ours.bytes[i] = kTileBytes, ours.rows[i] = kTileRows;
    ours.bytes[4] = ours.bytes[5] = (uint16_t)depth;
    ours.rows[6] = ours.rows[7] = (uint8_t)(depth / 4);
    __asm__ volatile("sttilecfg %0" : "=m"(before_));
    __asm__ volatile("ldtilecfg %0" ::"m"(ours));
  }
  ~Tiles() { __asm__ volatile("ldtilecfg %0" ::"m"(before_)); }
  Tiles(const Tiles&) = delete;

 private:
  struct alignas(64) Shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  };
  Shapes before_;
};

struct TileLayer : ByteLayer {
  int64_t depth = kTileBytes;  // bytes of a window in a tile

  using ByteLayer::ByteLayer;
  int64_t run_tiles() const { return ceil_div(run(), depth); }
  int64_t depth_tiles() const { return runs() * run_tiles(); }
  int64_t filter_bytes() const { return depth_tiles() * depth; }
  int64_t packed_bytes() const { return vectors() * kFilterLanes * filter_bytes(); }
  int64_t tile_bytes() const { return kFilterLanes * depth; }  // of a tile of weights

  // Whether windows continue at the same distance across rows.
  bool evenly() const { return flat() || (column_step() == 1 && row_step() == 1); }
  int64_t row_windows() const {
    return flat() ? out_width : evenly() ? band_row() / channels : round_up(out_width, kTileRows);
  }
  int64_t window_step() const { return column_step() * channels; }
  int64_t image_band() const { return band_rows(out_height) * band_row(); }
};

// Images, or pieces of an image's rows (of columns, if it is flat), that a thread processes at a
// time, and whether threads divide the filters instead.
struct TileCut {
  int64_t images = 1, size, pieces;
  bool by_panels = false;

  TileCut(const TileLayer& l, int threads) {
    const int64_t room = second_cache() / 2, whole = l.flat() ? l.out_width : l.out_height;
    const int64_t bytes = l.flat() ? l.out_width * l.channels : l.image_band();
    size = pieces = 0;
    if (l.empty()) return;
    pieces = 1;
    if (bytes > room) pieces = least(ceil_div(bytes, room), whole);
    if (pieces == 1 && bytes > 0) images = least(l.images, room / bytes);
    const int64_t units = ceil_div(l.images, images) * pieces;
    if (threads > 1 && units > 0 && units < 8 * threads && units % threads) {
      by_panels = l.panels() >= threads && l.packed_bytes() > least(bytes, room);
      const int64_t wanted = round_up(units, threads);
      if (!by_panels && images > 1) images = ceil_div(l.images, wanted);
      if (!by_panels && images == 1) pieces = least(ceil_div(wanted, l.images), whole);
    }
    size = ceil_div(whole, pieces);
    if (l.flat()) size = round_up(size, kTileRows);
    pieces = ceil_div(whole, size);
  }
  int64_t units(const TileLayer& l) const { return ceil_div(l.images, images) * pieces; }
  int64_t piece_band(const TileLayer& l) const { return l.band_rows(size) * l.band_row(); }
  // Of a thread: the bands, or for flat data a copy of the last windows, past which nothing may be
  // read.
  int64_t workspace(const TileLayer& l) const {
    if (l.empty()) return 0;
    if (l.flat()) return kBlock * tail_step(l);
    const int64_t over = kBlock * l.window_step() + kOverread;
    return round_up(images * piece_band(l) + over, kRegister);
  }
  static int64_t tail_step(const TileLayer& l) { return (l.run_tiles() + 1) * kTileBytes; }
};

// Tiles of windows (one or two) times tiles of filters: their addresses, the initial sums (per
// filter; NULL: 0), and the destination.
struct TileBlock {
  const ByteReach& reach;
  int64_t depth;
  const uint8_t* windows;
  int64_t step;
  const int8_t* weights;
  const void* begin;
  void* sums;
};

// Adder::add<sums, data, weights>() multiplies the tiles with these numbers.
template <class Adder, bool two_rows, bool two_columns>
void multiply_tiles(const TileBlock& b) {
  constexpr int64_t kLine = kFilterLanes * 4;
  const uint8_t* second = b.windows + kTileRows * b.step;
  const int64_t same = 0, weight_step = kTileBytes, tile = kFilterLanes * b.depth;
  if (b.begin) {
    const char* begin = (const char*)b.begin;
    MX_LOAD_TILE(0, begin, same);
    if (two_columns) MX_LOAD_TILE(1, begin + kLine, same);
    if (two_rows) MX_LOAD_TILE(2, begin, same);
    if (two_rows && two_columns) MX_LOAD_TILE(3, begin + kLine, same);
  } else {
    MX_CLEAR_TILE(0);
    if (two_columns) MX_CLEAR_TILE(1);
    if (two_rows) MX_CLEAR_TILE(2);
    if (two_rows && two_columns) MX_CLEAR_TILE(3);
  }
  const int8_t* own = b.weights;
  for (int r = 0; r < b.reach.runs; ++r) {
    for (int64_t at = b.reach.offset[r], end = at + b.reach.bytes; at < end; at += b.depth) {
      MX_LOAD_TILE(4, b.windows + at, b.step);
      MX_LOAD_TILE(6, own, weight_step);
      Adder::template add<0, 4, 6>();
      if (two_columns) {
        MX_LOAD_TILE(7, own + tile, weight_step);
        Adder::template add<1, 4, 7>();
      }
      if (two_rows) {
        MX_LOAD_TILE(5, second + at, b.step);
        Adder::template add<2, 5, 6>();
        if (two_columns) Adder::template add<3, 5, 7>();
      }
      own += two_columns ? 2 * tile : tile;
    }
  }
  const int64_t row = kBlock * 4;
  char* sums = (char*)b.sums;
  MX_STORE_TILE(0, sums, row);
  if (two_columns) MX_STORE_TILE(1, sums + kLine, row);
  if (two_rows) MX_STORE_TILE(2, sums + kTileRows * row, row);
  if (two_rows && two_columns) MX_STORE_TILE(3, sums + kTileRows * row + kLine, row);
}

template <class Adder>
void multiply_tiles(bool two_rows, bool two_columns, const TileBlock& block) {
  if (two_rows) {
    two_columns ? multiply_tiles<Adder, true, true>(block)
                : multiply_tiles<Adder, true, false>(block);
  } else {
    two_columns ? multiply_tiles<Adder, false, true>(block)
                : multiply_tiles<Adder, false, false>(block);
  }
}

// A layer's computation. `Numbers` provides the parts that depend on the element type:
// `multiply(two_rows, two_columns, block)`, `finish(sums, pixels, vectors, pixel, filter)` for rows
// of kBlock sums, and `fill(layer, data, image, band, first, rows)`.
template <class Numbers>
struct TileWork {
  TileLayer layer;
  TileCut cut;
  ByteReach reach;
  Numbers numbers;
  const uint8_t* in;
  const int32_t* start;  // NULL: 0
  const int8_t* weights;

  TileWork(const TileLayer& l, const Numbers& n, const void* from, const int32_t* begin,
           const int8_t* own, int threads)
      : layer(l),
        cut(layer, threads),
        reach(reach_of(layer)),
        numbers(n),
        in((const uint8_t*)from),
        start(begin),
        weights(own) {
    reach.bytes = layer.run();
  }

  // Compute panel `panel` of filters over windows [first, first + count) of a piece at `from`,
  // whose first result is that of `pixel`.
  void sum(int64_t panel, const uint8_t* from, int64_t step, int64_t first, int64_t count,
           int64_t pixel) const {
    alignas(64) int32_t sums[kBlock * kBlock];
    const int64_t past = layer.before(panel + 1), row = layer.row_windows();
    for (int64_t vector = layer.before(panel); vector < past; vector += kWideVectors) {
      const int64_t filter = vector * kFilterLanes;
      const int vectors = (int)least(kWideVectors, past - vector);
      const int8_t* own = weights + filter * layer.filter_bytes();
      const int32_t* begin = start ? start + filter : nullptr;
      const TileBlock block = {reach, layer.depth, from, step, own, begin, sums};
      numbers.multiply(count > kTileRows, vectors > 1, block);
      for (int64_t i = 0; i < count;) {
        const int64_t x = (first + i) % row, y = (first + i) / row;
        const int64_t rest = least(row - x, count - i), inside = least(layer.out_width - x, rest);
        if (inside > 0)
          numbers.finish(sums + i * kBlock, inside, vectors, pixel + y * layer.out_width + x,
                         filter);
        i += rest;
      }
    }
  }

  // Flat data: windows [first, first + count).
  void flat_block(int64_t panel, int64_t end, int64_t first, int64_t count, uint8_t* tail) const {
    const int64_t step = layer.channels, all = layer.out_width * step;
    const uint8_t* from = in + first * step;
    const int64_t read = (round_up(count, kTileRows) - 1) * step + layer.run_tiles() * layer.depth;
    const bool whole = first * step + read <= all;
    const int64_t apart = whole ? step : TileCut::tail_step(layer);
    for (int64_t i = 0; !whole && i < count; ++i) memcpy(tail + i * apart, from + i * step, step);
    for (; panel < end; ++panel) sum(panel, whole ? from : tail, apart, first, count, 0);
  }

  // Address of window `window` in a band.
  const uint8_t* at(const uint8_t* band, int64_t window) const {
    if (layer.evenly()) return band + window * layer.channels;
    const int64_t row = layer.row_windows();
    return band + window / row * layer.row_step() * layer.band_row() +
           window % row * layer.window_step();
  }

  // Compute one piece, for panels [begin, end); with few weights all panels process a block of
  // windows in turn, otherwise each panel goes over all windows.
  void piece(int64_t unit, uint8_t* space, int64_t begin, int64_t end) const {
    const TileLayer& l = layer;
    const int64_t group = unit / cut.pieces * cut.images, first = unit % cut.pieces * cut.size;
    const int64_t extent = least(cut.size, (l.flat() ? l.out_width : l.out_height) - first);
    const int64_t images = least(cut.images, l.images - group), band = cut.piece_band(l);
    for (int64_t i = 0; !l.flat() && i < images; ++i)
      numbers.fill(l, in, group + i, space + i * band, first, extent);
    const int64_t windows = l.flat() ? extent : (extent - 1) * l.row_windows() + l.out_width;
    const int64_t each = l.packed_bytes() <= kFewWeights ? end - begin : 1;
    for (int64_t panel = begin; panel < end; panel += each) {
      for (int64_t i = 0; i < images; ++i) {
        const int64_t pixel = ((group + i) * l.out_height + first) * l.out_width;
        for (int64_t w = 0; w < windows; w += block()) {
          const int64_t count = least(block(), windows - w);
          if (l.flat()) {
            flat_block(panel, panel + each, first + w, count, space);
            continue;
          }
          for (int64_t p = panel; p < panel + each; ++p)
            sum(p, at(space + i * band, w), l.window_step(), w, count, pixel);
        }
      }
    }
  }

  // Windows per block; a block ends with its row unless windows continue evenly.
  int64_t block() const {
    return layer.evenly() || layer.row_windows() % kBlock == 0 ? kBlock : kTileRows;
  }

  void run(int threads, uint8_t* spaces) const {
    const int64_t units = cut.units(layer), space = cut.workspace(layer);
    const int64_t shared = cut.by_panels ? layer.panels() : units, each = ceil_div(shared, threads);
    parallel_for(threads, shared, each, [&](int64_t begin, int64_t end) {
      const Tiles tiles(layer.depth);
      uint8_t* own = spaces + begin / each * space;
      if (cut.by_panels)
        for (int64_t i = 0; i < units; ++i) piece(i, own, begin, end);
      else
        for (int64_t i = begin; i < end; ++i) piece(i, own, 0, layer.panels());
    });
  }
};

// Pack weights of type T into tiles: rows of four bytes for each of 16 filters; the two tiles of a
// block alternate. `weight(filter, run, number)` returns a weight, `done(filter)` is called after
// each filter.
template <class T, class Weight, class Done>
void pack_tiles(const TileLayer& l, T* blob, int threads, const Weight& weight, const Done& done) {
  constexpr int64_t kEach = 4 / sizeof(T);  // of a filter in a row
  const int64_t deep = l.depth / sizeof(T), tile = l.tile_bytes() / sizeof(T);
  parallel_for(threads, l.vectors(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t vector = begin; vector < end; ++vector) {
      int64_t panel = 0;
      while (l.before(panel + 1) <= vector) ++panel;
      const int64_t place = (vector - l.before(panel)) % kWideVectors, first = vector - place;
      const int64_t wide = least(kWideVectors, l.before(panel + 1) - first);
      T* tiles = blob + first * kFilterLanes * (l.filter_bytes() / sizeof(T)) + place * tile;
      for (int64_t f = 0; f < kFilterLanes; ++f) {
        for (int64_t t = 0; t < l.depth_tiles(); ++t) {
          for (int64_t i = 0; i < deep; ++i) {
            const int64_t run = t / l.run_tiles(), at = t % l.run_tiles() * deep + i;
            tiles[t * wide * tile + (i / kEach * kFilterLanes + f) * kEach + i % kEach] =
                weight(vector * kFilterLanes + f, run, at);
          }
        }
        done(vector * kFilterLanes + f);
      }
    }
  });
}

MX_LEAF_END
#endif
