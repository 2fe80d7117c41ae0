// "conv_tiles": float32 convolutions of blocked activations with AMX, over operands in three parts
// of bfloat16 each (see matrix/parts.h): products of pixels and filters, whose k runs over the taps
// and, for each, over the channels. "conv_tiles_pack" orders the weights, which are split when they
// are read.
#include "leaf/fused/block.h"
#include "leaf/matrix/parts_product.h"
#include "leaf/matrix/teams.h"
#include "leaf/queries.h"
#include "leaf/simd/bf16.h"

#if MX_ISA_LEVEL == 4
#include "tiles.h"

MX_LEAF_BEGIN
namespace {

typedef mx_fused_conv_params P;
constexpr int64_t B = kBlockLanes;
static_assert(B == kHalf && 2 * B == kStepDepth, "a step of k has two blocks of channels");

int64_t taps_of(const P& p) { return p.kernel[1] * p.kernel[2]; }
int64_t pixels_of(const P& p) { return p.target[1] * p.target[2]; }
int64_t depth_of(const P& p) { return taps_of(p) * p.channels; }

// The data under the windows: a row for each pixel of the results of all images.
struct Windows {
  const P& p;
  const float *data, *scale, *shift;  // of the preprocessing, or NULL
  float low;                          // its lower bound

  int64_t plane() const { return p.source[1] * p.source[2] * B; }
  int64_t blocks() const { return p.channels / B; }

  MX_INLINE VF read(const float* from, int64_t block) const {
    const VF x = load(from + block * plane());
    if (!scale) return x;
    const VF scaled = fma(x, load(scale + block * B), load(shift + block * B));
    const VF lowest = splat<VF>(low);
    return lowest > scaled ? lowest : scaled;  // NaN passes
  }

  // The first blocks of channels of some rows under a tap; NULL outside of the image.
  void find(int64_t row, int64_t count, int64_t tap, const float** from) const {
    const int64_t down = tap / p.kernel[2] * p.dilate[1] - p.pad[1];
    const int64_t right = tap % p.kernel[2] * p.dilate[2] - p.pad[2];
    int64_t image = row / pixels_of(p), y = row % pixels_of(p) / p.target[2];
    int64_t x = row % p.target[2];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t under_y = y * p.stride[1] + down, under_x = x * p.stride[2] + right;
      const bool inside =
          (uint64_t)under_y < (uint64_t)p.source[1] && (uint64_t)under_x < (uint64_t)p.source[2];
      from[i] = inside ? data + image * blocks() * plane() + (under_y * p.source[2] + under_x) * B
                       : nullptr;
      if (++x < p.target[2]) continue;
      x = 0;
      if (++y == p.target[1]) y = 0, ++image;
    }
  }

  // Blocks of channels of 16 rows, tap by tap; zeros behind the last tap.
  struct Reader {
    const Windows& windows;
    int64_t row, count, tap = -1;
    const float* from[kHalf] = {};

    MX_INLINE void read(int64_t unit, VF (&values)[kHalf]) {
      const int64_t blocks = windows.blocks(), block = unit % blocks;
      if (unit / blocks != tap) {
        tap = unit / blocks;
        if (tap < taps_of(windows.p)) {
          windows.find(row, count, tap, from);
        } else {
          for (const float*& place : from) place = nullptr;
        }
      }
      for (int64_t i = 0; i < kHalf; ++i) values[i] = from[i] ? windows.read(from[i], block) : VF{};
    }
  };

  // See PlainRows.
  void pack(int64_t begin, int64_t end, int64_t step, int64_t count, uint16_t* to) const {
    for (int64_t i = begin; i < end; i += kHalf) {
      Reader reader = {*this, i, least(kHalf, end - i)};
      uint16_t* tiles = to + (i - begin) / kSide * count * kStepElements +
                        (i - begin) / kHalf % 2 * kTileElements;
      for (int64_t s = step; s < step + count; ++s, tiles += kStepElements) {
        VF low[kHalf], high[kHalf];
        reader.read(2 * s, low), reader.read(2 * s + 1, high);
        for (int64_t r = 0; r < kHalf; ++r)
          write_row<false>(low[r], high[r], tiles + r * kStepDepth);
      }
    }
  }
  float at(int64_t i, int64_t k) const {
    const int64_t block = k / B % blocks(), tap = k / p.channels;
    const float* from;
    find(i, 1, tap, &from);
    return from ? read(from, block)[k % B] : 0;
  }
};

