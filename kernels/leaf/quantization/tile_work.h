// Matrix products with AMX, whose tile registers hold 16 rows of 64 bytes, for convolutions of
// channels-last data and dense layers: with int8 (`conv_tiles.cc`) and bfloat16 elements
// (`leaf/convolution/conv_tiles_bf16.cc`).
//
// Equidistant windows are rows of a tile without copying: in the data itself if it is flat, else in
// a band, the rows under some output rows with explicit padding. A tile that continues into the
// next row contains unused windows in between.
#pragma once
#include "leaf/quantization/byte_pieces.h"
#include "leaf/simd/tiles.h"

#if MX_ISA_LEVEL == 4

MX_LEAF_BEGIN

constexpr int64_t kTileRows = kTileRegisterRows, kTileBytes = kTileRegisterBytes;
constexpr int64_t kBlock = 2 * kTileRows;  // windows, and filters, that are summed at a time
constexpr int64_t kFewWeights = 24 << 10;  // weights that fit in the L1 cache next to a tile's data
constexpr int64_t kWideVectors = 2;        // registers of filters in a block
constexpr int64_t kOverread = 2 * kTileBytes;  // bytes that may be read past a run
constexpr int64_t kShort = 12;  // tiles of depth of a block of windows that stay in the L1 cache
constexpr int64_t kDeep = 24;   // tiles of depth whose weights largely stay there while
constexpr int64_t kGroup = 4;   // these blocks of windows are multiplied by them
constexpr int64_t kManyBlocks = 8;    // from which on this pays
constexpr int64_t kOverlapping = 12;  // tiles of depth during which other sums become results

struct TileLayer : ByteLayer {
  int64_t depth = kTileBytes;  // bytes of a window in a tile
  // Whether the band has one array per place of a pixel between two windows: windows continue
  // evenly in spite of strides, and each pixel under a window is a run.
  bool in_phases = false;

  using ByteLayer::ByteLayer;
  bool by_rows() const { return !in_phases && ByteLayer::by_rows(); }
  int64_t runs() const { return in_phases ? taps_y * taps_x : ByteLayer::runs(); }
  int64_t run() const { return in_phases ? channels : ByteLayer::run(); }
  // Whether rows of windows without phases would leave a quarter of the tiles' windows unused.
  bool better_in_phases() const {
    const bool apart = dilate_y * dilate_x == 1 && channels >= kTileBytes && !flat();
    const bool overlapping = stride_x > 1 && taps_x > 1;
    return apart && overlapping && 4 * phase_width() <= 3 * round_up(out_width, kTileRows);
  }
  int64_t phases() const { return in_phases ? stride_y * stride_x : 1; }
  int64_t phase_width() const { return out_width + (taps_x - 1) / stride_x; }
  int64_t band_row() const { return in_phases ? phase_width() * channels : ByteLayer::band_row(); }
  int64_t band_rows(int64_t rows) const {
    return in_phases ? rows + (taps_y - 1) / stride_y : ByteLayer::band_rows(rows);
  }
  int64_t band(int64_t rows) const { return phases() * band_rows(rows) * band_row(); }
  // The runs under a window of a piece of `rows` rows.
  ByteReach reach(int64_t rows) const {
    ByteReach reach = reach_of(*this);
    reach.runs = (int)runs(), reach.bytes = run();
    for (int64_t r = 0; in_phases && r < runs(); ++r) {
      const int64_t y = r / taps_x, x = r % taps_x;
      const int64_t phase = y % stride_y * stride_x + x % stride_x;
      reach.offset[r] =
          (phase * band_rows(rows) + y / stride_y) * band_row() + x / stride_x * channels;
    }
    return reach;
  }
  explicit TileLayer(const ByteLayer& layer) : ByteLayer(layer) {}
  int64_t run_tiles() const { return ceil_div(run(), depth); }
  int64_t depth_tiles() const { return runs() * run_tiles(); }
  // Panels of pairs of registers, of which only the last may be incomplete.
  int64_t pairs() const { return ceil_div(vectors(), kWideVectors); }
  int64_t panels() const { return ceil_div(pairs(), kMaxVectors / kWideVectors); }
  int64_t before(int64_t panel) const {
    const int64_t whole = panel * (pairs() / panels()) + least(panel, pairs() % panels());
    return least(whole * kWideVectors, vectors());
  }
  int64_t filter_bytes() const { return depth_tiles() * depth; }
  int64_t packed_bytes() const { return vectors() * kFilterLanes * filter_bytes(); }
  int64_t tile_bytes() const { return kFilterLanes * depth; }  // of a tile of weights

  // Whether windows continue at the same distance across rows.
  bool evenly() const { return flat() || in_phases || (column_step() == 1 && row_step() == 1); }
  int64_t row_windows() const {
    return flat() ? out_width : evenly() ? band_row() / channels : round_up(out_width, kTileRows);
  }
  int64_t window_step() const { return evenly() ? channels : column_step() * channels; }
  int64_t image_band() const { return band(out_height); }
};

