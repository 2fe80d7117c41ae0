// "conv_winograd_plain" (data, weight[, bias]) and "conv_winograd_data" (output gradient, weight[,
// bias]): Winograd convolution of plain arrays. Weights are packed and arrays converted to blocks
// on the fly, some images at a time; channels are padded with zeros to whole blocks.
#include "leaf/convolution/winograd_blocks.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
// Bytes of blocked arrays at a time, unless a single image takes more.
constexpr int64_t kSlice = 64 << 20;

// The blocked convolution to compute: some of the images, with channels in whole blocks.
struct Problem {
  mx_fused_conv_params p;
  int64_t channels, filters;  // without padding
  bool transposed;            // the weights are those of the transposed convolution

  Problem(const mx_conv_params& of, bool transpose) : p(), transposed(transpose) {
    channels = transpose ? of.filters : of.channels;
    filters = transpose ? of.channels : of.filters;
    p.groups = of.groups;
    p.channels = round_up(channels, B);
    p.filters = round_up(filters, B);
    p.in_block = p.out_block = B;
    for (int i = 0; i < 3; ++i) {
      p.source[i] = transpose ? of.target[i] : of.source[i];
      p.target[i] = transpose ? of.source[i] : of.target[i];
      p.kernel[i] = of.kernel[i];
      p.stride[i] = of.stride[i];
      p.dilate[i] = of.dilate[i];
      p.pad[i] = transpose ? of.kernel[i] - 1 - of.pad[i] : of.pad[i];
    }
    const int64_t bytes = (in_size() + out_size()) * (int64_t)sizeof(float);
    const int64_t some = bytes > 0 ? kSlice / bytes : of.batch;
    p.batch = least(of.batch, some > 1 ? some : 1);
  }
  // Elements of a blocked image.
  int64_t in_size() const { return p.channels * p.source[1] * p.source[2]; }
  int64_t out_size() const { return p.filters * p.target[1] * p.target[2]; }
};

// Offsets in the workspace, in bytes.
struct WorkspaceLayout {
  int64_t packed, weight, bias, in, out, inner, all;

  static int64_t whole_lines(int64_t bytes) { return round_up(bytes, 64); }
  explicit WorkspaceLayout(const Problem& problem, const WinogradEntry& entry, int threads) {
    const mx_fused_conv_params& p = problem.p;
    const int64_t size = sizeof(float);
    const bool filled = p.channels != problem.channels || p.filters != problem.filters;
    packed = 0;
    weight = packed + whole_lines(entry.packed(p));
    bias = weight +
           (filled ? whole_lines(p.channels * p.filters * p.kernel[1] * p.kernel[2] * size) : 0);
    in = bias + whole_lines(p.filters * size);
    out = in + whole_lines(p.batch * problem.in_size() * size);
    inner = out + whole_lines(p.batch * problem.out_size() * size);
    all = inner + entry.workspace(p, threads);
  }
};

// The weights in their original order, with zeros for padding channels.
void fill_weight(const Problem& problem, const float* from, float* to) {
  const mx_fused_conv_params& p = problem.p;
  const int64_t taps = p.kernel[1] * p.kernel[2];
  const int64_t rows = problem.transposed ? p.channels : p.filters;
  const int64_t row = (problem.transposed ? p.filters : p.channels) * taps;
  const int64_t weight_rows = problem.transposed ? problem.channels : problem.filters;
  const int64_t weight_row = (problem.transposed ? problem.filters : problem.channels) * taps;
  for (int64_t i = 0; i < rows; ++i, to += row) {
    const int64_t some = i < weight_rows ? weight_row : 0;
    memcpy(to, from + i * weight_row, some * sizeof(float));
    memset(to + some, 0, (row - some) * sizeof(float));
  }
}

template <bool transpose>
int run(const mx_call* original) {
  mx_call own = *original;
  const mx_call* call = &own;
  const auto& of = *(const mx_conv_params*)call->params;
  Problem problem(of, transpose);
  mx_fused_conv_params& p = problem.p;
  if (const char* reason = winograd_refusal(p)) return mx_fail("conv_winograd: %s", reason);
  const WinogradEntry& entry = *winograd_entry(p);
  own.threads = threads_with_room(
      original, [&](int team) { return WorkspaceLayout(problem, entry, team).all; });
  if (!own.threads) return mx_fail("conv_winograd: the workspace is too small");
  const WorkspaceLayout layout(problem, entry, own.threads);
  char* space = (char*)call->workspace;
  float *in = (float*)(space + layout.in), *out = (float*)(space + layout.out);

  mx_tensor weight = call->in[1], packed = weight;
  if (layout.bias > layout.weight) {
    weight.data = space + layout.weight;
    fill_weight(problem, data<float>(call->in[1]), data<float>(weight));
  }
  packed.data = space + layout.packed;
  mx_call pack = *call;
  pack.in = &weight, pack.out = &packed;
  entry.pack(&pack, p, transpose);

  mx_tensor ins[3] = {call->in[0], packed, weight};
  mx_tensor result = call->out[0];
  ins[0].data = in, ins[2].data = space + layout.bias, result.data = out;
  if (call->nin > 2) {
    p.bias = 1;
    memset(ins[2].data, 0, p.filters * sizeof(float));
    memcpy(ins[2].data, call->in[2].data, problem.filters * sizeof(float));
  }
  mx_call inner = *call;
  inner.in = ins, inner.out = &result;
  inner.workspace = space + layout.inner;
  inner.workspace_size = call->workspace_size - layout.inner;

  const int64_t source = p.source[1] * p.source[2], target = p.target[1] * p.target[2];
  const int64_t slice = p.batch;
  for (int64_t first = 0; first < of.batch; first += slice) {
    p.batch = least(slice, of.batch - first);
    to_blocks(data<float>(call->in[0]) + first * problem.channels * source, in, p.batch,
              problem.channels, source, call->threads);
    if (entry.run(&inner, p) != 0) return -1;
    from_blocks(out, data<float>(call->out[0]) + first * problem.filters * target, p.batch,
                problem.filters, target, call->threads);
  }
  return 0;
}

template <bool transpose>
int64_t query(const mx_call* call, int32_t what) {
  const Problem problem(*(const mx_conv_params*)call->params, transpose);
  const char* reason = winograd_refusal(problem.p);
  if (!reason) {
    const mx_fused_conv_params& p = problem.p;
    for (int i = 0; i < 3; ++i) {
      if (p.pad[i] < 0) reason = "the padding is wider than the kernel";
      if (p.target[i] != p.source[i] + 2 * p.pad[i] - p.kernel[i] + 1)
        reason = "the output's size does not match the windows";
    }
  }
  if (reason) return refused("conv_winograd", reason, what);
  if (what == MX_QUERY_PACKED) return mx_fail("conv_winograd: plain weights are not packed");
  if (what != MX_QUERY_WORKSPACE) return 1;
  const WinogradEntry& entry = *winograd_entry(problem.p);
  return workspace_of_any_team(
      [&](int threads) { return WorkspaceLayout(problem, entry, threads).all; });
}

}  // namespace

void register_winograd_plain() {
  add_with_query("conv_winograd_plain", run<false>, MX_BIT(F32), query<false>);
  add_with_query("conv_winograd_data", run<true>, MX_BIT(F32), query<true>);
}
MX_LEAF_END
