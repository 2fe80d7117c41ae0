// "conv_blocked": direct convolution with packed weights, from blocked activations or a plain image
// with few channels to blocked activations. Blocked data can be scaled, shifted and passed through
// a ReLU while it is copied into the band. "conv_blocked_pack" packs the weights as [panel][in
// block][tap][channel of the block][out channel of the panel].
#include "leaf/convolution/direct_cut.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {
using namespace direct;

constexpr int64_t kStridedAhead = 2;  // prefetch distance of strided pixels, in planes

// Copy n pixels with a stride, which is a template constant where that allows vectorisation.
template <int stride>
void take_numbers(float* to, const float* from, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] = from[j * stride];
}
void take_columns(float* to, const float* from, int64_t n, int64_t stride, int64_t run,
                  int64_t ahead) {
  if (n <= 0) return;
  if (stride == 1) {
    memcpy(to, from, n * run * sizeof(float));
  } else if (run == B) {
    for (int64_t j = 0; j < n; ++j) {
      __builtin_prefetch(from + j * stride * B + ahead);
      store_block(to + j * B, load_block(from + j * stride * B));
    }
  } else if (stride == 2) {
    take_numbers<2>(to, from, n);
  } else if (stride == 4) {
    take_numbers<4>(to, from, n);
  } else {
    for (int64_t j = 0; j < n; ++j) to[j] = from[j * stride];
  }
}

// Preprocessing of the data on its way into the band: x * scale + shift per channel.
struct Before {
  const float *scale, *shift;  // or NULL
  float low;                   // lower bound

  // Apply it to n pixels of a plane.
  void apply(float* pixels, int64_t n, int64_t plane) const {
    if (!scale) return;
    const VB factor = load_block(scale + plane * B), offset = load_block(shift + plane * B);
    const VB lowest = splat_block(low);
    for (int64_t i = 0; i < n; ++i, pixels += B) {
      const VB x = fma(load_block(pixels), factor, offset);
      store_block(pixels, lowest > x ? lowest : x);  // NaN passes
    }
  }
};

// Copy the rows under output rows [first, first + rows) of an image, in the layout of direct.h.
void fill_band(const Shape& s, const Before& before, const float* image, float* band, int64_t first,
               int64_t rows) {
  const int64_t run = s.run, phase = s.phase(), top = first * s.stride_y - s.pad_y;
  const int64_t under = s.rows_under(rows);
  for (int64_t plane = 0; plane < s.in_planes; ++plane, image += s.height * s.width * run) {
    for (int64_t y = 0; y < under; ++y) {
      const int64_t row = top + y / s.band_step() * s.stride_y + y % s.band_step();
      const bool inside = row >= 0 && row < s.height;
      const float* from = image + row * s.width * run;
      for (int64_t i = 0; i < s.phases(); ++i, band += phase * run) {
        // Column j of this phase is column i + j * stride - pad of the image.
        const Span span(i - s.pad_x, s.stride_x, inside ? s.width : 0, phase);
        const int64_t low = inside ? span.low : 0, high = inside ? span.high : 0;
        memset(band, 0, low * run * sizeof(float));
        take_columns(band + low * run, from + (i - s.pad_x + low * s.stride_x) * run, high - low,
                     s.stride_x, run, kStridedAhead * s.height * s.width * run);
        before.apply(band + low * run, high - low, plane);
        memset(band + high * run, 0, (phase - high) * run * sizeof(float));
      }
    }
  }
}

// The band of some output rows, or of as many columns of a flat image.
Reach reach_of(const Shape& s, const Cut& cut, int64_t rows) {
  Reach reach;
  reach.ahead = cut.ahead;
  reach.blocks = s.in_planes;
  reach.plane = s.direct ? s.width * s.run
                : s.flat ? rows * s.run
                         : s.rows_under(rows) * s.band_row();
  reach.row = s.band_step() * s.band_row();
  reach.last = (int)s.last;
  reach.taps = 0;
  for (int64_t y = 0; y < s.taps_y; ++y) {
    for (int64_t x = 0; x < s.taps_x; ++x) {
      const int64_t column = x * s.dilate_x;
      reach.offset[reach.taps++] = y * s.dilate_y * s.band_row() +
                                   (column % s.stride_x * s.phase() + column / s.stride_x) * s.run;
    }
  }
  return reach;
}

