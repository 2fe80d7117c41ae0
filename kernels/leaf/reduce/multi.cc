// Scalars computed from many arrays: "multi_sum_sq", their sums of squares, and "all_finite",
// whether no element is infinite or NaN.
#include "leaf/simd/runs.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

template <class S>
int multi_sum_sq(const mx_call* call) {
  float* out = data<float>(call->out[0]);
  parallel_for(call->threads, call->nin, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const mx_tensor& in = call->in[i];
      out[i] = (float)sum_run<Sum<S>>(count(in), [](auto x) { return x * x; }, data<S>(in));
    }
  });
  return 0;
}

template <class S>
int all_finite(const mx_call* call) {
  float* out = data<float>(call->out[0]);
  // Without init_output the result of earlier calls is accumulated.
  bool finite = static_cast<const mx_all_finite_params*>(call->params)->init || *out != 0;
  for (int i = 0; i < call->nin && finite; ++i) {
    const mx_tensor& in = call->in[i];
    // x - x is 0, or NaN if x is infinite or NaN itself.
    finite = sum_run<Sum<S>>(count(in), [](auto x) { return x - x; }, data<S>(in)) == 0;
  }
  *out = finite;
  return 0;
}

}  // namespace

void register_multi(){
#define MX_MULTI(S, bits)                                  \
  mx_kernel_add("multi_sum_sq", multi_sum_sq<S>, bits, 0); \
  mx_kernel_add("all_finite", all_finite<S>, bits, 0);
    MX_MULTI(float, MX_BIT(F32)) MX_MULTI(double, MX_BIT(F64)) MX_MULTI(f16, MX_BIT(F16))
        MX_MULTI(bf16, MX_BIT(BF16))} MX_LEAF_END
