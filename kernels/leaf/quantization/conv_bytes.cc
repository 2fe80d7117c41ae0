// "int8_conv_direct" and "int8_dense_direct": convolutions of channels-last bytes and dense layers
// with packed weights, by sums in registers (bytes.h). "…_pack" packs the weights: what each
// filter's sum begins with, where 0 is another unsigned byte, then panels of filters.
//
// Data is read where it lies if it is unsigned and needs no padding, else through a band: the rows
// under some output rows with padding written out, int8 numbers moved up by 128.
#include "leaf/quantization/byte_layer.h"

#if MX_ISA_LEVEL == 4
#include "core/cache.h"

MX_LEAF_BEGIN
namespace {

enum Act { kNone, kPositive, kLimited };
constexpr int64_t kFewWeights = 48 << 10;  // which all lie beside a tile's data in the cache

constexpr int64_t kResident = 256 << 10;  // weights that stay in the second cache
constexpr int64_t kPixels = 48;           // whose places are listed at a time

// How the work is cut: images in pieces of rows (of columns, if they are flat), and, where these
// do not come out even, panels of filters among the threads.
struct Cut {
  int64_t size, pieces;  // rows or columns of a piece, pieces of an image
  bool by_panels = false;

  Cut(const ByteLayer& l, int threads) {
    const int64_t room = second_cache() / 2, whole = l.flat() ? l.out_width : l.out_height;
    const int64_t unit = l.flat() ? l.channels : l.band_row() * l.row_step();
    const int64_t most = room / (unit > 0 ? unit : 1);
    const int64_t fewest = l.flat() ? 48 : 1;
    pieces = ceil_div(whole, most > fewest ? most : fewest);
    const int64_t units = l.images * pieces, panels = l.panels();
    if (threads > 1 && units > 0 && units < 8 * threads && units % threads) {
      const bool even = panels % threads == 0 || panels >= 4 * threads;
      by_panels = even && l.weight_bytes() > l.out_width * l.channels;
      if (!by_panels) pieces = ceil_div(round_up(units, threads), l.images);
    }
    size = ceil_div(whole, pieces > 0 ? pieces : 1);
    pieces = size > 0 ? ceil_div(whole, size) : 0;
  }
  int64_t band(const ByteLayer& l) const {
    if (l.in_place()) return 0;
    const int64_t bytes = l.flat() ? size * l.channels : l.band_rows(size) * l.band_row();
    return round_up(bytes + 4, kRegister);
  }
};

void take_bytes(uint8_t* to, const uint8_t* from, int64_t n, uint8_t up) {
  if (!up) {
    memcpy(to, from, n);
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ kMiddle;
}

// The rows under output rows [first, first + rows).
void fill_band(const ByteLayer& l, const uint8_t* image, uint8_t* band, int64_t first,
               int64_t rows) {
  const uint8_t zero = l.middle, up = l.is_signed ? kMiddle : 0;
  const int64_t c = l.channels, columns = l.band_row() / c, under = l.band_rows(rows);
  for (int64_t y = 0; y < under; ++y, band += columns * c) {
    const int64_t row =
        first * l.stride_y - l.pad_y + y / l.row_step() * l.stride_y + y % l.row_step();
    if (row < 0 || row >= l.height) {
      memset(band, zero, columns * c);
      continue;
    }
    const uint8_t* from = image + row * l.width * c;
    if (l.column_step() != l.stride_x) {  // pixels apart from each other
      for (int64_t x = 0; x < columns; ++x) {
        const int64_t column = x * l.stride_x - l.pad_x;
        if (column >= 0 && column < l.width)
          take_bytes(band + x * c, from + column * c, c, up);
        else
          memset(band + x * c, zero, c);
      }
      continue;
    }
    const int64_t low = least(l.pad_x, columns);
    const int64_t high = least(l.pad_x + l.width, columns);
    memset(band, zero, low * c);
    if (high > low) take_bytes(band + low * c, from, (high - low) * c, up);
    memset(band + high * c, zero, (columns - high) * c);
  }
}

struct Work {
  ByteLayer layer;
  Cut cut;
  ByteReach reach;
  ByteSink sink;
  const uint8_t* in;
  const int32_t* start;
  const int8_t* weights;

  // Panel `panel` of filters over `count` <= kPixels pixels from `pixel` of the output on.
  void sum(int64_t panel, int64_t count, const uint8_t* const* from, int64_t pixel) const {
    const int64_t first = layer.before(panel) * kFilterLanes;
    const int64_t lanes = layer.before(panel + 1) * kFilterLanes - first;
    const int8_t* own = weights + first * layer.depth();
    const int64_t depth = kResident / lanes / 4 * 4;  // that stays in the cache for all pixels
    if (reach.runs > 1 || reach.bytes <= depth) {
      tiles(lanes, count, from, reach, own, {start + first, 0}, sink, pixel, first);
      return;
    }
    int32_t partial[kPixels * kMostVectors * kFilterLanes];
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

  void tiles(int64_t lanes, int64_t count, const uint8_t* const* from, const ByteReach& over,
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

  // One piece of an image, for panels [begin, end).
  void piece(int64_t unit, uint8_t* band, int64_t begin, int64_t end) const {
    const ByteLayer& l = layer;
    const int64_t image = unit / cut.pieces, first = unit % cut.pieces * cut.size;
    const int64_t extent = least(cut.size, (l.flat() ? l.out_width : l.out_height) - first);
    const uint8_t *source = in + image * l.height * l.width * l.channels, *data = band;
    int64_t columns = l.out_width, pixel = (image * l.out_height + first) * l.out_width;
    if (l.flat()) {
      columns = extent, pixel = first;
      data = source + first * l.channels;
      if (!l.in_place()) take_bytes(band, data, extent * l.channels, l.is_signed ? kMiddle : 0);
      if (!l.in_place()) data = band;
    } else {
      fill_band(l, source, band, first, extent);
    }
    const int64_t total = l.flat() ? extent : extent * columns;
    const int64_t step = l.column_step() * l.channels, row = l.row_step() * l.band_row();
    // Windows begin where these point, some pixels at a time; with few weights, all panels take
    // turns at them, else each panel goes over all pixels.
    const bool few = l.weight_bytes() <= kFewWeights;
    for (int64_t panel = begin; panel < end; panel = few ? end : panel + 1) {
      const uint8_t* from[kPixels];
      for (int64_t i = 0; i < total; i += kPixels) {
        const int64_t count = least(kPixels, total - i);
        const uint8_t* line = data + i / columns * row;
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
        for (int64_t i = 0; i < units; ++i) piece(i, bands + begin / each * band, begin, end);
      });
      return;
    }
    const int64_t each = ceil_div(units, threads);
    parallel_for(threads, units, each, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        piece(i, bands + begin / each * band, 0, layer.panels());
    });
  }
};

ByteReach reach_of(const ByteLayer& l) {
  ByteReach reach;
  reach.runs = (int)l.runs();
  reach.bytes = l.run_bytes();
  for (int64_t r = 0; r < l.runs(); ++r) {
    const int64_t y = l.by_rows() ? r : r / l.taps_x, x = l.by_rows() ? 0 : r % l.taps_x;
    reach.offset[r] = y * l.dilate_y * l.band_row() + x * l.dilate_x * l.channels;
  }
  return reach;
}

template <class P>
ByteSink sink_of(const mx_call* call, const P& p, int64_t filters) {
  ByteSink sink;
  sink.out = call->out[0].data;
  sink.other = p.sum ? call->in[call->nin - 1].data : nullptr;
  sink.scale = data<float>(call->in[2]);
  sink.bias = p.bias ? data<float>(call->in[3]) : nullptr;
  sink.filters = filters;
  sink.other_scale = (float)p.other_scale;
  sink.type = p.target_type;
  sink.other_type = p.other_type;
  sink.positive = p.act != kNone;
  sink.high = sink.type == MX_I8 ? 127.f : sink.type == MX_U8 ? 255.f : __builtin_inff();
  if (p.act == kLimited && (float)p.limit < sink.high) sink.high = (float)p.limit;
  return sink;
}

const char* refusal(const mx_int8_conv_params& p) {
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "the data has three spatial dimensions";
  if (p.groups != 1) return "there are several groups";
  if (p.channels < 1 || p.filters < 1) return "there are no channels";
  if (p.kernel[1] * p.kernel[2] > kMostRuns) return "the kernel is too large";
  return nullptr;
}

const char* refusal(const mx_int8_dense_params& p) {
  return p.depth < 1 || p.hidden < 1 ? "there are no numbers" : nullptr;
}

template <class P>
int64_t workspace(const P& p, int threads) {
  const ByteLayer layer(p);
  return threads * Cut(layer, threads).band(layer);
}

template <class P>
int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) {
    mx_fail("layers of 8 bits: %s", reason);
    return what == MX_QUERY_ACCEPTS ? 0 : -1;
  }
  const ByteLayer layer(p);
  if (what == MX_QUERY_PACKED) return layer.start_bytes() + layer.weight_bytes();
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is one layout of weights
  // The caller has not decided on the number of threads yet.
  const int64_t alone = workspace(p, 1), team = workspace(p, mx_threads());
  return alone > team ? alone : team;
}