// Other activations are applied to the stored results.
bool is_bound(int act) { return act == kNoAct || act == kRelu || act == kClip; }

Before before_of(const mx_call* call, const mx_fused_conv_params& p) {
  if (p.before == kNothing) return {nullptr, nullptr, 0};
  const int at = p.bias ? 3 : 2;
  return {data<float>(call->in[at]), data<float>(call->in[at + 1]),
          p.before == kScaleRelu ? 0 : -__builtin_inff()};
}

struct Work {
  Shape shape;
  Cut cut;
  Before before;
  Finish finish;
  const float *in, *weights;
  float low, high;
};

// Compute output columns [x, x + count) of row y, in out blocks [begin, end) of an image. `sum`
// gets the offset of a tile in the data.
template <class Sum>
void columns_of(const Work& work, int64_t image, int64_t y, int64_t x, int64_t count, int64_t begin,
                int64_t end, const Sum& sum) {
  const Shape& s = work.shape;
  const Finish& finish = work.finish;
  const int64_t plane = s.out_height * s.out_width * B;
  const int64_t groups = ceil_div(count, kColumns), each = ceil_div(count, groups);
  const int outs = (int)(end - begin);
  for (int64_t i = 0; i < count; i += each) {
    const int columns = (int)least(each, count - i);
    const int64_t at = (image * s.out_blocks + begin) * plane + (y * s.out_width + x + i) * B;
    const Sink sink = {finish.out + at,
                       finish.other ? finish.other + at : nullptr,
                       finish.bias ? finish.bias + begin * B : nullptr,
                       plane,
                       work.low,
                       work.high};
    sum(columns, outs, i * s.run, work.weights + begin * B * s.depth(), sink);
    if (is_bound(finish.act)) continue;
    for (int w = 0; w < outs; ++w) {
      activate_row(sink.out + w * plane, columns * B, finish.act, finish.alpha, finish.beta);
    }
  }
}

// Prefetching of the panel behind that of out block o, shared by some sums, if it begins before
// `end`.
Prefetch coming_after(const Work& work, int64_t o, int64_t end, int64_t sums) {
  const int64_t next = o + kPanelBlocks;
  if (next >= end) return {nullptr, 0};
  return Prefetch::panel(work.weights + next * B * work.shape.depth(),
                         (int)least(kPanelBlocks, end - next), sums);
}

// Compute one piece of an image, in out blocks [begin, end), which are panel-aligned.
void piece_of(const Work& work, float* band, int64_t image, int64_t piece, int64_t begin,
              int64_t end) {
  const Shape& s = work.shape;
  const float* in = work.in + image * s.in_planes * s.height * s.width * s.run;
  const int64_t extent = s.flat ? s.out_width : s.out_height;
  const int64_t most = s.flat ? work.cut.columns : work.cut.rows;
  const int64_t first = piece * most, size = least(most, extent - first);
  const Reach reach = reach_of(s, work.cut, size);
  if (!s.flat) fill_band(s, work.before, in, band, first, size);
  const Scaled scaled = {in + first * s.run, s.width * s.run, work.before.scale, work.before.shift,
                         work.before.low};
  const int64_t rows = s.one_row() ? 1 : size;
  const int64_t columns = s.flat ? size : size * s.out_width / rows;
  const int64_t most_rows = s.run == B && 2 * columns <= kColumns ? 2 : 1;  // of a tile
  const int64_t tiles = ceil_div(rows, most_rows) * ceil_div(columns, kColumns);
  for (int64_t o = begin; o < end; o += kPanelBlocks) {
    const int64_t last = least(o + kPanelBlocks, end);
    Prefetch prefetch = coming_after(work, o, end, tiles);
    const bool half = s.half && last == s.out_blocks;
    // The first panel scales flat data and leaves it in the band for the others.
    const bool scales = s.flat && !s.direct && o == begin;
    for (int64_t y = 0, some; y < rows; y += some) {
      some = least(most_rows, rows - y);
      const float* row = s.direct ? in + first * s.run : band + y * reach.row;
      columns_of(work, image, s.flat ? 0 : first + y, s.flat ? first : 0, some * columns, o, last,
                 [&](int n, int outs, int64_t at, const float* weights, const Sink& sink) {
                   if (!scales) {
                     return direct_sum(s.run == B, (int)some, n, outs, half, reach, row + at,
                                       weights, sink, &prefetch);
                   }
                   Scaled tile = scaled;
                   tile.from += at;
                   direct_sum_scaled(n, outs, reach, tile, band + at, weights, sink, &prefetch);
                 });
    }
  }
}