// Copy the rows under output rows [first, first + rows), the pixels of each phase together.
inline void fill_phases(const TileLayer& l, const uint8_t* image, uint8_t* band, int64_t first,
                        int64_t rows) {
  const int64_t c = l.channels;
  for (int64_t phase = 0; phase < l.phases(); ++phase) {
    for (int64_t y = 0; y < l.band_rows(rows); ++y) {
      const int64_t row = (first + y) * l.stride_y + phase / l.stride_x - l.pad_y;
      for (int64_t x = 0; x < l.phase_width(); ++x, band += c) {
        const int64_t column = x * l.stride_x + phase % l.stride_x - l.pad_x;
        if (row >= 0 && row < l.height && column >= 0 && column < l.width)
          memcpy(band, image + (row * l.width + column) * c, c);
        else
          memset(band, l.middle, c);
      }
    }
  }
}

// Images, or pieces of an image's rows (of columns, if it is flat), that a thread processes at a
// time, and whether threads divide the filters instead.
struct TileCut {
  int64_t images = 1, size, pieces;
  bool by_panels = false;

  TileCut(const TileLayer& l, int threads) {
    const int64_t whole = l.flat() ? l.out_width : l.out_height;
    const int64_t bytes = l.flat() ? l.out_width * l.channels : l.image_band();
    // Bytes at a time: little, as results need room in the cache too, unless weights need more.
    const int64_t large = least(l.packed_bytes(), second_cache()) / 2;
    const int64_t room = second_cache() / 8 < large ? large : second_cache() / 8;
    size = pieces = 0;
    if (l.empty()) return;
    pieces = 1;
    if (bytes > room) pieces = least(ceil_div(bytes, room), whole);
    if (pieces == 1 && bytes > 0) images = least(l.images, room / bytes);
    images = ceil_div(l.images, ceil_div(l.images, images));
    const int64_t units = ceil_div(l.images, images) * pieces;
    if (threads > 1 && units > 0 && units < 8 * threads && units % threads) {
      by_panels = l.panels() >= threads && l.packed_bytes() > l.images * bytes;
      const int64_t wanted = round_up(units, threads);
      if (!by_panels && images > 1) images = ceil_div(l.images, wanted);
      if (!by_panels && images == 1) pieces = least(ceil_div(wanted, l.images), whole);
    }
    size = ceil_div(whole, pieces);
    if (l.flat()) size = round_up(size, kTileRows);
    pieces = ceil_div(whole, size);
  }
  int64_t units(const TileLayer& l) const { return ceil_div(l.images, images) * pieces; }
  int64_t piece_band(const TileLayer& l) const { return l.band(size); }
  // Of a thread: the bands, or for flat data a copy of the last windows, past which nothing may be
  // read.
  int64_t workspace(const TileLayer& l) const {
    if (l.empty()) return 0;
    if (l.flat()) return kBlock * tail_step(l);
    const int64_t over = kBlock * l.window_step() + kOverread;
    return round_up(images * piece_band(l) + over, kCacheLine);
  }
  static int64_t tail_step(const TileLayer& l) { return (l.run_tiles() + 1) * kTileBytes; }
};

// Tiles of windows (one or two) times tiles of filters, for tiles [first, first + tiles) of their
// depth: their addresses, the initial sums (per window `begin_step` bytes apart; NULL: 0), and the
// destination.
struct TileBlock {
  const ByteReach& reach;
  int64_t depth, first, tiles;
  const uint8_t* windows;
  int64_t step;
  const int8_t* weights;
  const void* begin;
  int64_t begin_step;
  void* sums;
  const char* next;  // what to prefetch, and how many lines at each tile of depth
  int64_t lines;
};

