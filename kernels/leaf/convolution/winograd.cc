// "conv_winograd": Winograd convolution of blocked activations with packed weights, for small
// square filters and filters along one axis. "conv_winograd_pack" packs the weights,
// "conv_winograd_pack_turned" those of the forward convolution for the data gradient.
// "conv_winograd_small" uses tiles of 2 x 2 outputs, whose weights take less than half the memory:
// for images so small that reading weights takes longer than multiplying.
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
  if (p.source[0] != 1 || p.pad[0] != 0) return "three spatial dimensions are not supported";
  if (!winograd_entry(p)) return "the kernel is not 3 x 3, 5 x 5, 1 x 3, 3 x 1, 1 x 7 or 7 x 1";
  for (int i = 1; i < 3; ++i) {
    if (p.stride[i] != 1) return "the stride is not 1";
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
  // The workspace was sized for a smaller team if the team has grown since.
  if ((int64_t)own.workspace_size < entry.workspace(p, own.threads)) own.threads = 1;
  if ((int64_t)own.workspace_size < entry.workspace(p, own.threads))
    return mx_fail("conv_winograd: the workspace is too small");
  return entry.run(&own, p);
}

namespace {

typedef Form<Toom<2, 3>, Toom<2, 3>> Small;
constexpr WinogradEntry kSmall = {3, 3, Small::run, Small::pack, Small::packed, Small::workspace};
constexpr int64_t kMaxPixels = 1024;

struct Usual {
  static constexpr const char* name = "conv_winograd";
  static const char* refusal(const mx_fused_conv_params& p) { return winograd_refusal(p); }
  static const WinogradEntry& entry(const mx_fused_conv_params& p) { return *winograd_entry(p); }
};
struct Few {
  static constexpr const char* name = "conv_winograd_small";
  static const char* refusal(const mx_fused_conv_params& p) {
    if (const char* reason = winograd_refusal(p)) return reason;
    if (p.kernel[1] != 3 || p.kernel[2] != 3) return "the kernel is not 3 x 3";
    if (p.batch * p.target[1] * p.target[2] > kMaxPixels)
      return "large tiles are faster for this number of pixels";
    return nullptr;
  }
  static const WinogradEntry& entry(const mx_fused_conv_params&) { return kSmall; }
};

template <class Kind>
int64_t query(const mx_call* call, int32_t what) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = Kind::refusal(p)) return refused(Kind::name, reason, what);
  return winograd_answer(call, what, Kind::entry(p));
}

template <class Kind>
int convolve(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = Kind::refusal(p)) return mx_fail("%s: %s", Kind::name, reason);
  return winograd_run(call, Kind::entry(p));
}

template <class Kind, bool transposed>
int pack(const mx_call* call) {
  const mx_fused_conv_params& p = params_of(call);
  if (const char* reason = Kind::refusal(p)) return mx_fail("%s_pack: %s", Kind::name, reason);
  return Kind::entry(p).pack(call, p, transposed);
}

}  // namespace

void register_winograd() {
  add_with_query("conv_winograd", convolve<Usual>, MX_BIT(F32), query<Usual>);
  add_with_query("conv_winograd_pack", pack<Usual, false>, MX_BIT(F32), query<Usual>);
  mx_kernel_add("conv_winograd_pack_turned", pack<Usual, true>, MX_BIT(F32), 0);
  add_with_query("conv_winograd_small", convolve<Few>, MX_BIT(F32), query<Few>);
  add_with_query("conv_winograd_small_pack", pack<Few, false>, MX_BIT(F32), query<Few>);
}
MX_LEAF_END
