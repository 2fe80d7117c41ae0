// "conv_tiles_bf16": convolutions of channels-last bfloat16 data with AMX, including the epilogue;
// "fc_tiles_bf16": dense layers, which are 1 x 1 convolutions of an image of one row;
// "conv_tiles_bf16_pack" and "fc_tiles_bf16_pack" pack the weights. See quantization/tile_work.h
// for the int8 version.
//
// The tile depth divides the number of contiguous elements under a window, so that no other
// elements, possibly infinite, are read. Images with few channels may be channels-first; with an
// odd number of channels their pixels are padded by a zero in the band.
#include "leaf/convolution/channels_last_bf16.h"
#include "leaf/quantization/tile_work.h"
#include "leaf/queries.h"
#include "params/fused.gen.h"

#if MX_ISA_LEVEL == 4
#include "tiles.h"

MX_LEAF_BEGIN
namespace {

typedef mx_fused_conv_params P;
typedef mx_fused_dense_params D;
constexpr int64_t kFewChannels = 4;  // for which channels-first data is supported
constexpr int64_t kSize = sizeof(bf16);

struct Pairwise {
  template <int sums, int data, int weights>
  static void add() {
    add_tile_products<sums, data, weights>();
  }
};

int64_t pixel_channels(const P& p) {
  return p.in_block ? p.channels : round_up(p.channels, (int64_t)2);
}

TileLayer layer_of(const P& p) {
  TileLayer layer(p, pixel_channels(p) * kSize, false, 0);
  layer.in_phases = p.in_block && layer.better_in_phases();
  const int64_t run = layer.run();
  while (layer.depth > 4 && run % layer.depth) layer.depth -= 4;
  return layer;
}

struct Numbers {
  const P& p;
  LastSink sink;

  template <class Meanwhile>
  static void multiply(bool two_rows, bool two_columns, const TileBlock& block,
                       const Meanwhile& meanwhile) {
    multiply_tiles<Pairwise>(two_rows, two_columns, block, meanwhile);
  }
  void finish(const int32_t* sums, int64_t pixels, int vectors, int64_t pixel,
              int64_t filter) const {
    sink.finish((const float*)sums, kBlock, pixels, vectors, pixel, filter);
  }
  void fill(const TileLayer& l, const uint8_t* in, int64_t image, uint8_t* band, int64_t first,
            int64_t rows) const {
    const uint8_t* from = in + image * l.height * l.width * l.channels;
    if (l.in_phases)
      fill_phases(l, from, band, first, rows);
    else if (p.in_block)
      fill_band(l, from, band, first, rows);
    else
      fill_of_planes(l, (const bf16*)in + image * p.channels * l.height * l.width, band, first,
                     rows);
  }
  void fill_of_planes(const TileLayer& l, const bf16* image, uint8_t* to, int64_t first,
                      int64_t rows) const;
};

// Like fill_band, from channel planes.
void Numbers::fill_of_planes(const TileLayer& l, const bf16* image, uint8_t* to, int64_t first,
                             int64_t rows) const {
  const int64_t each = pixel_channels(p), columns = l.band_row() / l.channels;
  const int64_t plane = l.height * l.width, under = l.band_rows(rows);
  bf16* band = (bf16*)to;
  memset(band, 0, under * columns * l.channels);
  // Image columns between neighbouring band columns.
  const int64_t apart = l.column_step() == l.stride_x ? 1 : l.stride_x;
  int64_t low = 0, high = columns;
  while (low < high && low * apart < l.pad_x) ++low;
  while (low < high && (high - 1) * apart - l.pad_x >= l.width) --high;
  for (int64_t y = 0; y < under; ++y, band += columns * each) {
    const int64_t row =
        first * l.stride_y - l.pad_y + y / l.row_step() * l.stride_y + y % l.row_step();
    if (row < 0 || row >= l.height) continue;
    const bf16* from = image + row * l.width - l.pad_x;
    if (each == 4 && p.channels == 3 && apart == 1) {
      bf16* pixel = band + low * 4;
      const bf16 *red = from, *green = red + plane, *blue = green + plane;
#pragma GCC ivdep
      for (int64_t x = low; x < high; ++x, pixel += 4) {
        const uint64_t four =
            (uint64_t)red[x].bits | (uint64_t)green[x].bits << 16 | (uint64_t)blue[x].bits << 32;
        memcpy(pixel, &four, sizeof four);
      }
      continue;
    }
    for (int64_t c = 0; c < p.channels; ++c) {
      for (int64_t x = low; x < high; ++x) band[x * each + c] = from[c * plane + x * apart];
    }
  }
}

const char* refusal(const P& p) {
  if (!tiles_allowed() || !multiplies_bf16()) return "this CPU has no AMX-BF16";
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.channels < 1 || p.filters < 1) return "there are no channels";
  if (p.before) return "scaling of the data is not supported";
  if (p.kernel[1] * p.kernel[2] > kMaxRuns) return "the kernel is too large";
  if (p.out_block != p.filters) return "the output is not channels-last";
  if (p.in_block) {
    if (p.in_block != p.channels) return "the data is not channels-last";
    if (layer_of(p).run() % 4) return "an odd number of channels is not supported";
  } else if (p.channels > kFewChannels || layer_of(p).flat()) {
    return "the data is not channels-last";
  }
  return nullptr;
}

