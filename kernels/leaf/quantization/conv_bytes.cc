// "int8_conv_direct" and "int8_dense_direct": convolutions of channels-last int8 or uint8 data and
// dense layers with packed weights, by register tiles (bytes.h). "…_pack" packs the weights: the
// initial value of each filter's sum, which accounts for the zero point, then panels of filters.
//
// Data is read directly if it is unsigned and needs no padding, else through a band: the rows under
// some output rows with explicit padding, int8 values shifted by 128.
#include "leaf/quantization/byte_pieces.h"

#if MX_ISA_LEVEL >= 3

MX_LEAF_BEGIN
namespace {

constexpr int64_t kFewWeights = 48 << 10;  // weights that fit in the L1 cache next to a tile's data

constexpr int64_t kResident = 256 << 10;  // weights that stay in the L2 cache
constexpr int64_t kPixels = 48;           // whose addresses are listed at a time

struct LayerWork {
  ByteLayer layer;
  ByteCut cut;
  ByteReach reach;
  ByteSink sink;
  const uint8_t* in;
  const int32_t* start;
  const int8_t* weights;

  template <class P>
  LayerWork(const mx_call* call, const P& p, int threads)
      : layer(p),
        cut(layer, threads),
        reach(reach_of(layer)),
        sink(sink_of(call, p, layer.filters)),
        in(data<uint8_t>(call->in[0])),
        start((const int32_t*)call->in[1].data),
        weights(data<int8_t>(call->in[1]) + layer.start_bytes()) {}

  // Compute panel `panel` of filters over `count` <= kPixels pixels from output pixel `pixel` on.
  void sum(int64_t panel, int64_t count, const Cell* const* from, int64_t pixel) const {
    const int64_t first = layer.before(panel) * kFilterLanes;
    const int64_t lanes = layer.before(panel + 1) * kFilterLanes - first;
    const int8_t* own = weights + first * layer.depth();
    // Part of the weights that stays in the cache for all pixels.
    const int64_t depth = kResident / lanes / kLaneProducts * kLaneProducts;
    if (reach.runs > 1 || reach.bytes <= depth) {
      tiles(lanes, count, from, reach, own, {start + first, 0}, sink, pixel, first);
      return;
    }
    int32_t partial[kPixels * kMaxVectors * kFilterLanes];
    ByteSink open = sink;
    open.out = partial, open.filters = lanes, open.type = MX_I32;
    for (int64_t at = 0; at < reach.bytes; at += depth) {
      const ByteReach part = {1, least(depth, reach.bytes - at), {at}};
      const bool ends = at + depth >= reach.bytes;
      const ByteStart begin = at > 0 ? ByteStart{partial, lanes} : ByteStart{start + first, 0};
      tiles(lanes, count, from, part, own + at * lanes, begin, ends ? sink : open, ends ? pixel : 0,
            ends ? first : 0);
    }
  }

  void tiles(int64_t lanes, int64_t count, const Cell* const* from, const ByteReach& over,
             const int8_t* own, const ByteStart& begin, const ByteSink& to, int64_t pixel,
             int64_t filter) const {
    const int vectors = (int)(lanes / kFilterLanes);
    const int64_t number = ceil_div(count, most_pixels(vectors));
    for (int64_t i = 0, at = 0; i < number; ++i) {
      const int64_t pixels = count / number + (i < count % number);
      const ByteStart here = {begin.sums + at * begin.step, begin.step};
      sum_bytes((int)pixels, vectors, from + at, over, own, here, to, pixel + at, filter);
      at += pixels;
    }
  }