// Adder::add<sums, data, weights>() multiplies the tiles with these numbers; `meanwhile()` is
// called when all products have been issued, while the tiles are still being multiplied. (Called
// between products, its stores would delay loads of tiles at the same offset in a page.)
template <class Adder, bool two_rows, bool two_columns, class Meanwhile>
void multiply_tiles(const TileBlock& b, const Meanwhile& meanwhile) {
  constexpr int64_t kLine = kFilterLanes * 4;
  const uint8_t* second = b.windows + kTileRows * b.step;
  const int64_t weight_step = kTileBytes, tile = kFilterLanes * b.depth;
  if (b.begin) {
    const char *begin = (const char*)b.begin, *below = begin + kTileRows * b.begin_step;
    MX_LOAD_TILE(0, begin, b.begin_step);
    if (two_columns) MX_LOAD_TILE(1, begin + kLine, b.begin_step);
    if (two_rows) MX_LOAD_TILE(2, below, b.begin_step);
    if (two_rows && two_columns) MX_LOAD_TILE(3, below + kLine, b.begin_step);
  } else {
    MX_CLEAR_TILE(0);
    if (two_columns) MX_CLEAR_TILE(1);
    if (two_rows) MX_CLEAR_TILE(2);
    if (two_rows && two_columns) MX_CLEAR_TILE(3);
  }
  const int64_t run_tiles = ceil_div(b.reach.bytes, b.depth);
  const int64_t* offset = b.reach.offset + b.first / run_tiles;
  int64_t left = b.tiles, skipped = b.first % run_tiles;
  const char* next = b.next;
  const int8_t* own = b.weights + b.first * (two_columns ? 2 * tile : tile);
  for (; left > 0; ++offset, skipped = 0) {
    const int64_t past = least(run_tiles, skipped + left);
    left -= past - skipped;
    for (int64_t at = *offset + skipped * b.depth, end = *offset + past * b.depth; at < end;
         at += b.depth) {
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
      for (int64_t i = 0; i < b.lines; ++i, next += kCacheLine) __builtin_prefetch(next, 0, 2);
    }
  }
  meanwhile();
  const int64_t row = kBlock * 4;
  char* sums = (char*)b.sums;
  MX_STORE_TILE(0, sums, row);
  if (two_columns) MX_STORE_TILE(1, sums + kLine, row);
  if (two_rows) MX_STORE_TILE(2, sums + kTileRows * row, row);
  if (two_rows && two_columns) MX_STORE_TILE(3, sums + kTileRows * row + kLine, row);
}

template <class Adder, class Meanwhile>
void multiply_tiles(bool two_rows, bool two_columns, const TileBlock& block,
                    const Meanwhile& meanwhile) {
  if (two_rows) {
    two_columns ? multiply_tiles<Adder, true, true>(block, meanwhile)
                : multiply_tiles<Adder, true, false>(block, meanwhile);
  } else {
    two_columns ? multiply_tiles<Adder, false, true>(block, meanwhile)
                : multiply_tiles<Adder, false, false>(block, meanwhile);
  }
}

