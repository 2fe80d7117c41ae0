// "conv_winograd": Winograd convolution of blocked activations with packed weights, for small
// square filters and filters along one axis. "conv_winograd_pack" packs the weights,
// "conv_winograd_pack_turned" those of the forward convolution for the data gradient.
#include "leaf/convolution/winograd_form.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

typedef Toom<4, 3> Three;
typedef Toom<4, 5> Five;
typedef Toom<4, 7> Seven;

template <class Fy, class Fx>
constexpr WinogradEntry entry() {
  typedef Form<Fy, Fx> F;
  return {Fy::taps, Fx::taps, F::run, F::pack, F::packed, F::workspace};
}
constexpr WinogradEntry kEntries[] = {
    entry<Three, Three>(),    entry<Five, Five>(),      entry<Straight, Three>(),
    entry<Three, Straight>(), entry<Straight, Seven>(), entry<Seven, Straight>(),
};

const mx_fused_conv_params& params_of(const mx_call* call) {
  return *(const mx_fused_conv_params*)call->params;
}

}  // namespace

const WinogradEntry* winograd_entry(const mx_fused_conv_params& p) {
  for (const WinogradEntry& entry : kEntries) {
    if (p.kernel[0] == 1 && p.kernel[1] == entry.rows && p.kernel[2] == entry.cols) return &entry;
  }
  return nullptr;
}

const char* winograd_refusal(const mx_fused_conv_params& p) {
  if (!winograd_entry(p)) return "the kernel is not 3 x 3, 5 x 5, 1 x 3, 3 x 1, 1 x 7 or 7 x 1";
  return winograd_refusal(p, 1);
}

const char* winograd_refusal(const mx_fused_conv_params& p, int stride) {
  if (p.source[0] != 1 || p.pad[0] != 0) return "three spatial dimensions are not supported";
  for (int i = 1; i < 3; ++i) {
    if (p.stride[i] != stride) return stride == 1 ? "the stride is not 1" : "the stride is not 2";
    if (p.dilate[i] != 1) return "the kernel is dilated";
  }
  if (p.groups != 1) return "convolutions with groups are not supported";
  if (p.in_block != kBlockLanes || p.out_block != kBlockLanes)
    return "data and output are not blocked by this CPU's block size";
  if (p.channels < 1 || p.filters < 1 || p.channels % kBlockLanes || p.filters % kBlockLanes)
    return "the channels are not a multiple of the block size";
  return nullptr;
}

int64_t winograd_answer(const mx_call* call, int32_t what, const WinogradEntry& entry) {
  const mx_fused_conv_params& p = params_of(call);
  if (what == MX_QUERY_PACKED) return entry.packed(p);
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return entry.workspace(p, threads); });
}

int winograd_run(const mx_call* call, const WinogradEntry& entry) {
  const mx_fused_conv_params& p = params_of(call);
  mx_call own = *call;
  own.threads = threads_with_room(call, [&](int team) { return entry.workspace(p, team); });
  if (!own.threads) return mx_fail("conv_winograd: the workspace is too small");
  return entry.run(&own, p);
}

namespace {

int64_t query(const mx_call* call, int32_t what) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = winograd_refusal(p)) return refused("conv_winograd", reason, what);
  return winograd_answer(call, what, *winograd_entry(p));
}

int convolve(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = winograd_refusal(p)) return mx_fail("conv_winograd: %s", reason);
  return winograd_run(call, *winograd_entry(p));
}

template <bool transposed>
int pack(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = winograd_refusal(p)) return mx_fail("conv_winograd_pack: %s", reason);
  return winograd_entry(p)->pack(call, p, transposed);
}

}  // namespace

void register_winograd() {
  add_with_query("conv_winograd", convolve, MX_BIT(F32), query);
  add_with_query("conv_winograd_pack", pack<false>, MX_BIT(F32), query);
  mx_kernel_add("conv_winograd_pack_turned", pack<true>, MX_BIT(F32), 0);
}
MX_LEAF_END
