// "conv_winograd_phases": Winograd's form for 7 x 7 convolutions at steps of 2 of plain images with
// up to 4 channels, such as the first layer of a ResNet.
//
// Pixels whose rows and columns have the same remainders modulo 2 form an image of half the size, a
// phase. Over the 4 phases of all channels, a block of channels, the filters have 4 x 4 taps at
// steps of 1; the eighth row and column of taps are zeros.
#include "core/memory/scratch.h"
#include "leaf/convolution/winograd_form.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

typedef mx_fused_conv_params P;
typedef Form<Toom<4, 4>, Toom<4, 4>> Phases;

constexpr int B = kBlockLanes;
constexpr int64_t kTaps = 7, kHalf = 4, kMostChannels = 4;

const P& params_of(const mx_call* call) { return *(const P*)call->params; }

// The convolution of one image's phases.
P phases_of(const P& p) {
  P of = p;
  of.batch = 1;
  of.channels = round_up(4 * p.channels, (int64_t)B);
  of.in_block = B;
  for (int i = 1; i < 3; ++i) {
    of.kernel[i] = kHalf, of.stride[i] = 1, of.pad[i] = 0;
    of.source[i] = p.target[i] + kHalf - 1;
  }
  return of;
}

// Row y of the phases of an image, as blocks of channels (channel, y % 2, x % 2).
void fill_row(const P& p, const P& of, const float* image, int64_t y, float* phases) {
  const int64_t height = p.source[1], width = p.source[2], columns = of.source[2];
  for (int64_t block = 0; block < of.channels / B; ++block) {
    memset(phases + (block * of.source[1] + y) * columns * B, 0, columns * B * sizeof(float));
  }
  for (int64_t pair = 0; pair < 2 * p.channels; ++pair) {
    const int64_t row = 2 * y + pair % 2 - p.pad[1], channel = 2 * pair;
    if (row < 0 || row >= height) continue;
    const float* from = image + (pair / 2 * height + row) * width;
    float* to = phases + ((channel / B * of.source[1] + y) * columns) * B + channel % B;
    for (int64_t x = 0, at = -p.pad[2]; x < columns; ++x, at += 2, to += B) {
      if (at >= 0 && at < width) to[0] = from[at];
      if (at + 1 >= 0 && at + 1 < width) to[1] = from[at + 1];
    }
  }
}

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  for (int i = 1; i < 3; ++i) {
    if (p.kernel[i] != kTaps) return "the kernel is not 7 x 7";
    if (p.stride[i] != 2 || p.dilate[i] != 1)
      return "the steps are not 2, or the kernel is dilated";
  }
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.in_block != 0 || p.channels < 1 || p.channels > kMostChannels)
    return "the data is not a plain image with up to 4 channels";
  if (p.out_block != B || p.filters < 1 || p.filters % B)
    return "the output is not blocked by this CPU's block size";
  if (p.sum || p.before != kNothing) return "sums and scaling are not supported";
  return nullptr;
}

// Bytes of an image's phases, which come first in the workspace, and of all of it.
int64_t phases_size(const P& of) {
  return of.channels * of.source[1] * of.source[2] * (int64_t)sizeof(float);
}
int64_t workspace(const P& of, int threads) {
  return phases_size(of) + Phases::workspace(of, threads);
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = params_of(call);
  if (const char* reason = refusal(p)) return refused("conv_winograd_phases", reason, what);
  const P of = phases_of(p);
  if (what == MX_QUERY_PACKED) return Phases::packed(of);
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return workspace(of, threads); });
}

int convolve(const mx_call* call) {
  const P& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_winograd_phases: %s", reason);
  const P of = phases_of(p);
  mx_call inner = *call;
  inner.threads = threads_with_room(call, [&](int team) { return workspace(of, team); });
  if (!inner.threads) return mx_fail("conv_winograd_phases: the workspace is too small");
  float* phases = (float*)call->workspace;
  mx_tensor ins[3] = {call->in[0], call->in[1], call->nin > 2 ? call->in[2] : call->in[0]};
  mx_tensor out = call->out[0];
  ins[0].data = phases;
  inner.in = ins, inner.out = &out;
  inner.workspace = (char*)call->workspace + phases_size(of);
  inner.workspace_size = call->workspace_size - phases_size(of);
  for (int64_t i = 0; i < p.batch; ++i) {
    const float* image = data<float>(call->in[0]) + i * p.channels * p.source[1] * p.source[2];
    out.data = data<float>(call->out[0]) + i * p.filters * p.target[1] * p.target[2];
    parallel_for(inner.threads, of.source[1], 1, [&](int64_t begin, int64_t end) {
      for (int64_t y = begin; y < end; ++y) fill_row(p, of, image, y, phases);
    });
    if (Phases::run(&inner, of) != 0) return -1;
  }
  return 0;
}

int pack(const mx_call* call) {
  const P& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("conv_winograd_phases_pack: %s", reason);
  const P of = phases_of(p);
  const int64_t taps = kHalf * kHalf, size = p.filters * of.channels * taps;
  float* weight = (float*)scratch(kPackSlot, (size_t)size * sizeof(float));
  if (!weight) return mx_fail("conv_winograd_phases_pack: out of memory");
  memset(weight, 0, (size_t)size * sizeof(float));
  const float* from = data<float>(call->in[0]);
  for (int64_t f = 0; f < p.filters; ++f) {
    for (int64_t c = 0; c < p.channels; ++c) {
      for (int64_t y = 0; y < kTaps; ++y) {
        for (int64_t x = 0; x < kTaps; ++x) {
          const int64_t channel = 4 * c + y % 2 * 2 + x % 2;
          weight[(f * of.channels + channel) * taps + y / 2 * kHalf + x / 2] = *from++;
        }
      }
    }
  }
  mx_tensor in = call->in[0];
  in.data = weight;
  mx_call inner = *call;
  inner.in = &in;
  return Phases::pack(&inner, of, false);
}

}  // namespace

void register_winograd_phases() {
  add_with_query("conv_winograd_phases", convolve, MX_BIT(F32), query);
  add_with_query("conv_winograd_phases_pack", pack, MX_BIT(F32), query);
}
MX_LEAF_END