// A layer's computation. `Numbers` provides the parts that depend on the element type:
// `multiply(two_rows, two_columns, block, meanwhile)`, `finish(sums, pixels, vectors, pixel,
// filter)` for rows of kBlock sums, and `fill(layer, data, image, band, first, rows)`.
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
        reach(layer.reach(cut.size)),
        numbers(n),
        in((const uint8_t*)from),
        start(begin),
        weights(own) {}

  // Windows [first, first + count) of a piece, `step` bytes apart.
  struct Block {
    const uint8_t* from;
    int64_t step, first, count;
  };

  // A thread's sums. Those of the last block (NULL: none) become results while the tiles of the
  // next one are multiplied, if there are enough of them.
  struct Thread {
    alignas(64) int32_t sums[kGroup][kBlock * kBlock];
    const int32_t* last = nullptr;
    Block block;
    int vectors;
    int64_t pixel, filter;
    const char* next = nullptr;  // weights to prefetch, and how many lines at each tile of depth
    int64_t lines = 0;
  };

  // Compute panel `panel` of filters over blocks of a piece whose first result is that of `pixel`,
  // but maybe not yet the results of the last block.
  void sum(int64_t panel, const Block* blocks, int64_t number, int64_t pixel,
           Thread& thread) const {
    auto& sums = thread.sums;
    const int64_t past = layer.before(panel + 1), all = layer.depth_tiles();
    const int64_t deep = number > 1 ? ceil_div(all, ceil_div(all, kDeep)) : all;
    for (int64_t vector = layer.before(panel); vector < past; vector += kWideVectors) {
      const int64_t filter = vector * kFilterLanes;
      const int vectors = (int)least(kWideVectors, past - vector);
      const int8_t* own = weights + filter * layer.filter_bytes();
      for (int64_t tile = 0; tile < all; tile += deep) {
        for (int64_t i = 0; i < number; ++i) {
          const Block& b = blocks[i];
          const void* begin = tile ? sums[i] : start ? start + filter : nullptr;
          const int64_t apart = tile ? kBlock * 4 : 0, tiles = least(deep, all - tile);
          numbers.multiply(b.count > kTileRows, vectors > 1,
                           {reach, layer.depth, tile, tiles, b.from, b.step, own, begin, apart,
                            sums[i], thread.next, thread.lines},
                           [&] {
                             if (thread.last) finish(thread);
                           });
          thread.next += tiles * thread.lines * kCacheLine;
          if (tile + deep < all) continue;
          thread.last = sums[i], thread.block = b, thread.vectors = vectors;
          thread.pixel = pixel, thread.filter = filter;
          if (all < kOverlapping) finish(thread);
        }
      }
    }
  }

  // Convert the last sums to results.
  __attribute__((noinline)) void finish(Thread& thread) const {
    const Block& b = thread.block;
    const int64_t row = layer.row_windows(), pixel = thread.pixel;
    for (int64_t i = 0; i < b.count;) {
      const int64_t x = (b.first + i) % row, y = (b.first + i) / row;
      const int64_t rest = least(row - x, b.count - i), inside = least(layer.out_width - x, rest);
      if (inside > 0)
        numbers.finish(thread.last + i * kBlock, inside, thread.vectors,
                       pixel + y * layer.out_width + x, thread.filter);
      i += rest;
    }
    thread.last = nullptr;
  }

  // Flat data: windows [first, first + count). The last ones are copied to `tail`.
  Block flat_block(int64_t first, int64_t count, uint8_t* tail) const {
    const int64_t step = layer.channels, all = layer.out_width * step;
    const uint8_t* from = in + first * step;
    const int64_t read = (round_up(count, kTileRows) - 1) * step + layer.run_tiles() * layer.depth;
    if (first * step + read <= all) return {from, step, first, count};
    const int64_t apart = TileCut::tail_step(layer);
    for (int64_t i = 0; i < count; ++i) memcpy(tail + i * apart, from + i * step, step);
    return {tail, apart, first, count};
  }

  // Address of window `window` in a band.
  const uint8_t* at(const uint8_t* band, int64_t window) const {
    if (layer.evenly()) return band + window * layer.channels;
    const int64_t row = layer.row_windows();
    return band + window / row * layer.row_step() * layer.band_row() +
           window % row * layer.window_step();
  }

  // Compute one piece, for panels [begin, end). All panels process a block of windows in turn if
  // the weights are few or the block stays in the L1 cache. Otherwise each panel goes over all
  // windows, some blocks at a time if its weights exceed the L1 cache.
  void piece(int64_t unit, uint8_t* space, int64_t begin, int64_t end, Thread& thread) const {
    const TileLayer& l = layer;
    const int64_t group = unit / cut.pieces * cut.images, first = unit % cut.pieces * cut.size;
    const int64_t extent = least(cut.size, (l.flat() ? l.out_width : l.out_height) - first);
    const int64_t images = least(cut.images, l.images - group), band = cut.piece_band(l);
    for (int64_t i = 0; !l.flat() && i < images; ++i)
      numbers.fill(l, in, group + i, space + i * band, first, l.in_phases ? cut.size : extent);
    const int64_t windows = l.flat() ? extent : (extent - 1) * l.row_windows() + l.out_width;
    const int64_t few = l.depth_tiles() <= kShort ? second_cache() / 4 : kFewWeights;
    const int64_t each = l.packed_bytes() <= few ? end - begin : 1;
    const int64_t most = l.depth_tiles() > kDeep && windows >= kManyBlocks * kBlock ? kGroup : 1;
    for (int64_t panel = begin; panel < end; panel += each) {
      prefetch_after(panel, end, each == 1 ? images * ceil_div(windows, block()) : 0, thread);
      for (int64_t i = 0; i < images; ++i) {
        const int64_t pixel = ((group + i) * l.out_height + first) * l.out_width;
        for (int64_t w = 0; w < windows;) {
          Block blocks[kGroup];
          int64_t number = 0;
          do {
            const int64_t count = least(block(), windows - w);
            blocks[number] = l.flat() ? flat_block(first + w, count, space)
                                      : Block{at(space + i * band, w), l.window_step(), w, count};
            w += block();
          } while (++number < most && w < windows && blocks[number - 1].step == l.window_step());
          for (int64_t p = panel; p < panel + each; ++p)
            sum(p, blocks, number, l.flat() ? 0 : pixel, thread);
        }
      }
    }
  }

  // Weights that the second cache cannot keep: bring those of the next panel while `blocks` blocks
  // of windows are multiplied by this one.
  void prefetch_after(int64_t panel, int64_t end, int64_t blocks, Thread& thread) const {
    thread.lines = 0;
    if (blocks == 0 || panel + 1 >= end || layer.packed_bytes() < second_cache()) return;
    const int64_t filters = layer.before(panel + 1) * kFilterLanes;
    const int64_t following = layer.before(panel + 2) * kFilterLanes - filters;
    const int64_t pairs = ceil_div(layer.before(panel + 1) - layer.before(panel), kWideVectors);
    thread.next = (const char*)weights + filters * layer.filter_bytes();
    thread.lines = ceil_div(following * layer.depth, pairs * blocks * kCacheLine);
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
      Thread thread;
      if (cut.by_panels)
        for (int64_t i = 0; i < units; ++i) piece(i, own, begin, end, thread);
      else
        for (int64_t i = begin; i < end; ++i) piece(i, own, 0, layer.panels(), thread);
      if (thread.last) finish(thread);
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