template <class P>
int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("layers of 8 bits: %s", reason);
  int threads = call->threads;
  // The workspace was made for a smaller team if that has changed since.
  if ((int64_t)call->workspace_size < workspace(p, threads)) threads = 1;
  if ((int64_t)call->workspace_size < workspace(p, threads))
    return mx_fail("layers of 8 bits: the workspace is too small");
  const ByteLayer layer(p);
  if (layer.images * layer.out_height * layer.out_width == 0) return 0;
  const int8_t* packed = data<int8_t>(call->in[1]);
  const Work work = {layer,
                     Cut(layer, threads),
                     reach_of(layer),
                     sink_of(call, p, layer.filters),
                     data<uint8_t>(call->in[0]),
                     (const int32_t*)packed,
                     packed + layer.start_bytes()};
  work.run(threads, (uint8_t*)call->workspace);
  return 0;
}

// The weight of a filter at byte `at` of a run; 0 behind its end.
int8_t weight_at(const ByteLayer& l, const int8_t* filter, int64_t run, int64_t at) {
  if (at >= l.run()) return 0;
  const int64_t c = at % l.channels, taps = l.taps_y * l.taps_x;
  return filter[c * taps + (l.by_rows() ? run * l.taps_x + at / l.channels : run)];
}

template <class P>
int pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("layers of 8 bits: %s", reason);
  const ByteLayer l(p);
  const int8_t* plain = data<int8_t>(call->in[0]);
  int8_t* blob = data<int8_t>(call->out[0]);
  const int64_t size = l.channels * l.taps_y * l.taps_x;
  parallel_for(call->threads, l.panels(), 1, [&](int64_t begin, int64_t end) {
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
            to[((r * l.run_bytes() + i) / 4 * lanes + f) * 4 + i % 4] = weight;
            total += weight;
          }
        }
        start[f] = -l.middle * total;
      }
    }
  });
  return 0;
}

template <class P>
void add(const char* name, const char* packer) {
  const mx_kernel_extra extra = {nullptr, nullptr, query<P>};
  mx_kernel_add(name, run<P>, MX_BIT(I8) | MX_BIT(U8), 0);
  mx_kernel_extend(name, &extra);
  mx_kernel_add(packer, pack<P>, MX_BIT(I8), 0);
  mx_kernel_extend(packer, &extra);
}

}  // namespace

void register_conv_bytes() {
  if (!has_vnni()) return;
  add<mx_int8_conv_params>("int8_conv_direct", "int8_conv_direct_pack");
  add<mx_int8_dense_params>("int8_dense_direct", "int8_dense_direct_pack");
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_conv_bytes() {}  // no such instructions
MX_LEAF_END
#endif