// Where part `part` of an image's tiles begins, if they are numbered panel by panel. Those of a
// last panel with one out block take half of the time.
int64_t tile_of(const Shape& s, int64_t part, int parts) {
  const int64_t halves = s.out_blocks * s.tiles() * part / parts;
  const int64_t whole = s.out_blocks / kPanelBlocks * s.tiles();
  return halves < kPanelBlocks * whole ? halves / kPanelBlocks
                                       : halves - (kPanelBlocks - 1) * whole;
}

// Compute tiles [begin, end) of a single image, which is read without a band.
void tiles_of(const Work& work, int64_t begin, int64_t end) {
  const Shape& s = work.shape;
  const int64_t tiles = s.tiles();
  const Reach reach = reach_of(s, work.cut, s.out_width);
  for (int64_t stop; begin < end; begin = stop) {
    const int64_t panel = begin / tiles, o = panel * kPanelBlocks;
    stop = least(end, (panel + 1) * tiles);
    const int64_t x = (begin - panel * tiles) * s.out_width / tiles;
    const int64_t behind = (stop - panel * tiles) * s.out_width / tiles;
    Prefetch prefetch = coming_after(work, o, stop < end ? s.out_blocks : 0, stop - begin);
    const int64_t last = least(o + kPanelBlocks, s.out_blocks);
    const bool half = s.half && last == s.out_blocks;
    columns_of(work, 0, 0, x, behind - x, o, last,
               [&](int n, int outs, int64_t at, const float* weights, const Sink& sink) {
                 direct_sum(s.run == B, 1, n, outs, half, reach, work.in + x * s.run + at, weights,
                            sink, &prefetch);
               });
  }
}

const mx_fused_conv_params& params_of(const mx_call* call) {
  return *(const mx_fused_conv_params*)call->params;
}

// The reason the kernel rejects a call, or NULL.
const char* refusal(const mx_fused_conv_params& p) {
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.out_block != B) return "the output is not blocked by this CPU's block size";
  if (p.in_block != B && p.in_block != 0) return "the data is not blocked by this CPU's block size";
  if (p.filters < 1 || p.filters % B || p.channels < 1 || (p.in_block && p.channels % B))
    return "the channels are not a multiple of the block size";
  if (p.before != kNothing && !p.in_block) return "scaling of unblocked data is not supported";
  if (p.kernel[1] * p.kernel[2] > kMaxTaps) return "the kernel is too large";
  return nullptr;
}

// The convolution of the pixels that a strided 1 x 1 convolution reads.
mx_fused_conv_params sampled(const mx_fused_conv_params& p) {
  mx_fused_conv_params flat = p;
  for (int i = 0; i < 3; ++i) flat.source[i] = p.target[i], flat.stride[i] = 1;
  return flat;
}

// Whether the team copies these pixels once, as too many threads would do so otherwise.
bool samples(const mx_fused_conv_params& p, const Shape& s, const Cut& cut) {
  return cut.sides >= kLeastSharers && s.run == B && s.taps_y * s.taps_x == 1 &&
         s.pad_y + s.pad_x == 0 && s.stride_y * s.stride_x > 1 && p.before == kNothing;
}
int64_t sample_size(const mx_fused_conv_params& p, const Shape& s) {
  return p.batch * s.in_planes * s.out_height * s.out_width * B;
}

int64_t workspace(const mx_fused_conv_params& p, int threads) {
  const Shape shape(p);
  const Cut cut(shape, p.batch, threads);
  const int64_t band = samples(p, shape, cut) ? sample_size(p, shape) : threads * cut.band(shape);
  return band * (int64_t)sizeof(float);
}

int64_t query(const mx_call* call, int32_t what) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return refused("conv_blocked", reason, what);
  if (what == MX_QUERY_PACKED)
    return (p.filters - (has_half(p) ? B / 2 : 0)) * Shape(p).depth() * (int64_t)sizeof(float);
  // Accepted; there is a single layout of weights per in_block.
  if (what != MX_QUERY_WORKSPACE) return 1;
  return workspace_of_any_team([&](int threads) { return workspace(p, threads); });
}