Windows windows_of(const mx_call* call, const P& p) {
  const float* in = data<float>(call->in[0]);
  if (p.before == kNothing) return {p, in, nullptr, nullptr, 0};
  const int at = p.bias ? 3 : 2;
  return {p, in, data<float>(call->in[at]), data<float>(call->in[at + 1]),
          p.before == kScaleRelu ? 0 : -__builtin_inff()};
}

// Writes sums with bias, addend and activation to blocked results.
template <int kind>
struct BlockedResults {
  const P& p;
  const Finish finish;

  void operator()(const float* sums, int64_t row, int64_t rows, int64_t column) const {
    const int64_t pixels = pixels_of(p), blocks = p.filters / B;
    for (int64_t block = column / B; block < least(blocks, (column + kSide) / B); ++block) {
      const VB bias = finish.bias_of(block);
      int64_t image = row / pixels, pixel = row % pixels;
      const float* from = sums + block % 2 * B;
      for (int64_t i = 0; i < rows; ++i, from += kSide) {
        finish.write<kind>(((image * blocks + block) * pixels + pixel) * B, load_block(from), bias);
        if (++pixel == pixels) pixel = 0, ++image;
      }
    }
  }
};

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (!tiles_allowed() || !multiplies_bf16()) return "this CPU has no AMX-BF16";
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.in_block != B || p.out_block != B)
    return "the data is not blocked by this CPU's block size";
  if (p.batch * pixels_of(p) * p.filters * depth_of(p) < 1 << 24)
    return "too small to profit from AMX";
  return nullptr;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("conv_tiles", reason, what);
  if (what == MX_QUERY_PACKED)
    return OrderedColumns::size(p.filters, depth_of(p)) * (int64_t)sizeof(float);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;  // accepted; there is a single layout
}

int conv_tiles(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("conv_tiles: %s", reason);
  const Windows windows = windows_of(call, p);
  const OrderedColumns weights = {data<float>(call->in[1]), depth_of(p)};
  bool good = true;
  with_activation(p.act, [&](auto act) {
    const BlockedResults<decltype(act)::value> results = {p, finish_of(call, p)};
    good = for_parts<float>(call->threads, p.batch * pixels_of(p), kHalf, p.filters, kSide,
                            [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
                              return PartsProduct(windows, weights, depth_of(p), results)
                                  .compute(i, rows_end, j, columns_end);
                            });
  });
  return good ? 0 : -1;
}

int conv_tiles_pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("conv_tiles_pack: %s", reason);
  const int64_t depth = depth_of(p), taps = taps_of(p);
  const float* weight = data<float>(call->in[0]);
  float* ordered = data<float>(call->out[0]);
  return parallel_try(call->threads, p.filters, kSide, [&](int64_t begin, int64_t end) {
    float* some = (float*)scratch(kTempSlot, (size_t)(kSide * depth) * sizeof(float));
    if (!some) return false;
    for (int64_t first = begin; first < end; first += kSide) {
      const int64_t count = least(kSide, end - first);
      const float* from = weight + first * depth;  // of (filters, channels, taps)
      for (int64_t f = 0; f < count; ++f)
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = 0; c < p.channels; ++c)
            some[f * depth + tap * p.channels + c] = from[f * depth + c * taps + tap];
      order_columns({some, depth, false}, 0, count, depth,
                    ordered + OrderedColumns::size(first, depth));
    }
    return true;
  });
}

}  // namespace

void register_conv_tiles_float() {
  if (!tiles_allowed() || !multiplies_bf16()) return;
  add_with_query("conv_tiles", conv_tiles, MX_BIT(F32), query);
  add_with_query("conv_tiles_pack", conv_tiles_pack, MX_BIT(F32), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_conv_tiles_float() {}  // requires AMX
MX_LEAF_END
#endif