// A layer as a convolution.
const P& conv_of(const P& p) { return p; }
P conv_of(const D& p) {
  P conv = {};
  conv.batch = conv.groups = 1;
  conv.channels = conv.in_block = p.depth;
  conv.filters = conv.out_block = p.hidden;
  for (int i = 0; i < 3; ++i) {
    const int64_t width = i < 2 ? 1 : p.rows;
    conv.source[i] = conv.target[i] = width;
    conv.kernel[i] = conv.stride[i] = conv.dilate[i] = 1;
  }
  conv.bias = p.bias, conv.sum = p.sum;
  conv.act = p.act, conv.alpha = p.alpha, conv.beta = p.beta;
  return conv;
}

template <class Params>
constexpr const char* kName = "conv_tiles_bf16";
template <>
constexpr const char* kName<D> = "fc_tiles_bf16";

int64_t workspace(const P& p, int threads) {
  const TileLayer layer = layer_of(p);
  return threads * TileCut(layer, threads).workspace(layer);
}

template <class Params>
int64_t query(const mx_call* call, int32_t what) {
  const P& p = conv_of(*(const Params*)call->params);
  if (const char* reason = refusal(p)) return refused(kName<Params>, reason, what);
  if (call->out[0].dtype == MX_F32) {
    return refused(kName<Params>, "float32 results are not supported", what);
  }
  if (what == MX_QUERY_PACKED) return layer_of(p).packed_bytes();
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return workspace(p, threads); });
}

template <class Params>
int run(const mx_call* call) {
  const P& p = conv_of(*(const Params*)call->params);
  if (const char* reason = refusal(p)) return mx_fail("%s: %s", kName<Params>, reason);
  const int threads = threads_with_room(call, [&](int team) { return workspace(p, team); });
  if (!threads) return mx_fail("%s: the workspace is too small", kName<Params>);
  const TileLayer layer = layer_of(p);
  if (layer.empty()) return 0;
  const Numbers numbers = {p, LastSink(call, p, p.filters)};
  TileWork<Numbers>(layer, numbers, call->in[0].data, nullptr, data<int8_t>(call->in[1]), threads)
      .run(threads, (uint8_t*)call->workspace);
  return 0;
}

template <class Params>
int pack(const mx_call* call) {
  const P& p = conv_of(*(const Params*)call->params);
  if (const char* reason = refusal(p)) return mx_fail("%s_pack: %s", kName<Params>, reason);
  const TileLayer l = layer_of(p);
  const float* plain = data<float>(call->in[0]);
  const int64_t each = pixel_channels(p), taps = l.taps_y * l.taps_x;
  const auto weight = [&](int64_t filter, int64_t run, int64_t at) {
    const int64_t c = at % each;
    if (filter >= l.filters || c >= p.channels) return bf16{0};
    const int64_t tap = l.by_rows() ? run * l.taps_x + at / each : run;
    return rounded_bf16(plain[(filter * p.channels + c) * taps + tap]);
  };
  pack_tiles(l, data<bf16>(call->out[0]), call->threads, weight, [](int64_t) {});
  return 0;
}

}  // namespace

void register_conv_tiles_bf16() {
  if (!tiles_allowed() || !multiplies_bf16()) return;
  add_with_query("conv_tiles_bf16", run<P>, MX_BIT(BF16), query<P>);
  add_with_query("conv_tiles_bf16_pack", pack<P>, MX_BIT(F32), query<P>);
  add_with_query("fc_tiles_bf16", run<D>, MX_BIT(BF16), query<D>);
  add_with_query("fc_tiles_bf16_pack", pack<D>, MX_BIT(F32), query<D>);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_conv_tiles_bf16() {}  // requires AMX
MX_LEAF_END
#endif
