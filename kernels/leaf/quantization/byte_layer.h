// Building blocks of int8 convolutions and dense layers: extents, contiguous runs under a window,
// rows of the band, panels of weights; see conv_bytes.cc.
#pragma once
#include "leaf/quantization/bytes.h"
#include "leaf/queries.h"
#include "leaf/simd/plane.h"
#include "params/int8.gen.h"

#if MX_ISA_LEVEL >= 3
MX_LEAF_BEGIN

constexpr int64_t kCacheLine = 64;

// A convolution; a dense layer is a 1 x 1 convolution over an image of one row.
struct ByteLayer {
  int64_t images, channels, filters, height, width, out_height, out_width;
  int64_t taps_y, taps_x, stride_y, stride_x, dilate_y, dilate_x, pad_y, pad_x;
  bool is_signed;
  uint8_t middle;  // the unsigned byte that represents 0

  explicit ByteLayer(const mx_int8_conv_params& p)
      : ByteLayer(p, p.channels, p.source_type == MX_I8, p.zero) {}
  // `pixel`: bytes per pixel; `zero`: the zero point.
  template <class P>
  ByteLayer(const P& p, int64_t pixel, bool has_sign, int32_t zero)
      : images(p.batch),
        channels(pixel),
        filters(p.filters),
        height(p.source[1]),
        width(p.source[2]),
        out_height(p.target[1]),
        out_width(p.target[2]),
        taps_y(p.kernel[1]),
        taps_x(p.kernel[2]),
        stride_y(p.stride[1]),
        stride_x(p.stride[2]),
        dilate_y(p.dilate[1]),
        dilate_x(p.dilate[2]),
        pad_y(p.pad[1]),
        pad_x(p.pad[2]),
        is_signed(has_sign),
        middle((uint8_t)(zero + (is_signed ? kMiddle : 0))) {
    if (taps_y * taps_x == 1 && stride_y * stride_x == 1 && pad_y + pad_x == 0) {
      width = out_width = images * height * width;
      images = height = out_height = 1;
    }
  }
  explicit ByteLayer(const mx_int8_dense_params& p)
      : images(1),
        channels(p.depth),
        filters(p.hidden),
        height(1),
        width(p.rows),
        out_height(1),
        out_width(p.rows),
        taps_y(1),
        taps_x(1),
        stride_y(1),
        stride_x(1),
        dilate_y(1),
        dilate_x(1),
        pad_y(0),
        pad_x(0),
        is_signed(p.source_type == MX_I8),
        middle((uint8_t)(p.zero + (is_signed ? kMiddle : 0))) {}

  bool empty() const { return images * out_height * out_width == 0; }
  // Whether all pixels can be processed as one row.
  bool flat() const {
    return images == 1 && height == 1 && out_width == width && taps_y * taps_x == 1 &&
           pad_y + pad_x == 0;
  }
  bool in_place() const {
    return sizeof(Cell) == 1 && flat() && !is_signed && channels % kLaneProducts == 0;
  }

  // Contiguous bytes under a window: whole rows of it, or the channels of its pixels.
  bool by_rows() const { return dilate_x == 1 || taps_x == 1; }
  int64_t runs() const { return by_rows() ? taps_y : taps_y * taps_x; }
  int64_t run() const { return by_rows() ? taps_x * channels : channels; }
  int64_t run_bytes() const { return round_up(run(), kLaneProducts); }

  // The band omits rows and, if windows are one pixel wide, columns between windows.
  int64_t reach_y() const { return (taps_y - 1) * dilate_y + 1; }
  int64_t reach_x() const { return (taps_x - 1) * dilate_x + 1; }
  int64_t row_step() const { return least(stride_y, reach_y()); }
  int64_t column_step() const { return reach_x() == 1 ? 1 : stride_x; }
  int64_t band_row() const { return ((out_width - 1) * column_step() + reach_x()) * channels; }
  int64_t band_rows(int64_t rows) const { return (rows - 1) * row_step() + reach_y(); }

