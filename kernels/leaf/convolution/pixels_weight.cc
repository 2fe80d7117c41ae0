// "conv_train_pixels_weight" (data, output gradient): the weight gradient of a 1 x 1 convolution of
// stride 1 on blocked arrays, a matrix product whose sums run over pixels:
//
//   weight[f][c] = sum over pixels of gradient[pixel][f] * data[pixel][c]
//
// Arrays are read in place, in strips: some pixels of an image, or some whole images of few pixels.
// All pairs of a range of out blocks and one of in blocks use a strip while it is in the caches.
// Strips are divided into parts with their own sums if these are small beside the arrays. Parts
// depend on shapes alone, so that the number of threads does not change the result.
#include "leaf/fused/block.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int kRows = B / 2;           // filters whose sums are in registers
constexpr int kWide = 2;               // in blocks whose sums are in registers
constexpr int64_t kStripPixels = 128;  // at most: kWide blocks of them fit in the first cache
constexpr int64_t kMostOuts = 8, kMostIns = 16;  // blocks whose strips and sums fit in the second
constexpr int64_t kMostParts = 64;
constexpr int64_t kLeastArrays = 16;  // their size as a multiple of that of the parts' sums

// Some pixels of some images; distances between images are in elements.
struct Strip {
  int64_t images, pixels;
  int64_t gradient_image, data_image;
};

// A block of the next strip, which is prefetched during a pass over this one.
struct Ahead {
  const float* block;
  int64_t image, pixel;  // distances
};

// Add a strip's products to the sums of kRows filters and W in blocks, `row` elements apart.
template <int W>
void add_products(const Strip& s, const float* gradient, const float* data, int64_t data_block,
                  float* sums, int64_t row, bool first, const Ahead& ahead) {
  VB acc[kRows][W] = {};
  for (int r = 0; r < kRows; ++r) __builtin_prefetch(sums + r * row, 1);
  for (int64_t image = 0; image < s.images; ++image) {
    const float* left = gradient + image * s.gradient_image;
    const float* right = data + image * s.data_image;
    const float* soon = ahead.block + image * ahead.image;
    for (int64_t i = 0; i < s.pixels; ++i, left += B, right += B, soon += ahead.pixel) {
      __builtin_prefetch(soon, 0, 2);
      VB inputs[W];
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) inputs[w] = load_block(right + w * data_block);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const VB of_filter = splat_block(left[r]);
#pragma GCC unroll 2
        for (int w = 0; w < W; ++w) acc[r][w] = fma(of_filter, inputs[w], acc[r][w]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      float* at = sums + r * row + w * B;
      if (!first) acc[r][w] += load_block(at);
      store_block(at, acc[r][w]);
    }
  }
}

struct Range {
  int64_t begin, end;
};
// One of some ranges of [0, n), as even as possible.
Range range(int64_t n, int64_t i, int64_t ranges) { return {n * i / ranges, n * (i + 1) / ranges}; }

class Gradient {
 public:
  explicit Gradient(const mx_fused_conv_params& p)
      : out_blocks_(p.filters / B), in_blocks_(p.channels / B), images_(p.batch) {
    pixels_ = p.source[1] * p.source[2], plane_ = pixels_ * B;
    cuts_ = ceil_div(pixels_, kStripPixels);
    strip_.pixels = ceil_div(pixels_, cuts_);
    strip_.images = cuts_ > 1 ? 1 : least(images_, kStripPixels / pixels_);
    strip_.gradient_image = out_blocks_ * plane_;
    strip_.data_image = in_blocks_ * plane_;
    strips_ = ceil_div(images_, strip_.images) * cuts_;
    const int64_t arrays = images_ * pixels_ * (p.channels + p.filters);
    parts_ = least(least(arrays / (kLeastArrays * weights()), kMostParts), strips_);
    if (parts_ < 1) parts_ = 1;
  }

  // Of the parts' sums.
  int64_t bytes() const { return parts_ > 1 ? parts_ * weights() * (int64_t)sizeof(float) : 0; }