// Compute one thread's part of the work.
void compute_part(const Work& work, int64_t images, float* bands, int64_t part, int threads) {
  const Shape& s = work.shape;
  const Cut& cut = work.cut;
  if (cut.spread) return tiles_of(work, tile_of(s, part, threads), tile_of(s, part + 1, threads));
  if (part >= cut.ways * cut.sides) return;
  const int64_t units = images * cut.pieces, each = ceil_div(units, cut.ways);
  const int64_t blocks = ceil_div(ceil_div(s.out_blocks, kPanelBlocks), cut.sides) * kPanelBlocks;
  const int64_t begin = part / cut.sides * each, o = part % cut.sides * blocks;
  for (int64_t i = begin; i < least(begin + each, units); ++i) {
    piece_of(work, bands + part * cut.band(s), i / cut.pieces, i % cut.pieces, o,
             least(o + blocks, s.out_blocks));
  }
}

Work work_of(const mx_call* call, const mx_fused_conv_params& p, const float* in, int threads) {
  const Shape shape(p);
  const bool clips = p.act == kClip;
  const float low = p.act == kRelu ? 0 : clips ? (float)p.alpha : -__builtin_inff();
  const float high = clips ? (float)p.beta : __builtin_inff();
  return {shape,
          Cut(shape, p.batch, threads),
          before_of(call, p),
          finish_of(call, p),
          in,
          data<float>(call->in[1]),
          low,
          high};
}

// Copy the pixels that a strided 1 x 1 convolution reads, then multiply them.
void compute_sampled(const mx_call* call, const mx_fused_conv_params& p, const Shape& s,
                     int threads) {
  float* sample = (float*)call->workspace;
  const float* in = data<float>(call->in[0]);
  const mx_fused_conv_params flat = sampled(p);
  const Work work = work_of(call, flat, sample, threads);
  const int64_t plane = s.height * s.width * B, row = s.out_width * B;
  parallel_team(threads, [&](const TeamMember& member) {
    const int64_t rows = p.batch * s.in_planes * s.out_height;
    for (int64_t i = member.begin(rows); i < member.end(rows); ++i) {
      const int64_t y = i % s.out_height * s.stride_y;
      take_columns(sample + i * row, in + i / s.out_height * plane + y * s.width * B, s.out_width,
                   s.stride_x, B, kStridedAhead * plane);
    }
    member.barrier();
    for (int64_t part = member.rank; part < threads; part += member.ranks) {
      compute_part(work, p.batch, nullptr, part, threads);
    }
  });
}

int conv_blocked(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_blocked: %s", reason);
  const int threads = threads_with_room(call, [&](int team) { return workspace(p, team); });
  if (!threads) return mx_fail("conv_blocked: the workspace is too small");
  const Work work = work_of(call, p, data<float>(call->in[0]), threads);
  if (samples(p, work.shape, work.cut)) {
    compute_sampled(call, p, work.shape, threads);
    return 0;
  }
  parallel_for(threads, threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      compute_part(work, p.batch, (float*)call->workspace, part, threads);
    }
  });
  return 0;
}

int conv_blocked_pack(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_blocked_pack: %s", reason);
  constexpr int64_t kWidth = kPanelBlocks * B;
  const int64_t run = p.in_block ? B : 1, taps = p.kernel[1] * p.kernel[2];
  const int64_t channels = p.channels - spare_channels(p);
  const int64_t filters = p.filters - (has_half(p) ? B / 2 : 0);
  const float* weight = data<float>(call->in[0]);
  float* packed = data<float>(call->out[0]);
  parallel_for(call->threads, filters, kWidth, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kWidth) {
      const int64_t width = least(kWidth, end - first);
      float* to = packed + first * channels * taps;
      for (int64_t c0 = 0; c0 < channels; c0 += run) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          for (int64_t c = c0; c < least(c0 + run, channels); ++c, to += width) {
            for (int64_t f = 0; f < width; ++f) {
              to[f] = weight[((first + f) * p.channels + c) * taps + tap];
            }
          }
        }
      }
    }
  });
  return 0;
}

}  // namespace

void register_direct() {
  add_with_query("conv_blocked", conv_blocked, MX_BIT(F32), query);
  add_with_query("conv_blocked_pack", conv_blocked_pack, MX_BIT(F32), query);
}
MX_LEAF_END