  int64_t vectors() const { return ceil_div(filters, kFilterLanes); }
  int64_t panels() const { return ceil_div(vectors(), kMaxVectors); }
  // Number of registers before a panel: panels are as wide as possible and about equal.
  int64_t before(int64_t panel) const {
    return panel * (vectors() / panels()) + least(panel, vectors() % panels());
  }
  int64_t depth() const { return runs() * run_bytes(); }
  int64_t weight_bytes() const { return vectors() * kFilterLanes * depth(); }
  int64_t start_bytes() const {
    return round_up(vectors() * kFilterLanes * (int64_t)sizeof(int32_t), kCacheLine);
  }
};

// Activations after a layer, as numbered in its parameters.
enum ByteAct { kNone, kPositive, kLimited };

inline ByteReach reach_of(const ByteLayer& l) {
  ByteReach reach;
  reach.runs = (int)l.runs();
  reach.bytes = l.run_bytes();
  for (int64_t r = 0; r < l.runs(); ++r) {
    const int64_t y = l.by_rows() ? r : r / l.taps_x, x = l.by_rows() ? 0 : r % l.taps_x;
    reach.offset[r] = y * l.dilate_y * l.band_row() + x * l.dilate_x * l.channels;
  }
  return reach;
}

// Whether any sum times its scale, plus bias and residual, fits in 32 bits.
inline bool is_bounded(const ByteSink& sink) {
  const float room = 0x1p30f - 256 * __builtin_fabsf(sink.other_scale);
  int32_t fits = 1;
  for (int64_t f = 0; f < sink.filters; ++f) {
    const float bias = sink.bias ? __builtin_fabsf(sink.bias[f]) : 0;
    fits &= __builtin_fabsf(sink.scale[f]) * 0x1p31f + bias < room;
  }
  return fits;
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
  sink.bounded = is_bounded(sink);
  return sink;
}

inline const char* refusal(const mx_int8_conv_params& p) {
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.channels < 1 || p.filters < 1) return "there are no channels";
  if (p.kernel[1] * p.kernel[2] > kMaxRuns) return "the kernel is too large";
  return nullptr;
}

inline const char* refusal(const mx_int8_dense_params& p) {
  return p.depth < 1 || p.hidden < 1 ? "the weights are empty" : nullptr;
}

// The weight of a filter at byte `at` of a run; 0 past its end.
template <class Layer>
int8_t weight_at(const Layer& l, const int8_t* filter, int64_t run, int64_t at) {
  if (at >= l.run()) return 0;
  const int64_t c = at % l.channels, taps = l.taps_y * l.taps_x;
  return filter[c * taps + (l.by_rows() ? run * l.taps_x + at / l.channels : run)];
}

// An implementation of layers provides `Way<P>::Work`, constructed from a call, its parameters and
// a number of threads, whose `run` computes the layer in the call's workspace; `workspace` and
// `packed`, the sizes in bytes of the workspace and of packed weights; and `pack`.

// Answer a plan's query.
template <template <class> class Way, class P>
int64_t answer(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("int8 layer", reason, what);
  if (what == MX_QUERY_PACKED) return Way<P>::packed(p);
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return Way<P>::workspace(p, threads); });
}

template <template <class> class Way, class P>
int run_layer(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("int8 layer: %s", reason);
  const int threads = threads_with_room(call, [&](int team) { return Way<P>::workspace(p, team); });
  if (!threads) return mx_fail("int8 layer: the workspace is too small");
  if (ByteLayer(p).empty()) return 0;
  typename Way<P>::Work(call, p, threads).run(threads, (uint8_t*)call->workspace);
  return 0;
}

template <template <class> class Way, class P>
int pack_layer(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("int8 layer: %s", reason);
  Way<P>::pack(p, data<int8_t>(call->in[0]), data<int8_t>(call->out[0]), call->threads);
  return 0;
}

template <template <class> class Way, class P>
void add_layer(const char* name, const char* packer) {
  add_with_query(name, run_layer<Way, P>, MX_BIT(I8) | MX_BIT(U8), answer<Way, P>);
  add_with_query(packer, pack_layer<Way, P>, MX_BIT(I8), answer<Way, P>);
}

MX_LEAF_END
#endif