  void run(const float* data, const float* gradient, float* weight, float* space,
           int threads) const {
    const Grid grid = grid_for(threads);
    const int64_t cells = grid.outs * grid.ins;
    float* sums = parts_ > 1 ? space : weight;
    parallel_for(threads, parts_ * cells, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i / cells, cell = i % cells;
        add_part(data, gradient, sums + part * weights(), range(strips_, part, parts_),
                 range(out_blocks_, cell / grid.ins, grid.outs),
                 range(in_blocks_, cell % grid.ins, grid.ins));
      }
    });
    if (parts_ > 1) add_up(sums, weight, threads);
  }

 private:
  // Numbers of ranges of out and in blocks.
  struct Grid {
    int64_t outs, ins;
  };

  int64_t weights() const { return out_blocks_ * in_blocks_ * B * B; }

  // The grid in which the slowest thread has least to do: pairs of blocks, and blocks to read.
  Grid grid_for(int threads) const {
    Grid best = {1, 1};
    int64_t least_work = INT64_MAX;
    for (int64_t outs = 1; outs <= out_blocks_; outs *= 2) {
      for (int64_t ins = 1; ins <= in_blocks_; ins *= 2) {
        const int64_t o = ceil_div(out_blocks_, outs), i = ceil_div(in_blocks_, ins);
        if (o > kMostOuts || i > kMostIns) continue;
        const int64_t work = ceil_div(parts_ * outs * ins, threads) * (2 * o * i + o + i);
        if (work < least_work) least_work = work, best = {outs, ins};
      }
    }
    return best;
  }

  // Where a strip begins in a block of an array whose images are `image` elements apart.
  int64_t offset(int64_t strip, int64_t image) const {
    return strip / cuts_ * strip_.images * image + strip % cuts_ * strip_.pixels * B;
  }

  // Add the products of some strips, for ranges of blocks.
  void add_part(const float* data, const float* gradient, float* sums, Range strips, Range outs,
                Range ins) const {
    data += ins.begin * plane_, gradient += outs.begin * plane_;
    sums += outs.begin * B * in_blocks_ * B + ins.begin * B;
    for (int64_t s = strips.begin; s < strips.end; ++s) {
      Strip strip = strip_;
      strip.images = least(strip.images, images_ - s / cuts_ * strip.images);
      strip.pixels = least(strip.pixels, pixels_ - s % cuts_ * strip.pixels);
      const int64_t next = s + 1 < strips_ ? s + 1 : s;
      add_strip(strip, {data + offset(s, strip.data_image), data + offset(next, strip.data_image)},
                {gradient + offset(s, strip.gradient_image),
                 gradient + offset(next, strip.gradient_image)},
                sums, outs.end - outs.begin, ins.end - ins.begin, s == strips.begin);
    }
  }

  // Where a strip and the next one begin in an array.
  struct Places {
    const float *at, *next;
  };

  // Add the products of a strip, for all pairs of some blocks. Each pass prefetches a block of the
  // next strip.
  void add_strip(const Strip& strip, Places data, Places gradient, float* sums, int64_t outs,
                 int64_t ins, bool first) const {
    int64_t pass = 0;
    for (int64_t in = 0; in < ins; in += kWide) {
      const auto add = in + kWide <= ins ? add_products<kWide> : add_products<1>;
      for (int64_t row = 0; row < outs * B; row += kRows, ++pass) {
        const float* left = gradient.at + row / B * plane_ + row % B;
        Ahead ahead = {left, 0, 0};
        if (pass < outs) {
          ahead = {gradient.next + pass * plane_, strip.gradient_image, B};
        } else if (pass < outs + ins) {
          ahead = {data.next + (pass - outs) * plane_, strip.data_image, B};
        }
        add(strip, left, data.at + in * plane_, plane_, sums + row * in_blocks_ * B + in * B,
            in_blocks_ * B, first, ahead);
      }
    }
  }

  // Add the parts' sums, in order.
  void add_up(const float* sums, float* weight, int threads) const {
    parallel_for(threads, weights() / B, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin * B; at < end * B; at += B) {
        VB sum = load_block(sums + at);
        for (int64_t part = 1; part < parts_; ++part)
          sum += load_block(sums + part * weights() + at);
        store_block(weight + at, sum);
      }
    });
  }

  int64_t out_blocks_, in_blocks_, images_;
  int64_t pixels_, plane_;  // of an image; elements of a block of an image
  Strip strip_;             // a whole one: images, or pixels of an image
  int64_t cuts_;            // strips of an image; 1: strips are of whole images
  int64_t strips_, parts_;
};

// The reason a call is rejected, or NULL.
const char* refusal(const mx_fused_conv_params& p) {
  if (p.groups != 1) return "there are groups";
  if (p.in_block != B || p.out_block != B) return "arrays are not blocked";
  if (p.channels % B != 0 || p.filters % B != 0) return "channels do not fill blocks";
  if (p.source[0] != 1) return "there are three spatial axes";
  for (int i = 0; i < 3; ++i) {
    if (p.kernel[i] != 1) return "the kernel is longer than 1";
    if (p.stride[i] != 1) return "there is a stride";
    if (p.pad[i] != 0) return "the data is padded";
    if (p.target[i] != p.source[i]) return "the output's size does not match the windows";
  }
  if (p.batch < 1 || p.source[1] < 1 || p.source[2] < 1) return "there are no windows";
  if (p.filters < 1 || p.channels < 1) return "there are no weights";
  return nullptr;
}

const mx_fused_conv_params& params_of(const mx_call* call) {
  return *(const mx_fused_conv_params*)call->params;
}

int run(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_pixels: %s", reason);
  const Gradient whole(p);
  if ((int64_t)call->workspace_size < whole.bytes())
    return mx_fail("conv_pixels: the workspace is too small");
  whole.run(data<float>(call->in[0]), data<float>(call->in[1]), data<float>(call->out[0]),
            (float*)call->workspace, call->threads);
  return 0;
}

int64_t query(const mx_call* call, int32_t what) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = refusal(p)) return refused("conv_pixels", reason, what);
  if (what == MX_QUERY_PACKED) return mx_fail("conv_pixels: plain weights are not packed");
  return what == MX_QUERY_WORKSPACE ? Gradient(p).bytes() : 1;
}

}  // namespace

void register_pixels_weight() {
  add_with_query("conv_train_pixels_weight", run, MX_BIT(F32), query);
}
MX_LEAF_END
