// "conv_train_winograd" (data, weight[, bias]) and "conv_train_winograd_data" (output gradient,
// weight): Winograd convolution of blocked arrays with plain weights, packed on every run.
#include "leaf/convolution/winograd.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

// The convolution to compute: that of the parameters, or its transpose with respect to the data.
mx_fused_conv_params problem_of(const mx_fused_conv_params& of, bool transpose) {
  mx_fused_conv_params p = of;
  if (!transpose) return p;
  p.channels = of.filters, p.filters = of.channels;
  p.in_block = of.out_block, p.out_block = of.in_block;
  for (int i = 0; i < 3; ++i) {
    p.source[i] = of.target[i], p.target[i] = of.source[i];
    p.pad[i] = of.kernel[i] - 1 - of.pad[i];
  }
  return p;
}

// Bytes of the packed weights, which come first in the workspace.
int64_t packed_size(const WinogradEntry& entry, const mx_fused_conv_params& p) {
  return round_up(entry.packed(p), 64);
}

const char* refusal(const mx_fused_conv_params& p) {
  if (const char* reason = winograd_refusal(p)) return reason;
  for (int i = 0; i < 3; ++i) {
    if (p.pad[i] < 0) return "the padding is wider than the kernel";
    if (p.target[i] != p.source[i] + 2 * p.pad[i] - p.kernel[i] + 1)
      return "the output's size does not match the windows";
  }
  return nullptr;
}

template <bool transpose>
int run(const mx_call* original) {
  const auto p = problem_of(*(const mx_fused_conv_params*)original->params, transpose);
  if (const char* reason = refusal(p)) return mx_fail("conv_winograd: %s", reason);
  const WinogradEntry& entry = *winograd_entry(p);
  const int64_t packed = packed_size(entry, p);
  mx_call call = *original;
  call.threads =
      threads_with_room(original, [&](int team) { return packed + entry.workspace(p, team); });
  if (!call.threads) return mx_fail("conv_winograd: the workspace is too small");
  mx_tensor weight = call.in[1], ready = weight;
  ready.data = call.workspace;
  mx_call pack = call;
  pack.in = &weight, pack.out = &ready;
  entry.pack(&pack, p, transpose);
  const mx_tensor ins[3] = {call.in[0], ready, call.in[call.nin > 2 ? 2 : 0]};
  call.in = ins;
  call.workspace = (char*)call.workspace + packed;
  call.workspace_size -= packed;
  return entry.run(&call, p);
}

template <bool transpose>
int64_t query(const mx_call* call, int32_t what) {
  const auto p = problem_of(*(const mx_fused_conv_params*)call->params, transpose);
  if (const char* reason = refusal(p)) return refused("conv_winograd", reason, what);
  if (what == MX_QUERY_PACKED) return mx_fail("conv_winograd: plain weights are not packed");
  if (what != MX_QUERY_WORKSPACE) return 1;
  const WinogradEntry& entry = *winograd_entry(p);
  return packed_size(entry, p) +
         workspace_of_any_team([&](int threads) { return entry.workspace(p, threads); });
}

template <bool transpose>
void add(const char* name) {
  add_with_query(name, run<transpose>, MX_BIT(F32), query<transpose>);
}

}  // namespace

void register_winograd_train() {
  add<false>("conv_train_winograd");
  add<true>("conv_train_winograd_data");
}
MX_LEAF_END
