// Winograd convolution of blocked activations by 3 x 3 filters with other tiles than
// "conv_winograd", which has 4 x 4 outputs:
//
//     conv_winograd_small          2 x 2: less than half the weights, for images so small that
//                                  reading weights takes longer than multiplying
//     conv_winograd_large          5 x 5: 13 % fewer products per output, for images that such
//                                  tiles cover better, as three of them cover 14 pixels
//     conv_winograd_strided        4 x 4 at steps of 2
//     conv_winograd_strided_small  2 x 2 at steps of 2
#include "leaf/convolution/winograd_form.h"
#include "leaf/queries.h"

MX_LEAF_BEGIN
namespace {

typedef mx_fused_conv_params P;

template <class Scheme>
constexpr WinogradEntry entry_of() {
  typedef Form<Scheme, Scheme> F;
  return {3, 3, F::run, F::pack, F::packed, F::workspace};
}

struct Small {
  static constexpr const char *name = "conv_winograd_small", *packer = "conv_winograd_small_pack";
  static constexpr WinogradEntry entry = entry_of<Toom<2, 3>>();
  static constexpr int stride = 1;
  static constexpr int64_t kMaxPixels = 1024;
  static const char* refusal(const P& p) {
    const bool many = p.batch * p.target[1] * p.target[2] > kMaxPixels;
    return many ? "large tiles are faster for this number of pixels" : nullptr;
  }
};

struct Large {
  static constexpr const char *name = "conv_winograd_large", *packer = "conv_winograd_large_pack";
  static constexpr WinogradEntry entry = entry_of<Toom<5, 3>>();
  static constexpr int stride = 1;
  static int64_t products(const P& p, int64_t tile) {
    const int64_t points = (tile + 2) * (tile + 2);
    return ceil_div(p.target[1], tile) * ceil_div(p.target[2], tile) * points;
  }
  static const char* refusal(const P& p) {
    return products(p, 5) < products(p, 4) ? nullptr : "smaller tiles need fewer products";
  }
};

struct Strided {
  static constexpr const char* name = "conv_winograd_strided";
  static constexpr const char* packer = "conv_winograd_strided_pack";
  static constexpr WinogradEntry entry = entry_of<Halved<4>>();
  static constexpr int stride = 2;
  static const char* refusal(const P&) { return nullptr; }
};

struct StridedSmall {
  static constexpr const char* name = "conv_winograd_strided_small";
  static constexpr const char* packer = "conv_winograd_strided_small_pack";
  static constexpr WinogradEntry entry = entry_of<Halved<2>>();
  static constexpr int stride = 2;
  static const char* refusal(const P&) { return nullptr; }
};

const P& params_of(const mx_call* call) { return *(const P*)call->params; }

template <class Kind>
const char* refusal(const P& p) {
  if (p.kernel[0] != 1 || p.kernel[1] != 3 || p.kernel[2] != 3) return "the kernel is not 3 x 3";
  if (const char* reason = winograd_refusal(p, Kind::stride)) return reason;
  return Kind::refusal(p);
}

template <class Kind>
int64_t query(const mx_call* call, int32_t what) {
  if (const char* reason = refusal<Kind>(params_of(call))) return refused(Kind::name, reason, what);
  return winograd_answer(call, what, Kind::entry);
}

template <class Kind>
int convolve(const mx_call* call) {
  if (const char* reason = refusal<Kind>(params_of(call)))
    return mx_fail("%s: %s", Kind::name, reason);
  return winograd_run(call, Kind::entry);
}

template <class Kind>
int pack(const mx_call* call) {
  if (const char* reason = refusal<Kind>(params_of(call)))
    return mx_fail("%s: %s", Kind::packer, reason);
  return Kind::entry.pack(call, params_of(call), false);
}

template <class Kind>
void add() {
  add_with_query(Kind::name, convolve<Kind>, MX_BIT(F32), query<Kind>);
  add_with_query(Kind::packer, pack<Kind>, MX_BIT(F32), query<Kind>);
}

}  // namespace

void register_winograd_variants() {
  add<Small>();
  add<Large>();
  add<Strided>();
  add<StridedSmall>();
}
MX_LEAF_END