  // Compute one piece of an image, for panels [begin, end).
  void piece(int64_t unit, Cell* band, int64_t begin, int64_t end) const {
    const ByteLayer& l = layer;
    const int64_t image = unit / cut.pieces, first = unit % cut.pieces * cut.size;
    const int64_t extent = least(cut.size, (l.flat() ? l.out_width : l.out_height) - first);
    const uint8_t* source = in + image * l.height * l.width * l.channels;
    const Cell* data = band;
    int64_t columns = l.out_width, pixel = (image * l.out_height + first) * l.out_width;
    if (l.flat()) {
      columns = extent, pixel = first;
      source += first * l.channels;
      if (l.in_place())
        data = (const Cell*)source;
      else
        take_bytes(band, source, extent * l.channels, l.is_signed ? kMiddle : 0);
    } else {
      fill_band(l, source, band, first, extent);
    }
    const int64_t total = l.flat() ? extent : extent * columns;
    const int64_t step = l.column_step() * l.channels, row = l.row_step() * l.band_row();
    // Pointers to the starts of some windows; with few weights all panels process them in turn,
    // otherwise each panel goes over all pixels.
    const bool few = l.weight_bytes() <= kFewWeights;
    for (int64_t panel = begin; panel < end; panel = few ? end : panel + 1) {
      const Cell* from[kPixels];
      for (int64_t i = 0; i < total; i += kPixels) {
        const int64_t count = least(kPixels, total - i);
        const Cell* line = data + i / columns * row;
        for (int64_t j = 0, x = i % columns; j < count; ++j) {
          from[j] = line + x * step;
          if (++x == columns) x = 0, line += row;
        }
        for (int64_t each = panel; each < (few ? end : panel + 1); ++each)
          sum(each, count, from, pixel + i);
      }
    }
  }

  void run(int threads, uint8_t* bands) const {
    const int64_t units = layer.images * cut.pieces, band = cut.band(layer);
    if (cut.by_panels) {
      const int64_t each = ceil_div(layer.panels(), threads);
      parallel_for(threads, layer.panels(), each, [&](int64_t begin, int64_t end) {
        Cell* own = (Cell*)(bands + begin / each * band);
        for (int64_t i = 0; i < units; ++i) piece(i, own, begin, end);
      });
      return;
    }
    const int64_t each = ceil_div(units, threads);
    parallel_for(threads, units, each, [&](int64_t begin, int64_t end) {
      Cell* own = (Cell*)(bands + begin / each * band);
      for (int64_t i = begin; i < end; ++i) piece(i, own, 0, layer.panels());
    });
  }
};

void pack_weights(const ByteLayer& l, const int8_t* plain, int8_t* blob, int threads) {
  const int64_t size = l.channels * l.taps_y * l.taps_x;
  parallel_for(threads, l.panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = l.before(panel) * kFilterLanes;
      const int64_t lanes = l.before(panel + 1) * kFilterLanes - first;
      int8_t* to = blob + l.start_bytes() + first * l.depth();
      int32_t* start = (int32_t*)blob + first;
      for (int64_t f = 0; f < lanes; ++f) {
        const bool inside = first + f < l.filters;
        const int8_t* filter = plain + (first + f) * size;
        int32_t total = 0;
        for (int64_t r = 0; r < l.runs(); ++r) {
          for (int64_t i = 0; i < l.run_bytes(); ++i) {
            const int8_t weight = inside ? weight_at(l, filter, r, i) : (int8_t)0;
            to[((r * l.run_bytes() + i) / kLaneProducts * lanes + f) * kLaneProducts +
               i % kLaneProducts] = weight;
            total += weight;
          }
        }
        start[f] = -l.middle * total;
      }
    }
  });
}

template <class P>
struct Direct {
  typedef LayerWork Work;
  static int64_t workspace(const P& p, int threads) {
    const ByteLayer layer(p);
    return threads * ByteCut(layer, threads).band(layer);
  }
  static int64_t packed(const P& p) {
    const ByteLayer layer(p);
    return layer.start_bytes() + layer.weight_bytes();
  }
  static void pack(const P& p, const int8_t* plain, int8_t* blob, int threads) {
    pack_weights(ByteLayer(p), plain, blob, threads);
  }
};

}  // namespace

void register_conv_bytes() {
  if (!has_byte_products()) return;
  add_layer<Direct, mx_int8_conv_params>("int8_conv_direct", "int8_conv_direct_pack");
  add_layer<Direct, mx_int8_dense_params>("int8_dense_direct", "int8_dense_direct_pack");
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_conv_bytes() {}  // requires AVX2
MX_LEAF_END
#endif
